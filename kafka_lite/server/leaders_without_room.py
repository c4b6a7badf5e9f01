"""Partitions that this broker leads although its disk is full: other replicas are to lead them.

Kafka 1.0 and later: none; there a full disk takes the log directory offline (KIP-112) · book 6.2.1, 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.dirs.room import has_room

logger = logging.getLogger(__name__)

ROOM_CHECK_MS = 5_000
"""How often a full directory is examined, in ms."""


class LeadersWithoutRoom:
    """The partitions that have been offered to the controller, which elects another leader for each::

        append fails: no room
          └─▶ check: offered, the controller is notified ─▶ LeaderAndIsr, response: KAFKA_STORAGE_ERROR
                                                              └─▶ StopReplica: leads no more
        check: there is room, the controller is notified ─▶ LeaderAndIsr, response: no error; follows, catches up

    A partition whose only replica in sync is here is not offered: it keeps its leader, and can be read. The thread of
    the LogDirFailureHandler calls ``check``; request handlers call the other methods.
    """

    def __init__(
        self,
        broker_id: int,
        failures: LogDirFailureChannel,
        partitions: Callable[[], Iterable[Partition]],
        has_room: Callable[[Path], bool] = has_room,
    ) -> None:
        self._broker_id = broker_id
        self._failures = failures
        self._partitions = partitions
        self._has_room = has_room
        self._offered: dict[TopicPartition, Path] = {}
        self._next_check_ms: dict[Path, float] = {}

    def check(self, now_ms: float) -> bool:
        """Look for leaders in full directories, and for room. Returns whether the controller must be notified."""
        is_news = False
        for directory in self._failures.full_log_dirs:
            if now_ms < self._next_check_ms.setdefault(directory, now_ms + ROOM_CHECK_MS):
                is_news |= self._offer(directory)
            elif self._has_room(directory):
                is_news |= self._take_back(directory)
            else:
                self._next_check_ms[directory] = now_ms + ROOM_CHECK_MS
        return is_news

    def _offer(self, directory: Path) -> bool:
        found = {
            partition.topic_partition
            for partition in self._partitions()
            if partition.leader_replica_if_local is not None
            and len(partition.in_sync_replicas) > 1
            and partition.log is not None
            and partition.log.dir.parent == directory
        } - self._offered.keys()
        if found:
            logger.warning("%s has no room: other brokers should lead %d partitions", directory, len(found))
        self._offered |= dict.fromkeys(found, directory)
        return bool(found)

    def _take_back(self, directory: Path) -> bool:
        self._failures.has_room_again(directory)
        del self._next_check_ms[directory]
        back = [tp for tp, offered in list(self._offered.items()) if offered == directory]
        for topic_partition in back:
            self.discard(topic_partition)
        logger.info("%s has room again; %d partitions follow their new leaders", directory, len(back))
        return bool(back)

    def is_offered(self, topic_partition: TopicPartition) -> bool:
        """Whether another broker is to lead the partition."""
        return topic_partition in self._offered

    def must_report(self, topic_partition: TopicPartition, isr: Collection[int]) -> bool:
        """Whether the controller must take this replica for offline: not if nobody else in the ISR could lead."""
        return topic_partition in self._offered and any(member != self._broker_id for member in isr)

    def discard(self, topic_partition: TopicPartition) -> None:
        """The partition is deleted, or has room."""
        self._offered.pop(topic_partition, None)
