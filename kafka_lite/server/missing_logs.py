"""Partitions whose logs cannot be created at the moment.

Kafka 0.10.2: none; there a broker that cannot create a log stops · book 6.2.1
"""

from __future__ import annotations

import logging
from typing import NamedTuple
from uuid import UUID

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState

logger = logging.getLogger(__name__)

RETRY_MS = 5000
"""How often the broker retries creating the logs, in ms."""


class _MissingLog(NamedTuple):
    state: LeaderAndIsrPartitionState
    topic_id: UUID | None
    reason: str


class MissingLogs:
    """Partitions that the controller assigned to this broker, but for whose logs the disk has no space.

    The replica manager changes them under its lock; any thread may read them.
    """

    def __init__(self) -> None:
        self._missing: dict[TopicPartition, _MissingLog] = {}

    def __len__(self) -> int:
        return len(self._missing)

    def add(
        self,
        topic_partition: TopicPartition,
        state: LeaderAndIsrPartitionState,
        topic_id: UUID | None,
        reason: str,
    ) -> None:
        """Add a partition whose log cannot be created; ``state`` is its state in the controller's request."""
        self._missing[topic_partition] = _MissingLog(state, topic_id, reason)

    def discard(self, topic_partition: TopicPartition) -> None:
        """Remove a partition that now has a log or no longer needs one."""
        self._missing.pop(topic_partition, None)

    def states(self) -> list[tuple[TopicPartition, LeaderAndIsrPartitionState, UUID | None]]:
        """The states and topic ids in the controller's request, in the order in which they were added."""
        return [(partition, missing.state, missing.topic_id) for partition, missing in self._missing.items()]

    def reason(self, topic_partition: TopicPartition) -> str | None:
        """Why a partition's log cannot be created; None if it exists."""
        missing = self._missing.get(topic_partition)
        return None if missing is None else missing.reason

    def failure_of(self, topic: str) -> str | None:
        """Why logs of a topic cannot be created; None if all exist."""
        if not self._missing:
            return None
        missing = [(tp, found.reason) for tp, found in list(self._missing.items()) if tp.topic == topic]
        if not missing:
            return None
        first, reason = missing[0]
        return (
            f"The topic exists, but {len(missing)} of its partitions have no log yet, for example {first}: {reason}. "
            "The broker keeps trying"
        )

    def log_new(self, before: int) -> None:
        """Log one line if there were none before, since a full disk can affect thousands of partitions and requests."""
        if self._missing and not before:
            topic_partition, missing = next(iter(self._missing.items()))
            logger.error(
                "%d partitions have no log, for example %s: %s. The broker tries again every %d ms until all have one",
                len(self._missing),
                topic_partition,
                missing.reason,
                RETRY_MS,
            )
