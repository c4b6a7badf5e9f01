"""Verifying transactions with the coordinator: this broker's own, or another broker's over the wire."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server.transactions.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    TransactionSupportedOperation,
)
from tests.support.eventually import eventually
from tests.support.patience import patient_s

HERE, THERE = 0, 1
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
PRODUCER = ProducerIdAndEpoch(1000, 3)
Results = dict[TopicPartition, Errors]


class OtherBrokers:
    """Coordinators on other brokers, which know the partitions of some transactions."""

    def __init__(self) -> None:
        self.last_version = 5
        self.known: dict[str, set[TopicPartition]] = {}
        self.error = Errors.NONE
        self.error_for_all = Errors.NONE
        self.failures: deque[Exception] = deque()
        self.gate = threading.Event()
        self.gate.set()
        self.sent: list[tuple[int, list[str], int]] = []
        """Broker, transactional ids and version of each verification."""
        self.asked_for_versions = 0
        self.added: list[str] = []

    def exchange(self, broker_id: int, request: Request, version: int) -> Response:
        if self.failures:
            raise self.failures.popleft()
        if isinstance(request, ApiVersionsRequest):
            self.asked_for_versions += 1
            key = int(ApiKey.ADD_PARTITIONS_TO_TXN)
            return ApiVersionsResponse(api_keys=[ApiVersion(api_key=key, min_version=0, max_version=self.last_version)])
        assert isinstance(request, AddPartitionsToTxnRequest)
        self.added += [each.transactional_id for each in request.transactions if not each.verify_only]
        self.sent.append((broker_id, [each.transactional_id for each in request.transactions], version))
        assert self.gate.wait(patient_s(60))
        if self.error_for_all is not Errors.NONE:
            return AddPartitionsToTxnResponse(error_code=self.error_for_all.code)
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transactional_id=transaction.transactional_id,
                    topic_results=[
                        AddPartitionsToTxnTopicResult(
                            name=topic.name,
                            results_by_partition=[
                                AddPartitionsToTxnPartitionResult(
                                    partition_index=index,
                                    partition_error_code=self.error_of(
                                        transaction.transactional_id, TopicPartition(topic.name, index)
                                    ).code,
                                )
                                for index in topic.partitions
                            ],
                        )
                        for topic in transaction.topics
                    ],
                )
                for transaction in request.transactions
            ]
        )

    def error_of(self, transactional_id: str, topic_partition: TopicPartition) -> Errors:
        if self.error is not Errors.NONE:
            return self.error
        return Errors.NONE if topic_partition in self.known[transactional_id] else Errors.TRANSACTION_ABORTABLE

    def abort(self, broker_id: int) -> None:
        self.gate.set()


class Verifier:
    def __init__(self) -> None:
        self.brokers = OtherBrokers()
        self.coordinator: int | None = THERE
        self.here: Mapping[TopicPartition, Errors] = {}
        self.registry = MetricsRegistry()
        self.manager = AddPartitionsToTxnManager(
            HERE, lambda _id: self.coordinator, self.verify_here, self.add_here, self.brokers, self.registry, MockTime()
        )

    def verify_here(
        self, _id: str, _producer: ProducerIdAndEpoch, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, Errors]:
        return {tp: self.here.get(tp, Errors.NONE) for tp in partitions}

    def add_here(
        self,
        name: str,
        _producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        respond: Callable[[Errors], None],
    ) -> None:
        self.brokers.added.append(name)
        respond(next((self.here[tp] for tp in partitions if tp in self.here), Errors.NONE))

    def begin(
        self,
        *partitions: TopicPartition,
        name: str = "id",
        producer: ProducerIdAndEpoch = PRODUCER,
        operation: TransactionSupportedOperation = TransactionSupportedOperation.DEFAULT_ERROR,
    ) -> Callable[[], Results]:
        """Start to verify; the result waits for the end."""
        results: list[Results] = []
        done = threading.Event()

        def respond(errors: Mapping[TopicPartition, Errors]) -> None:
            results.append(dict(errors))
            done.set()

        self.manager.add_or_verify(name, producer, partitions, operation, respond)

        def result() -> Results:
            assert done.wait(patient_s(60))
            assert len(results) == 1
            return results[0]

        return result

    def verify(
        self,
        *partitions: TopicPartition,
        name: str = "id",
        operation: TransactionSupportedOperation = TransactionSupportedOperation.DEFAULT_ERROR,
    ) -> Results:
        return self.begin(*partitions, name=name, operation=operation)()

    def metric(self, name: str) -> int:
        (metric,) = [metric for key, metric in self.registry.all_metrics().items() if key.name == name]
        return int(metric.attributes()["Count"])  # type: ignore[call-overload]


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    verifier = Verifier()
    yield verifier
    verifier.manager.shutdown()


def test_this_brokers_coordinator_is_asked_without_the_network(verifier: Verifier) -> None:
    verifier.coordinator = HERE
    verifier.here = {T1: Errors.TRANSACTION_ABORTABLE}
    assert verifier.verify(T0, T1) == {T1: Errors.INVALID_TXN_STATE}
    assert verifier.brokers.sent == []
    assert (verifier.metric("VerificationFailureRate"), verifier.metric("VerificationTimeMs")) == (1, 1)


def test_another_brokers_coordinator_is_asked_over_the_wire(verifier: Verifier) -> None:
    verifier.brokers.known = {"id": {T0, U0}}
    assert verifier.verify(T0, T1, U0) == {T1: Errors.INVALID_TXN_STATE}
    assert verifier.verify(T0) == {}
    assert verifier.brokers.sent == [(THERE, ["id"], 5)] * 2
    assert verifier.brokers.asked_for_versions == 1
    assert (verifier.metric("VerificationFailureRate"), verifier.metric("VerificationTimeMs")) == (1, 2)


def test_without_a_coordinator_nothing_can_be_verified(verifier: Verifier) -> None:
    verifier.coordinator = None
    assert verifier.verify(T0) == {T0: Errors.COORDINATOR_NOT_AVAILABLE}


@pytest.mark.parametrize("last_version", [-1, 3])
def test_a_coordinator_that_does_not_verify_is_trusted(verifier: Verifier, last_version: int) -> None:
    verifier.brokers.last_version = last_version
    assert verifier.verify(T0) == {}
    assert verifier.brokers.sent == []


def test_version_4_is_enough(verifier: Verifier) -> None:
    verifier.brokers.last_version = 4
    verifier.brokers.known = {"id": {T0}}
    assert verifier.verify(T0) == {}
    assert verifier.brokers.sent == [(THERE, ["id"], 4)]


def test_a_lost_connection_is_a_network_exception_and_the_version_is_asked_for_again(verifier: Verifier) -> None:
    verifier.brokers.known = {"id": {T0}}
    assert verifier.verify(T0) == {}
    verifier.brokers.failures.append(ConnectionError("lost"))
    assert verifier.verify(T0, T1) == {T0: Errors.NETWORK_EXCEPTION, T1: Errors.NETWORK_EXCEPTION}
    verifier.brokers.last_version = 4  # an older Kafka runs there now
    assert verifier.verify(T0) == {}
    assert [version for _, _, version in verifier.brokers.sent] == [5, 4]


@pytest.mark.parametrize(
    ("error", "old_client", "new_client"),
    [
        (Errors.PRODUCER_FENCED, Errors.INVALID_PRODUCER_EPOCH, Errors.INVALID_PRODUCER_EPOCH),
        (Errors.TRANSACTION_ABORTABLE, Errors.INVALID_TXN_STATE, Errors.TRANSACTION_ABORTABLE),
        (Errors.CONCURRENT_TRANSACTIONS, Errors.CONCURRENT_TRANSACTIONS, Errors.CONCURRENT_TRANSACTIONS),
        (Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_errors_are_those_that_producers_know(
    verifier: Verifier, error: Errors, old_client: Errors, new_client: Errors
) -> None:
    verifier.brokers.error = error
    assert verifier.verify(T0) == {T0: old_client}
    assert verifier.verify(T0, operation=TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED) == {T0: new_client}


# ── partitions that are added for the producer ────────────────────────────────────────────────────────────────────

ADD = TransactionSupportedOperation.ADD_PARTITION


@pytest.mark.parametrize("coordinator", [HERE, THERE])
def test_partitions_are_added_by_the_coordinator(verifier: Verifier, coordinator: int) -> None:
    verifier.coordinator = coordinator
    verifier.brokers.known = {"id": {T0, T1}}
    assert verifier.verify(T0, T1, operation=ADD) == {}
    assert verifier.brokers.added == ["id"]
    assert verifier.verify(T0) == {}
    assert verifier.brokers.added == ["id"], "another client's partition is only verified"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Errors.PRODUCER_FENCED, Errors.INVALID_PRODUCER_EPOCH),
        (Errors.TRANSACTION_ABORTABLE, Errors.TRANSACTION_ABORTABLE),
        (Errors.CONCURRENT_TRANSACTIONS, Errors.CONCURRENT_TRANSACTIONS),
    ],
)
def test_all_partitions_are_added_or_none(verifier: Verifier, error: Errors, told: Errors) -> None:
    verifier.coordinator = HERE
    verifier.here = {T1: error}
    assert verifier.verify(T0, T1, operation=ADD) == {T0: told, T1: told}


def test_nothing_is_appended_that_the_coordinator_cannot_add(verifier: Verifier) -> None:
    verifier.brokers.last_version = 3
    assert verifier.verify(T0, operation=ADD) == {T0: Errors.UNSUPPORTED_VERSION}


def test_the_operation_follows_from_the_version_of_the_request() -> None:
    operation = TransactionSupportedOperation
    assert [operation.of_produce(version) for version in (10, 11, 12, 13)] == [
        operation.DEFAULT_ERROR, operation.GENERIC_ERROR_SUPPORTED, ADD, ADD,
    ]  # fmt: skip
    assert [operation.of_txn_offset_commit(version) for version in (3, 4, 5)] == [
        operation.DEFAULT_ERROR, operation.GENERIC_ERROR_SUPPORTED, ADD,
    ]  # fmt: skip


def test_an_error_of_the_whole_request_concerns_all_partitions(verifier: Verifier) -> None:
    verifier.brokers.error_for_all = Errors.CLUSTER_AUTHORIZATION_FAILED
    assert verifier.verify(T0, T1) == {T0: Errors.INVALID_TXN_STATE, T1: Errors.INVALID_TXN_STATE}


def test_what_waits_while_a_request_is_in_flight_goes_into_the_next_one(verifier: Verifier) -> None:
    brokers = verifier.brokers
    brokers.known = {"a": {T0}, "b": {T0}, "c": {T1}}
    brokers.gate.clear()
    first = verifier.begin(T0, name="a")
    eventually(lambda: len(brokers.sent) == 1)
    others = [verifier.begin(T0, name="b"), verifier.begin(T0, name="c")]
    brokers.gate.set()
    assert first() == {}
    assert [result() for result in others] == [{}, {T0: Errors.INVALID_TXN_STATE}]
    assert [ids for _, ids, _ in brokers.sent] == [["a"], ["b", "c"]]


def test_a_later_request_of_a_waiting_id_replaces_it_unless_its_epoch_is_older(verifier: Verifier) -> None:
    brokers = verifier.brokers
    brokers.known = {"a": set(), "id": {T0}}
    brokers.gate.clear()
    verifier.begin(T0, name="a")
    eventually(lambda: len(brokers.sent) == 1)
    impatient = verifier.begin(T0)
    retry = verifier.begin(T0)
    heir = verifier.begin(T0, producer=ProducerIdAndEpoch(1000, 4))
    zombie = verifier.begin(T0)
    assert impatient() == {T0: Errors.NETWORK_EXCEPTION}
    assert retry() == {T0: Errors.INVALID_PRODUCER_EPOCH}
    assert zombie() == {T0: Errors.INVALID_PRODUCER_EPOCH}
    brokers.gate.set()
    assert heir() == {}


def test_a_shutdown_does_not_wait_for_a_response(verifier: Verifier) -> None:
    verifier.brokers.gate.clear()
    verifier.begin(T0)
    eventually(lambda: len(verifier.brokers.sent) == 1)
    verifier.manager.shutdown()
    assert verifier.verify(T0) == {T0: Errors.COORDINATOR_NOT_AVAILABLE}
