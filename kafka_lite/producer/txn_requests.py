"""The requests of a producer's transactions: what each says, and which broker gets it.

Kafka 0.11: clients/.../producer/internals/TransactionManager.java (TxnRequestHandler) · book 10.3
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.transactional_request_result import TransactionalRequestResult
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka_lite.protocol.messages.api_25_add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest
from kafka_lite.protocol.messages.api_28_txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_lite.protocol.schema import Request

if TYPE_CHECKING:  # a producer without offsets to commit need not load the consumer
    from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
    from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

MAX_TIMEOUT_MS = 0x7FFFFFFF


class CoordinatorType(IntEnum):
    """The kinds of coordinators, with their codes in FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1


@dataclass(frozen=True)
class Identity:
    """A transactional producer: the coordinator checks all three in each request."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class TxnOffsets:
    """Offsets of one ``send_offsets_to_transaction``, on their way into the transaction."""

    def __init__(self, offsets: dict[TopicPartition, OffsetAndMetadata], group: ConsumerGroupMetadata) -> None:
        self.pending = offsets
        """Offsets that the group coordinator has not accepted yet."""
        self.group = group
        self.is_group_added = False
        """Whether the group's partition of ``__consumer_offsets`` is in the transaction."""
        self.result = TransactionalRequestResult("send_offsets_to_transaction")


class TxnRequest(ABC):
    """One request. ``coordinator`` is the kind of broker that gets it, found by ``key``; None for any broker."""

    api_key: ClassVar[ApiKey]
    versions: ClassVar[tuple[int, int]]
    failure: ClassVar[str]
    """How error messages begin."""

    @property
    @abstractmethod
    def coordinator(self) -> tuple[CoordinatorType, str] | None:
        """The kind of coordinator that gets the request, and the id that it coordinates; None for any broker."""

    @abstractmethod
    def build(self) -> Request:
        """The request on the wire."""

    def builder(self) -> RequestBuilder:
        """For the network client, which chooses the version."""
        return RequestBuilder.of(self.build(), *self.versions)


@dataclass(frozen=True)
class FindCoordinator(TxnRequest):
    """Looks up a coordinator."""

    api_key = ApiKey.FIND_COORDINATOR
    versions = (1, 3)
    failure = "the coordinator was not found"

    type: CoordinatorType
    key: str

    @property
    def coordinator(self) -> None:
        """Any broker knows."""
        return

    def build(self) -> Request:
        """The lookup of one key."""
        return FindCoordinatorRequest(key=self.key, key_type=self.type)


@dataclass(frozen=True)
class InitProducerId(TxnRequest):
    """Requests a producer id and epoch; with ``previous``, only the next epoch.

    For a transactional id, the coordinator also ends what an older producer has left open, and fences it.
    """

    api_key = ApiKey.INIT_PRODUCER_ID
    versions = (0, 4)
    failure = "the broker returned no producer id"

    transactional_id: str | None = None
    transaction_timeout_ms: int = MAX_TIMEOUT_MS
    previous: Identity | None = None

    @property
    def coordinator(self) -> tuple[CoordinatorType, str] | None:
        """Any broker has ids for a producer that is only idempotent."""
        return None if self.transactional_id is None else (CoordinatorType.TRANSACTION, self.transactional_id)

    def build(self) -> Request:
        """The transactional id, if any, and what the producer had before."""
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=self.transaction_timeout_ms
        )
        if self.previous is not None:
            request.producer_id = self.previous.producer_id
            request.producer_epoch = self.previous.producer_epoch
        return request


@dataclass(frozen=True)
class TransactionalRequest(TxnRequest):
    """A request of a producer that has its id, to the transaction coordinator."""

    producer: Identity

    @property
    def coordinator(self) -> tuple[CoordinatorType, str]:
        """The transaction coordinator."""
        return CoordinatorType.TRANSACTION, self.producer.transactional_id


@dataclass(frozen=True)
class AddPartitionsToTxn(TransactionalRequest):
    """Tells the transaction coordinator which partitions will get records, before they get any."""

    api_key = ApiKey.ADD_PARTITIONS_TO_TXN
    versions = (0, 3)
    failure = "partitions were not added to the transaction"

    partitions: frozenset[TopicPartition]

    def build(self) -> Request:
        """The partitions by topic."""
        topics = [
            AddPartitionsToTxnTopic(name=topic, partitions=[each.partition for each in partitions])
            for topic, partitions in _by_topic(self.partitions)
        ]
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.producer.transactional_id,
            v3_and_below_producer_id=self.producer.producer_id,
            v3_and_below_producer_epoch=self.producer.producer_epoch,
            v3_and_below_topics=topics,
        )


@dataclass(frozen=True)
class AddOffsetsToTxn(TransactionalRequest):
    """Tells the transaction coordinator that offsets of a group will be committed."""

    api_key = ApiKey.ADD_OFFSETS_TO_TXN
    versions = (0, 3)
    failure = "the group was not added to the transaction"

    offsets: TxnOffsets

    def build(self) -> Request:
        """The group."""
        return AddOffsetsToTxnRequest(
            transactional_id=self.producer.transactional_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            group_id=self.offsets.group.group_id,
        )


@dataclass(frozen=True)
class TxnOffsetCommit(TxnRequest):
    """Gives the offsets to the group coordinator, where they take effect when the transaction commits.

    With ``adds_group``, which needs version 5, that coordinator adds the group to the transaction, too (KIP-890).
    """

    api_key = ApiKey.TXN_OFFSET_COMMIT
    versions = (0, 3)
    failure = "offsets were not added to the transaction"

    producer: Identity
    offsets: TxnOffsets
    adds_group: bool = False

    def builder(self) -> RequestBuilder:
        """Version 5 means what no version before does."""
        return RequestBuilder.of(self.build(), 5, 5) if self.adds_group else super().builder()

    @property
    def coordinator(self) -> tuple[CoordinatorType, str]:
        """The group coordinator."""
        return CoordinatorType.GROUP, self.offsets.group.group_id

    def build(self) -> Request:
        """The offsets that are not accepted yet, and the member that has read up to them."""
        group, pending = self.offsets.group, self.offsets.pending
        topics = [
            TxnOffsetCommitRequestTopic(name=topic, partitions=[_committed(each, pending[each]) for each in partitions])
            for topic, partitions in _by_topic(pending)
        ]
        return TxnOffsetCommitRequest(
            transactional_id=self.producer.transactional_id,
            group_id=group.group_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            generation_id=group.generation_id,
            member_id=group.member_id,
            group_instance_id=group.group_instance_id,
            topics=topics,
        )


@dataclass(frozen=True)
class EndTxn(TransactionalRequest):
    """Commits or aborts. With ``bumps_epoch``, which needs version 5, the producer gets its next epoch (KIP-890)."""

    api_key = ApiKey.END_TXN
    versions = (0, 3)
    failure = "the transaction was not ended"

    committed: bool
    bumps_epoch: bool = False

    def builder(self) -> RequestBuilder:
        """Version 5 means what no version before does."""
        return RequestBuilder.of(self.build(), 5, 5) if self.bumps_epoch else super().builder()

    def build(self) -> Request:
        """The decision."""
        return EndTxnRequest(
            transactional_id=self.producer.transactional_id,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            committed=self.committed,
        )


def _by_topic(partitions: Iterable[TopicPartition]) -> Iterable[tuple[str, list[TopicPartition]]]:
    for topic, group in groupby(sorted(partitions), lambda each: each.topic):
        yield topic, list(group)


def _committed(partition: TopicPartition, offset: OffsetAndMetadata) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=partition.partition,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        committed_metadata=offset.metadata,
    )
