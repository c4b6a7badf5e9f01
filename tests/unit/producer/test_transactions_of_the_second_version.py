"""Transactions whose partitions the brokers add, and whose ends have the next epoch (KIP-890, part 2)."""

from __future__ import annotations

import pytest

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.node_api_versions import NodeApiVersions
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transaction_state import State
from kafka_lite.producer.txn_requests import AddPartitionsToTxn, EndTxn, Identity, InitProducerId, TxnOffsetCommit
from kafka_lite.producer.txn_responses import handle_response
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse, FinalizedFeatureKey
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnResponse
from kafka_lite.record.compression import CompressionType
from tests.support.producer_transactions import NODE, OF_GROUP, TRANSACTION

T0 = TopicPartition("t", 0)
ME, NEXT = Identity("id", 7, 0), ProducerIdAndEpoch(7, 1)
GROUP = ConsumerGroupMetadata("g", 3, "member")


class Cluster:
    """What the brokers say of ``transaction.version``."""

    def __init__(self, level: int = 2) -> None:
        self.level = level
        self.manager = TransactionManager(
            transactional_id="id", transaction_timeout_ms=5000, transaction_version=lambda: self.level
        )
        call = self.manager.initialize_transactions()
        self.manager.coordinator_found(*TRANSACTION, NODE)
        self.manager.coordinator_found(*OF_GROUP, NODE)
        self.manager.initialized(7, 0)
        call.wait(0)

    def begin(self) -> TransactionManager:
        self.manager.begin_transaction()
        self.manager.maybe_add_partition(T0)
        return self.manager

    def send(self) -> ProducerBatch:
        made = ProducerBatch(T0, bytearray(1000), 2, CompressionType.NONE, 0)
        made.try_append(0, None, b"v", (), None)
        assert self.manager.may_send(made)
        self.manager.number(made)
        return made


def test_a_batch_is_sent_at_once_and_the_next_transaction_begins_with_the_next_epoch() -> None:
    cluster = Cluster()
    for epoch in range(3):
        manager = cluster.begin()
        assert manager.next_request(True) is None, "there is nothing to add"
        made = cluster.send()
        assert (made.producer_epoch, made.base_sequence, made.is_transactional) == (epoch, 0, True)
        manager.completed(made)
        call = manager.begin_commit()
        assert manager.next_request(False) == EndTxn(Identity("id", 7, epoch), True, True)
        manager.transaction_ended(ProducerIdAndEpoch(7, epoch + 1))
        call.wait(0)
        assert manager.state is State.READY


def test_another_producer_id_is_taken_over() -> None:
    cluster = Cluster()
    manager = cluster.begin()
    call = manager.begin_abort()
    manager.transaction_ended(ProducerIdAndEpoch(1000, 0))
    call.wait(0)
    cluster.begin()
    assert (cluster.send().producer_id, manager.producer_epoch) == (1000, 0)


def test_offsets_need_no_request_before_them() -> None:
    cluster = Cluster()
    manager = cluster.manager
    manager.begin_transaction()
    manager.send_offsets_to_transaction({T0: OffsetAndMetadata(5)}, GROUP)
    request = manager.next_request(False)
    assert isinstance(request, TxnOffsetCommit)
    assert request.builder().oldest_version == request.builder().latest_version == 5
    manager.offsets_accepted(request.offsets, [T0])
    manager.begin_commit()
    end = manager.next_request(False)
    assert isinstance(end, EndTxn), "the coordinator has a transaction to end"
    assert end.builder().oldest_version == end.builder().latest_version == 5


def test_without_records_and_offsets_there_is_nothing_to_end() -> None:
    cluster = Cluster()
    cluster.manager.begin_transaction()
    call = cluster.manager.begin_commit()
    assert cluster.manager.next_request(False) is None
    assert call.is_completed


def test_an_abort_of_what_was_not_sent_is_sent() -> None:
    """Whether a batch has arrived is not known: the coordinator must raise the epoch in any case."""
    manager = Cluster().begin()
    manager.begin_abort()
    assert manager.next_request(False) == EndTxn(ME, False, True)


def test_after_a_lost_batch_the_abort_gives_the_next_epoch() -> None:
    cluster = Cluster()
    manager = cluster.begin()
    manager.failed(cluster.send(), Errors.MESSAGE_TOO_LARGE.exception(), broker_has_refused=False)
    assert manager.state is State.ABORTABLE_ERROR
    call = manager.begin_abort()
    assert manager.next_request(False) == EndTxn(ME, False, True)
    manager.transaction_ended(NEXT)
    call.wait(0)
    assert manager.state is State.READY, "no InitProducerId is needed"
    cluster.begin()
    assert cluster.send().base_sequence == 0


def test_an_id_that_the_coordinator_has_forgotten_needs_a_new_one() -> None:
    manager = Cluster().begin()
    manager.abortable_if_epoch_can_be_bumped(Errors.INVALID_PRODUCER_ID_MAPPING.exception())
    manager.begin_abort()
    assert manager.next_request(False) == InitProducerId("id", 5000, ME)


# ── a cluster that changes the level ──────────────────────────────────────────────────────────────────────────────


def test_an_upgrade_counts_from_the_next_transaction_on_and_fences_the_first_version() -> None:
    cluster = Cluster(level=1)
    manager = cluster.begin()
    cluster.level = 2
    assert manager.next_request(False) == AddPartitionsToTxn(ME, frozenset({T0}))
    manager.responded()
    manager.partitions_added(frozenset({T0}))
    call = manager.begin_commit()
    assert manager.next_request(False) == EndTxn(ME, True)
    manager.transaction_ended()
    assert not call.is_completed
    assert manager.next_request(False) == InitProducerId("id", 5000, ME)
    manager.initialized(7, 1)
    call.wait(0)
    cluster.begin()
    assert manager.next_request(True) is None
    assert cluster.send().producer_epoch == 1


def test_a_downgrade_counts_from_the_next_transaction_on() -> None:
    cluster = Cluster()
    manager = cluster.begin()
    cluster.level = 1
    call = manager.begin_commit()
    assert manager.next_request(False) == EndTxn(ME, True, True)
    manager.transaction_ended(NEXT)
    call.wait(0)
    cluster.begin()
    assert manager.next_request(False) == AddPartitionsToTxn(Identity("id", 7, 1), frozenset({T0}))


def test_a_producer_without_transactions_is_not_concerned() -> None:
    manager = TransactionManager(transaction_version=lambda: 2)
    manager.initializing()
    manager.initialized(7, 0)
    assert not manager.is_v2


# ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_next_epoch_is_in_the_response_to_the_end() -> None:
    manager = Cluster().begin()
    manager.begin_commit()
    request = manager.next_request(False)
    assert request is not None
    assert not handle_response(manager, request, EndTxnResponse(producer_id=7, producer_epoch=1), 5)
    assert (manager.producer_id, manager.producer_epoch) == NEXT


@pytest.mark.parametrize("error", [Errors.CONCURRENT_TRANSACTIONS, Errors.COORDINATOR_LOAD_IN_PROGRESS])
def test_an_end_without_a_decision_is_repeated_with_the_same_epoch(error: Errors) -> None:
    manager = Cluster().begin()
    manager.begin_commit()
    request = manager.next_request(False)
    assert request is not None
    assert handle_response(manager, request, EndTxnResponse(error_code=error.code), 5)
    assert manager.next_request(False) == request


def test_the_broker_that_knows_the_latest_features_is_believed() -> None:
    versions = ApiVersions()

    def told(node: str, level: int, epoch: int) -> None:
        feature = FinalizedFeatureKey(name="transaction.version", max_version_level=level, min_version_level=level)
        response = ApiVersionsResponse(finalized_features_epoch=epoch, finalized_features=[feature])
        versions.update(node, NodeApiVersions.of(response))

    assert versions.finalized_level("transaction.version") == 0
    told("0", 1, 3)
    told("1", 2, 4)
    told("0", 1, 3)
    assert versions.finalized_level("transaction.version") == 2
    versions.remove("1")
    assert versions.finalized_level("transaction.version") == 2
