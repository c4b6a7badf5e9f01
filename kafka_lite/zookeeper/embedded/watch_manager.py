"""Manages watches: the clients that want events about a znode.

ZooKeeper 3.8: zookeeper-server/.../server/watch/WatchManager.java, WatcherModeManager.java · book 7.1.3

A data tree has two managers: one for data watches (created, deleted, data changed), one for child watches. A watcher
may have several kinds of watch on the same path:

    STANDARD              fires once and is removed: the client must read again to get more events
    PERSISTENT            is not removed
    PERSISTENT_RECURSIVE  is not removed, and includes all znodes below (but no "children changed" events)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import IntFlag
from typing import Protocol

from kafka_lite.zookeeper.embedded.path_utils import parent_path
from kafka_lite.zookeeper.embedded.protocol import EventType


class Watcher(Protocol):
    """The receiver of events: a client's connection."""

    def process(self, event: EventType, path: str) -> None:
        """Queue the event for the client, before any response that is queued later."""
        ...


class WatcherMode(IntFlag):
    """The kinds of watch; a watcher has a set of them on a path."""

    STANDARD = 1
    PERSISTENT = 2
    PERSISTENT_RECURSIVE = 4


class WatchManager:
    """The watches of one kind: by path, to trigger them, and by watcher, to remove them when a connection is closed."""

    def __init__(self) -> None:
        self._by_path: dict[str, dict[Watcher, WatcherMode]] = {}
        self._by_watcher: dict[Watcher, set[str]] = {}
        # Events are checked against ancestors only while there are recursive watches.
        self._recursive = 0

    def add_watch(self, path: str, watcher: Watcher, mode: WatcherMode = WatcherMode.STANDARD) -> None:
        """Add a watch; adding the same one again changes nothing."""
        modes = self._by_path.setdefault(path, {})
        before = modes.get(watcher, WatcherMode(0))
        modes[watcher] = before | mode
        self._by_watcher.setdefault(watcher, set()).add(path)
        if mode & ~before & WatcherMode.PERSISTENT_RECURSIVE:
            self._recursive += 1

    def contains_watcher(self, path: str, watcher: Watcher) -> bool:
        """Whether the watcher has any watch on the path."""
        return watcher in self._by_path.get(path, ())

    def remove_watch(self, path: str, watcher: Watcher) -> bool:
        """Remove the watcher's watches on the path. Returns False if there were none."""
        modes = self._by_path.get(path)
        if modes is None or watcher not in modes:
            return False
        if modes.pop(watcher) & WatcherMode.PERSISTENT_RECURSIVE:
            self._recursive -= 1
        if not modes:
            del self._by_path[path]
        paths = self._by_watcher[watcher]
        paths.discard(path)
        if not paths:
            del self._by_watcher[watcher]
        return True

    def remove_watcher(self, watcher: Watcher) -> None:
        """Remove all watches of a closed connection."""
        for path in list(self._by_watcher.get(watcher, ())):
            self.remove_watch(path, watcher)

    def trigger_watch(self, path: str, event: EventType, suppress: Collection[Watcher] = ()) -> set[Watcher]:
        """Send the event to all its watchers except ``suppress``. Returns all of them, including suppressed ones."""
        concerned = set(self._fire(path, event))
        for watcher in concerned:
            if watcher not in suppress:
                watcher.process(event, path)
        return concerned

    def _fire(self, path: str, event: EventType) -> Iterator[Watcher]:
        """Yield the watchers of the event and remove their one-shot watches."""
        for watcher, modes in list(self._by_path.get(path, {}).items()):
            if modes & (WatcherMode.STANDARD | WatcherMode.PERSISTENT) or self._is_heard_below(modes, event):
                yield watcher
            if modes == WatcherMode.STANDARD:
                self.remove_watch(path, watcher)
            else:
                self._by_path[path][watcher] = modes & ~WatcherMode.STANDARD
        if self._recursive:
            yield from self._recursive_watchers(path, event)

    def _recursive_watchers(self, path: str, event: EventType) -> Iterator[Watcher]:
        while path != "/":
            path = parent_path(path)
            for watcher, modes in self._by_path.get(path, {}).items():
                if self._is_heard_below(modes, event):
                    yield watcher

    @staticmethod
    def _is_heard_below(modes: WatcherMode, event: EventType) -> bool:
        return bool(modes & WatcherMode.PERSISTENT_RECURSIVE) and event is not EventType.NODE_CHILDREN_CHANGED

    # ---- For the four-letter words -------------------------------------------------------------------------------

    def by_path(self) -> dict[str, list[Watcher]]:
        """Path → its watchers."""
        return {path: list(watchers) for path, watchers in self._by_path.items()}

    def by_watcher(self) -> dict[Watcher, set[str]]:
        """Watcher → its paths."""
        return {watcher: set(paths) for watcher, paths in self._by_watcher.items()}

    @property
    def size(self) -> int:
        """Number of (watcher, path) pairs."""
        return sum(map(len, self._by_watcher.values()))
