"""A produce request with acks=all that waits until the in-sync replicas have what it appended.

Kafka 0.10.2: core/.../server/DelayedProduce.scala · book 6.3.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks

__all__ = ["DelayedProduce", "PartitionResponse", "ProducePartitionStatus"]

logger = logging.getLogger(__name__)


class DelayedProduce(DelayedOperation):
    """Completes if every partition either

    - A: is no longer led by this broker (an error), or
    - B: has its high watermark at or beyond the offset after the appended records, with enough replicas in sync or not.

    Partitions that are still pending when the time is up get REQUEST_TIMED_OUT; their records may be committed later.
    """

    def __init__(
        self,
        delay_ms: float,
        statuses: Mapping[TopicPartition, ProducePartitionStatus],
        leader_partition_of: Callable[[TopicPartition], Partition],
        respond: Callable[[dict[TopicPartition, PartitionResponse]], None],
        expired: Callable[[TopicPartition], None] = lambda _topic_partition: None,
    ) -> None:
        super().__init__(delay_ms)
        self._statuses = statuses
        self._leader_partition_of = leader_partition_of
        self._respond = respond
        self._expired = expired

    def try_complete(self) -> bool:
        """Complete if no partition is pending any more."""
        return check_acks(self._statuses, self._leader_partition_of) and self.force_complete()

    def on_expiration(self) -> None:
        """The time is up for the partitions that are still pending."""
        waiting = [tp for tp, status in self._statuses.items() if status.acks_pending]
        logger.debug("Produce request timed out waiting for the replicas of %s", ", ".join(map(str, waiting)))
        for topic_partition in waiting:
            self._expired(topic_partition)

    def on_complete(self) -> None:
        """Respond; called exactly once."""
        for status in self._statuses.values():
            if status.acks_pending:
                status.response.error = Errors.REQUEST_TIMED_OUT
        self._respond({tp: status.response for tp, status in self._statuses.items()})
