"""The partitions of a produce request: their results, and what each one waits for before the response.

Kafka 0.10.2: core/.../server/DelayedProduce.scala (ProducePartitionStatus),
clients/.../common/requests/ProduceResponse.java (PartitionResponse) · book 6.3.1, 6.4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.validation.record_validation_error import RecordError

_NO_ERROR: Final = Errors.NONE  # looked up once, see record.record


class PartitionResponse:
    """One partition's part of a produce response; offsets and times are -1 if there are none."""

    __slots__ = (
        "base_offset",
        "error",
        "error_message",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
    )

    def __init__(
        self,
        error: Errors,
        base_offset: int = -1,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        error_message: str | None = None,
        record_errors: Sequence[RecordError] = (),
    ) -> None:
        self.error = error
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.error_message = error_message
        self.record_errors = record_errors
        """The records that caused the rejection of the batch, if single records are the reason (KIP-467)."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionResponse) and self._as_tuple() == other._as_tuple()

    def _as_tuple(self) -> tuple[object, ...]:
        offsets = (self.base_offset, self.log_append_time_ms, self.log_start_offset)
        return (self.error, *offsets, self.error_message, self.record_errors)

    def __repr__(self) -> str:
        return f"PartitionResponse({self.error.name}, {self.base_offset}, {self.error_message!r})"


class ProducePartitionStatus:
    """The state of one partition, which waits for a high watermark of at least ``required_offset``."""

    __slots__ = ("acks_pending", "required_offset", "response")

    def __init__(self, required_offset: int, response: PartitionResponse, acks_pending: bool = False) -> None:
        self.required_offset = required_offset
        self.response = response
        self.acks_pending = acks_pending


def check_acks(
    statuses: Mapping[TopicPartition, ProducePartitionStatus],
    leader_partition_of: Callable[[TopicPartition], Partition],
) -> bool:
    """Check every partition that is still pending. True if none is any more.

    ``leader_partition_of`` raises ApiError if this broker does not lead the partition (any more).
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
        if reached or error is not _NO_ERROR:
            status.acks_pending = False
            status.response.error = error
        else:
            waiting = True
    return not waiting
