"""The requests of a producer's transactions: who gets them, and what they say on the wire."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.txn_requests import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    CoordinatorType,
    EndTxn,
    FindCoordinator,
    Identity,
    InitProducerId,
    TxnOffsetCommit,
    TxnOffsets,
    TxnRequest,
)
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

ME = Identity("mine", 7, 1)
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
TRANSACTION = (CoordinatorType.TRANSACTION, "mine")
GROUP = ConsumerGroupMetadata("g", 3, "member", None)


def offsets() -> TxnOffsets:
    return TxnOffsets({T1: OffsetAndMetadata(5), U0: OffsetAndMetadata(6, "m", 2), T0: OffsetAndMetadata(4)}, GROUP)


@pytest.mark.parametrize(
    ("request_", "coordinator"),
    [
        (FindCoordinator(CoordinatorType.GROUP, "g"), None),
        (InitProducerId(), None),
        (InitProducerId("mine"), TRANSACTION),
        (AddPartitionsToTxn(ME, frozenset({T0})), TRANSACTION),
        (AddOffsetsToTxn(ME, offsets()), TRANSACTION),
        (TxnOffsetCommit(ME, offsets()), (CoordinatorType.GROUP, "g")),
        (EndTxn(ME, True), TRANSACTION),
    ],
)
def test_each_request_has_its_coordinator(
    request_: TxnRequest, coordinator: tuple[CoordinatorType, str] | None
) -> None:
    assert request_.coordinator == coordinator


def test_a_coordinator_is_looked_up_by_its_kind() -> None:
    assert FindCoordinator(CoordinatorType.GROUP, "g").build() == FindCoordinatorRequest(key="g", key_type=0)
    assert FindCoordinator(CoordinatorType.TRANSACTION, "x").build() == FindCoordinatorRequest(key="x", key_type=1)


def test_an_idempotent_producer_asks_for_an_id_without_a_name() -> None:
    assert InitProducerId().build() == InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=0x7FFFFFFF, producer_id=-1, producer_epoch=-1
    )


def test_the_next_epoch_is_requested_with_the_one_before() -> None:
    assert InitProducerId("mine", 60_000, ME).build() == InitProducerIdRequest(
        transactional_id="mine", transaction_timeout_ms=60_000, producer_id=7, producer_epoch=1
    )


def test_partitions_are_sent_by_topic_in_order() -> None:
    assert AddPartitionsToTxn(ME, frozenset({U0, T1, T0})).build() == AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="mine",
        v3_and_below_producer_id=7,
        v3_and_below_producer_epoch=1,
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name="t", partitions=[0, 1]),
            AddPartitionsToTxnTopic(name="u", partitions=[0]),
        ],
    )


def test_the_transaction_coordinator_is_told_the_group() -> None:
    assert AddOffsetsToTxn(ME, offsets()).build() == AddOffsetsToTxnRequest(
        transactional_id="mine", producer_id=7, producer_epoch=1, group_id="g"
    )


def test_the_group_coordinator_gets_what_it_has_not_accepted_yet() -> None:
    waiting = offsets()
    del waiting.pending[T1]
    topics = [("t", 0, 4, -1, ""), ("u", 0, 6, 2, "m")]
    assert TxnOffsetCommit(ME, waiting).build() == TxnOffsetCommitRequest(
        transactional_id="mine",
        group_id="g",
        producer_id=7,
        producer_epoch=1,
        generation_id=3,
        member_id="member",
        topics=[
            TxnOffsetCommitRequestTopic(
                name=name,
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=epoch,
                        committed_metadata=metadata,
                    )
                ],
            )
            for name, partition, offset, epoch, metadata in topics
        ],
    )


@pytest.mark.parametrize("committed", [True, False])
def test_the_end_says_whether_it_commits(committed: bool) -> None:
    assert EndTxn(ME, committed).build() == EndTxnRequest(
        transactional_id="mine", producer_id=7, producer_epoch=1, committed=committed
    )


def test_no_request_is_built_in_a_version_before_its_lowest() -> None:
    builder = FindCoordinator(CoordinatorType.TRANSACTION, "mine").builder()
    assert (builder.oldest_version, builder.latest_version) == (1, 3), "version 0 has groups only"
