"""What the coordinators need of the replica manager: the logs of ``__consumer_offsets`` and ``__transaction_state``.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (appendRecords, getLog), as GroupMetadataManager uses it · book 3.5.4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_validator import AppendOrigin
from kafka_lite.log.producers.verification_state_entry import VerificationGuard


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
