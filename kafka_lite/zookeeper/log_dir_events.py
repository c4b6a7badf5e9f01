"""Notifications of brokers to the controller that a log directory has failed.

Kafka 1.0: core/.../zk/ZkData.scala (LogDirEventNotificationSequenceZNode), zk/KafkaZkClient.scala
(propagateLogDirEvent), KIP-112; 0.10 has none · book 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.zk_errors import NoNodeError
from kafka_lite.zookeeper.znode_json import ZnodeDataError, decode_json, encode_json
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)

LOG_DIR_FAILURE_EVENT = 1


class LogDirEvents:
    """The nodes below /log_dir_event_notification. A broker creates them, the controller deletes them::

    /log_dir_event_notification/log_dir_event_0000000000    {"version":1,"broker":2,"event":1}
    """

    def __init__(self, zookeeper: ZooKeeperClient) -> None:
        self._zookeeper = zookeeper

    def propagate(self, broker_id: int) -> None:
        """Notify the controller that a log directory of this broker has failed."""
        path = f"{paths.LOG_DIR_EVENT_NOTIFICATIONS}/{paths.LOG_DIR_EVENT_PREFIX}"
        data = encode_json({"version": 1, "broker": broker_id, "event": LOG_DIR_FAILURE_EVENT})
        self._zookeeper.create(path, data, sequential=True)

    def names(self) -> list[str]:
        """The names of the notifications, oldest first."""
        return sorted(self._zookeeper.children(paths.LOG_DIR_EVENT_NOTIFICATIONS), key=paths.sequence_number)

    def brokers(self, names: Iterable[str]) -> set[int]:
        """The brokers that created these notifications. An unreadable one is logged and skipped."""
        found: set[int] = set()
        for name in names:
            path = f"{paths.LOG_DIR_EVENT_NOTIFICATIONS}/{name}"
            try:
                broker_id = decode_json(self._zookeeper.get(path)[0], path).get("broker")
                if not isinstance(broker_id, int):
                    raise ZnodeDataError(f"{path}: 'broker' must be a number, not {broker_id!r}")
                found.add(broker_id)
            except NoNodeError:
                continue  # another controller has handled it
            except ZnodeDataError as error:
                logger.error("Invalid notification of a log directory: %s", error)
        return found

    def delete(self, names: Iterable[str]) -> None:
        """Delete these notifications."""
        for name in names:
            try:
                self._zookeeper.delete(f"{paths.LOG_DIR_EVENT_NOTIFICATIONS}/{name}")
            except NoNodeError:
                continue

    def watch(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when there are new notifications."""
        self._zookeeper.watch_children(paths.LOG_DIR_EVENT_NOTIFICATIONS, callback)
