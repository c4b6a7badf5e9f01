"""Follows numbered nodes by which brokers and tools tell every broker what has changed.

Kafka 0.10.2: core/.../common/ZkNodeChangeNotificationListener.scala · book 6.1.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.zk_errors import NoNodeError, ZkConnectionError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)

CHANGE_EXPIRATION_MS = 15 * 60 * 1000


class ZkNodeChangeNotificationListener:
    """Hands each notification below a path to a handler, once and in order, and deletes those that are old.

    A broker remembers the number of the last notification that it has handled. Any broker deletes those that are older
    than fifteen minutes: whichever starts later reads the current state anyway.
    """

    def __init__(
        self,
        zookeeper: ZooKeeperClient,
        path: str,
        process: Callable[[bytes], None],
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``process``: handles the data of a notification. If it raises KafkaError, the notification is skipped.

        Only a ZkConnectionError is no fault of the notification: the same one is handled again after the reconnect.
        """
        self._zookeeper = zookeeper
        self._path = path
        self._process = process
        self._time = time
        self._last_executed_change = -1
        self._lock = threading.Lock()

    def startup(self) -> None:
        """Watch, then handle the notifications that are there: none falls between."""
        self._zookeeper.watch_children(self._path, self.process_notifications)
        self.process_notifications()

    def process_notifications(self) -> None:
        """Handle all new notifications. Raises ZkConnectionError."""
        with self._lock:
            names = sorted(self._zookeeper.children(self._path), key=paths.sequence_number)
            for name in names:
                number = paths.sequence_number(name)
                if number > self._last_executed_change:
                    self._handle(name)
                    self._last_executed_change = number
            self._purge_obsolete(names)

    def _handle(self, name: str) -> None:
        try:
            data, _ = self._zookeeper.get(f"{self._path}/{name}")
        except NoNodeError:
            return  # deleted as obsolete
        try:
            self._process(data or b"")
        except ZkConnectionError:
            raise
        except KafkaError as error:
            logger.error("Ignoring the notification %s/%s: %s", self._path, name, error)

    def _purge_obsolete(self, names: list[str]) -> None:
        """Delete obsolete notifications. ``names`` is sorted by age: the first one that is not old ends the search."""
        now_ms = self._time.milliseconds()
        for name in names:
            stat = self._zookeeper.exists(f"{self._path}/{name}")
            if stat is None:
                continue  # another broker was faster
            if now_ms - stat.created_ms <= CHANGE_EXPIRATION_MS:
                return
            try:
                self._zookeeper.delete(f"{self._path}/{name}")
            except NoNodeError:
                logger.debug("Another broker has deleted %s/%s", self._path, name)
