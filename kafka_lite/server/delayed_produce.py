"""A produce request with acks=all that waits until the in-sync replicas have what it appended.

Kafka 0.10.2: core/.../server/DelayedProduce.scala · book 6.3.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.delayed_operation import DelayedOperation
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_validator import RecordError

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PartitionResponse:
    """One partition's part of a produce answer; offsets and times are -1 where there are none."""

    error: Errors
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    error_message: str | None = None
    record_errors: Sequence[RecordError] = ()
    """The records because of which the batch was refused, if it is single ones' fault (KIP-467)."""


@dataclass(slots=True)
class ProducePartitionStatus:
    """What one partition waits for: the high watermark at ``required_offset``."""

    required_offset: int
    response: PartitionResponse
    acks_pending: bool = False


def check_acks(
    statuses: Mapping[TopicPartition, ProducePartitionStatus],
    leader_partition_of: Callable[[TopicPartition], Partition],
) -> bool:
    """Look at every partition that still waits; whether none does any more.

    ``leader_partition_of`` raises ApiError when this broker does not lead the partition (any more).
    """
    waiting = False
    for topic_partition, status in statuses.items():
        if not status.acks_pending:
            continue
        try:
            partition = leader_partition_of(topic_partition)
            reached, error = partition.check_enough_replicas_reach_offset(status.required_offset)
        except ApiError as failure:
            reached, error = False, failure.error
        if reached or error is not Errors.NONE:
            status.acks_pending = False
            status.response.error = error
        else:
            waiting = True
    return not waiting


class DelayedProduce(DelayedOperation):
    """Complete when every partition either

    - A: is no longer led by this broker (an error), or
    - B: has its high watermark at or beyond the offset after the appended records, with enough replicas in sync or not.

    Whatever is still pending when the time is up is answered REQUEST_TIMED_OUT: the records may be committed yet.
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
        """Complete when no partition waits any more."""
        return check_acks(self._statuses, self._leader_partition_of) and self.force_complete()

    def on_expiration(self) -> None:
        """Time is up for what still waits."""
        waiting = [tp for tp, status in self._statuses.items() if status.acks_pending]
        logger.debug("Produce request timed out waiting for the replicas of %s", ", ".join(map(str, waiting)))
        for topic_partition in waiting:
            self._expired(topic_partition)

    def on_complete(self) -> None:
        """Answer; called exactly once."""
        for status in self._statuses.values():
            if status.acks_pending:
                status.response.error = Errors.REQUEST_TIMED_OUT
        self._respond({tp: status.response for tp, status in self._statuses.items()})
