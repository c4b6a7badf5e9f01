"""The replica manager as the coordinators see it: the logs of ``__consumer_offsets`` and ``__transaction_state``.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (appendRecords, getLog), as GroupMetadataManager uses it · book 3.5.4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.producers.verification_state_entry import VerificationGuard

COMMIT_POLL_MS: Final = 20
"""How long a coordinator that is to load a partition waits until it looks again whether the log is committed."""
LOAD_RETRY_MS: Final = 1_000
"""How long it waits until it loads a partition again that there was no memory for. What the log has is not lost, so
nobody may be told that it is not there."""

COMMIT_ERRORS = {
    Errors.UNKNOWN_TOPIC_OR_PARTITION: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NETWORK_EXCEPTION: Errors.COORDINATOR_LOAD_IN_PROGRESS,  # of a verification; a client retries after both
    Errors.NOT_ENOUGH_REPLICAS: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_LEADER_OR_FOLLOWER: Errors.NOT_COORDINATOR,
    Errors.KAFKA_STORAGE_ERROR: Errors.NOT_COORDINATOR,
    Errors.MESSAGE_TOO_LARGE: Errors.INVALID_COMMIT_OFFSET_SIZE,
    Errors.RECORD_LIST_TOO_LARGE: Errors.INVALID_COMMIT_OFFSET_SIZE,
    Errors.INVALID_FETCH_SIZE: Errors.INVALID_COMMIT_OFFSET_SIZE,
}
"""The error that a consumer gets when its commit cannot be appended, by the error that a producer would get."""

GROUP_ERRORS = COMMIT_ERRORS | {
    Errors.REQUEST_TIMED_OUT: Errors.REBALANCE_IN_PROGRESS,
    Errors.MESSAGE_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
    Errors.RECORD_LIST_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
    Errors.INVALID_FETCH_SIZE: Errors.UNKNOWN_SERVER_ERROR,
}
"""The error that a member gets when the assignment of its generation cannot be appended, likewise."""


class AppendResult(Protocol):
    """The result of an append to one partition."""

    @property
    def error(self) -> Errors:
        """NONE, or the reason why the append was refused."""
        ...

    @property
    def base_offset(self) -> int:
        """Base offset of the batch; -1 if it was refused."""
        ...


class OffsetsLog(Protocol):
    """The part of the replica manager that stores groups, offsets and transactional ids.

    It is passed in as this type, because the replica manager belongs to a layer above and cannot be imported here.
    """

    def append_records(
        self,
        timeout_ms: int,
        required_acks: int,
        internal_topics_allowed: bool,
        entries: Mapping[TopicPartition, Buffer],
        respond: Callable[[Mapping[TopicPartition, AppendResult]], None],
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification_guards: Mapping[TopicPartition, VerificationGuard] = ...,
    ) -> None:
        """Append, then call ``respond`` once: when enough replicas have the records, or with an error.

        The first batch of a transaction in a partition needs the guard of its verification.
        """
        ...

    def get_leader_log(self, topic_partition: TopicPartition, leader_epoch: int = -1) -> tuple[Partition, Replica, Log]:
        """A partition that this broker leads, its local replica, and the log. Raises ApiError if it does not lead."""
        ...


def uncommitted_end(log: OffsetsLog, topic_partition: TopicPartition, end: int | None = None) -> int | None:
    """The offset up to which replicas must follow before a new leader loads its log; None if they have.

    ``end`` is what an earlier call returned; without it, it is the end of the log. A record that only some of the
    replicas in sync have may be lost with this broker. If its coordinator acted on such a record, the next one would
    not know of it: a generation would be given to two sets of members, a transaction would be committed here and
    aborted there. The new leader's high watermark is behind at first, so it cannot load only what is below it: it
    would miss offsets that were committed. (0.10.2 does miss them. Kafka 0.11 loads all, and does not wait.)
    """
    try:
        _, replica, leader_log = log.get_leader_log(topic_partition)
    except (ApiError, OSError):
        return None  # loading meets the same error, and reports it
    awaited = leader_log.log_end_offset if end is None else end
    return awaited if replica.high_watermark.message_offset < awaited else None
