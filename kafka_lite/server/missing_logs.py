"""Partitions whose logs cannot be made now.

Kafka 0.10.2: none; there a broker that cannot make a log stops · book 6.2.1
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState

logger = logging.getLogger(__name__)

RETRY_MS = 5000
"""How often the broker tries again to make the logs, in ms."""


class _MissingLog(NamedTuple):
    state: LeaderAndIsrPartitionState
    reason: str


class MissingLogs:
    """Partitions that the controller gave to this broker, for whose logs the disk has no room.

    The replica manager changes them under its lock; any thread may read.
    """

    def __init__(self) -> None:
        self._missing: dict[TopicPartition, _MissingLog] = {}

    def __len__(self) -> int:
        return len(self._missing)

    def add(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState, reason: str) -> None:
        """The log of a partition cannot be made; ``state`` is what the controller said of it."""
        self._missing[topic_partition] = _MissingLog(state, reason)

    def discard(self, topic_partition: TopicPartition) -> None:
        """The partition has a log, or needs none any more."""
        self._missing.pop(topic_partition, None)

    def states(self) -> list[tuple[TopicPartition, LeaderAndIsrPartitionState]]:
        """What the controller said of each of them, in the order in which they were added."""
        return [(topic_partition, missing.state) for topic_partition, missing in self._missing.items()]

    def reason(self, topic_partition: TopicPartition) -> str | None:
        """Why a partition's log cannot be made; None if it is not missing."""
        missing = self._missing.get(topic_partition)
        return None if missing is None else missing.reason

    def failure_of(self, topic: str) -> str | None:
        """Why logs of a topic cannot be made; None if none is missing."""
        if not self._missing:
            return None
        missing = [(tp, found.reason) for tp, found in list(self._missing.items()) if tp.topic == topic]
        if not missing:
            return None
        first, reason = missing[0]
        return (
            f"The topic exists, but {len(missing)} of its partitions have no log yet, {first} for one: {reason}. "
            "The broker goes on trying"
        )

    def log_new(self, before: int) -> None:
        """Log one line if there were none before: a full disk can concern thousands of partitions and orders."""
        if self._missing and not before:
            topic_partition, missing = next(iter(self._missing.items()))
            logger.error(
                "Partitions have no log, %s the first of %d: %s. The broker tries again every %d ms until all have one",
                topic_partition,
                len(self._missing),
                missing.reason,
                RETRY_MS,
            )
