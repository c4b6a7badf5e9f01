"""Watches that stay set: ZooKeeper's own fire only once, and are lost with the session.

Kafka 0.10.2: ZkClient (I0Itec): subscribeChildChanges, subscribeDataChanges · book 7.1.3
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

from kazoo.protocol.states import EventType

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.zookeeper.zk_errors import ZkConnectionError, ZkError

logger = logging.getLogger(__name__)


class Watch:
    """A watch that sets itself again, because ZooKeeper's watches fire only once, and then calls ``callback``.

    It is set before the callback runs, so any change after the callback has read the node fires it again. The client
    keeps it in a set and calls the watch itself: the hash of a bound method would be an address, and with it the order
    of two watches of a path another one in each run of the simulator.
    """

    def __init__(self, arm: Callable[[Callable[[Any], None]], object], callback: Callable[[], None]) -> None:
        self._arm = arm
        self._callback = callback
        self.cancelled = False

    def arm(self) -> None:
        """Set the watch."""
        self._arm(self)

    def __call__(self, event: Any) -> None:
        """It has fired; runs in a thread of the client."""
        # Events of type NONE report a lost connection; all watches are set again after reconnecting.
        if event.type != EventType.NONE:
            self.rearm_and_notify()

    def rearm_and_notify(self) -> None:
        """Set the watch again and call the callback; runs in a thread of the client."""
        with contextlib.suppress(ProcessKilledError):
            self._rearm_and_notify()

    def _rearm_and_notify(self) -> None:
        if self.cancelled:
            return
        try:
            self.arm()
        except ZkConnectionError:
            return  # the client is closed
        except ZkError:
            logger.exception("Could not set a watch again")
        try:
            self._callback()
        except Exception:
            logger.exception("A watch's callback failed")


class Watches:
    """The watches of a client: at most one of each kind (``children``, ``data``) on a path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: dict[tuple[str, str], Watch] = {}

    def set(self, kind: str, path: str, watch: Watch) -> None:
        """Set a watch, which replaces an older one. Raises what its ``arm`` raises."""
        with self._lock:
            if (old := self._watches.get((kind, path))) is not None:
                old.cancelled = True
            self._watches[kind, path] = watch
        watch.arm()

    def remove(self, kind: str, path: str) -> None:
        """Stop calling a watch's callback; a no-op if there is none."""
        with self._lock:
            watch = self._watches.pop((kind, path), None)
        if watch is not None:
            watch.cancelled = True

    def rearm_all(self) -> None:
        """Set all watches again and call their callbacks, since changes may have been missed without a connection."""
        with self._lock:
            watches = list(self._watches.values())
        for watch in watches:
            watch.rearm_and_notify()
