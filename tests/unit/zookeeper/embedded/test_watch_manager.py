"""Which watchers get which events, and how often."""

from __future__ import annotations

import pytest

from kafka_lite.zookeeper.embedded.protocol import EventType
from kafka_lite.zookeeper.embedded.watch_manager import WatcherMode, WatchManager

CREATED, DELETED, CHANGED, CHILDREN = EventType


class Recorder:
    def __init__(self) -> None:
        self.heard: list[tuple[EventType, str]] = []

    def process(self, event: EventType, path: str) -> None:
        self.heard.append((event, path))


@pytest.fixture
def manager() -> WatchManager:
    return WatchManager()


def test_a_standard_watch_fires_once(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/a", watcher)
    manager.add_watch("/a", watcher)
    for _ in range(2):
        manager.trigger_watch("/a", CHANGED)
    assert watcher.heard == [(CHANGED, "/a")]
    assert manager.size == 0
    assert not manager.contains_watcher("/a", watcher)


def test_every_watcher_of_a_path_gets_the_event(manager: WatchManager) -> None:
    watchers = [Recorder(), Recorder()]
    for watcher in watchers:
        manager.add_watch("/a", watcher)
    assert manager.trigger_watch("/a", DELETED) == set(watchers)
    assert [w.heard for w in watchers] == [[(DELETED, "/a")]] * 2


def test_a_suppressed_watcher_gets_no_event(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/a", watcher)
    assert manager.trigger_watch("/a", DELETED, suppress={watcher}) == {watcher}
    assert watcher.heard == []
    assert manager.size == 0


def test_a_persistent_watch_stays_beside_a_standard_one(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/a", watcher, WatcherMode.PERSISTENT)
    manager.add_watch("/a", watcher)
    for _ in range(3):
        manager.trigger_watch("/a", CHANGED)
    assert watcher.heard == [(CHANGED, "/a")] * 3


def test_a_recursive_watch_gets_all_events_below_but_children_changed(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/a", watcher, WatcherMode.PERSISTENT_RECURSIVE)
    for path in ("/a", "/a/b", "/a/b/c", "/ab"):
        manager.trigger_watch(path, CREATED)
        manager.trigger_watch(path, CHILDREN)
    assert watcher.heard == [(CREATED, "/a"), (CREATED, "/a/b"), (CREATED, "/a/b/c")]


def test_a_recursive_watch_on_the_root(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/", watcher, WatcherMode.PERSISTENT_RECURSIVE)
    manager.trigger_watch("/x/y", CHANGED)
    assert watcher.heard == [(CHANGED, "/x/y")]


def test_remove_watcher(manager: WatchManager) -> None:
    watcher = Recorder()
    manager.add_watch("/a", watcher, WatcherMode.PERSISTENT_RECURSIVE)
    assert manager.remove_watch("/a", watcher)
    assert not manager.remove_watch("/a", watcher)
    manager.trigger_watch("/a/b", CHANGED)
    assert watcher.heard == []


def test_watches_of_a_removed_watcher_are_removed(manager: WatchManager) -> None:
    gone, stays = Recorder(), Recorder()
    for path in ("/a", "/b"):
        manager.add_watch(path, gone)
        manager.add_watch(path, stays)
    manager.remove_watcher(gone)
    manager.trigger_watch("/a", CHANGED)
    assert (gone.heard, stays.heard) == ([], [(CHANGED, "/a")])
    assert manager.by_path() == {"/b": [stays]}
    assert manager.by_watcher() == {stays: {"/b"}}
