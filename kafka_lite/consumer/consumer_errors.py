"""The consumer's exceptions.

Kafka 0.10.2: clients/.../consumer/CommitFailedException.java, InvalidOffsetException.java,
NoOffsetForPartitionException.java, OffsetOutOfRangeException.java, RetriableCommitFailedException.java,
common/errors/WakeupException.java · book 4.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.serialization import SerializationError
from kafka_lite.common.topic_partition import TopicPartition


class WakeupError(KafkaError):
    """``wakeup`` was called, during this call or before it. The call had no effect and may be repeated."""


class ConcurrentModificationError(RuntimeError):
    """Two threads use one consumer at the same time. Only ``wakeup`` may be called from another thread."""


class IllegalConsumerStateError(RuntimeError):
    """A call that is not allowed in the consumer's current state, such as ``poll`` without a subscription."""


class InvalidGroupIdError(ApiError):
    """A call that needs a group, on a consumer without ``group.id``."""

    def __init__(self) -> None:
        super().__init__(
            Errors.INVALID_GROUP_ID,
            "To use the group management or offset commit APIs, you must provide a valid group.id "
            "in the consumer configuration.",
        )


class InvalidOffsetError(KafkaError):
    """A position from which nothing can be fetched, without a reset policy (``auto.offset.reset=none``)."""

    def __init__(self, message: str, partitions: Iterable[TopicPartition]) -> None:
        super().__init__(message)
        self.partitions = frozenset(partitions)


class NoOffsetForPartitionError(InvalidOffsetError):
    """No offset is committed, and there is no reset policy."""

    def __init__(self, partitions: Iterable[TopicPartition]) -> None:
        names = sorted(str(each) for each in partitions)
        super().__init__(f"Undefined offset with no reset policy for partitions: {', '.join(names)}", partitions)


class OffsetOutOfRangeError(InvalidOffsetError):
    """The position is out of range, and there is no reset policy."""

    def __init__(self, offsets: Mapping[TopicPartition, int]) -> None:
        listed = ", ".join(f"{partition}: {offset}" for partition, offset in offsets.items())
        super().__init__(f"Offsets out of range with no configured reset policy for partitions: {listed}", offsets)
        self.offsets = dict(offsets)


class RecordTooLargeError(KafkaError):
    """A record is larger than ``max.partition.fetch.bytes``, and the broker is too old to send it anyway."""

    def __init__(self, offsets: Mapping[TopicPartition, int], max_partition_fetch_bytes: int) -> None:
        listed = ", ".join(f"{partition}: {offset}" for partition, offset in offsets.items())
        super().__init__(
            f"There are some messages at [Partition=Offset]: {listed} whose size is larger than the fetch size "
            f"{max_partition_fetch_bytes} and hence cannot be ever returned. Increase max.partition.fetch.bytes."
        )
        self.offsets = dict(offsets)


class RecordDeserializationError(SerializationError):
    """A deserializer failed. To continue after the record, seek past its offset."""

    def __init__(self, partition: TopicPartition, offset: int, cause: Exception) -> None:
        super().__init__(
            f"Error deserializing key/value for partition {partition} at offset {offset}. "
            f"If needed, please seek past the record to continue consumption. ({cause})"
        )
        self.partition, self.offset = partition, offset


class CommitFailedError(KafkaError):
    """The group has rebalanced and refused the commit for good. The partitions may belong to other members by now."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(
            "Commit cannot be completed since the group has already rebalanced and assigned the partitions to another "
            "member. This means that the time between subsequent calls to poll() was longer than the configured "
            "max.poll.interval.ms, which typically implies that the poll loop is spending too much time message "
            "processing. You can address this either by increasing max.poll.interval.ms or by reducing the maximum "
            f"size of batches returned in poll() with max.poll.records.{' (' + reason + ')' if reason else ''}"
        )


class StaleMemberEpochError(CommitFailedError):
    """The commit names another epoch than the member's, in a group whose broker assigns (KIP-848).

    The broker has given the member a newer epoch, which it learns with its next heartbeat, or another member has the
    partitions by now.
    """

    def __init__(self) -> None:
        super().__init__("OffsetCommit failed with stale member epoch")


class RetriableCommitFailedError(KafkaError):
    """An asynchronous commit failed with a retriable error. The next one may succeed."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(
            f"Offset commit failed with a retriable exception. You should retry committing offsets. ({cause})"
        )


class ConsumerTimeoutError(ApiError):
    """A call could not be completed within its timeout."""

    def __init__(self, message: str) -> None:
        super().__init__(Errors.REQUEST_TIMED_OUT, message)
