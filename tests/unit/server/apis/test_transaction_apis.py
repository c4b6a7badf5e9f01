"""Requests about transactions, between the wire and the coordinator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_coordinator import EndTxnResult
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.protocol.messages import api_24_add_partitions_to_txn as add_partitions
from kafka_lite.protocol.messages import api_25_add_offsets_to_txn as add_offsets
from kafka_lite.protocol.messages import api_26_end_txn as end_txn
from kafka_lite.protocol.messages import api_65_describe_transactions as describe
from kafka_lite.protocol.messages import api_66_list_transactions as list_transactions
from kafka_lite.server.apis.transaction_apis import TransactionApis

PRODUCER, NEXT = ProducerIdAndEpoch(70, 3), ProducerIdAndEpoch(70, 4)
KNOWN = {TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("__consumer_offsets", 0)}
GROUPS_PARTITION = TopicPartition("__consumer_offsets", 4)


class Coordinator:
    """Answers at once, or keeps the callbacks; all with the same error."""

    def __init__(self) -> None:
        self.error = Errors.NONE
        self.added: list[tuple[Any, ...]] = []
        self.ended: list[tuple[Any, ...]] = []
        self.waiting: list[Any] | None = None
        self.listed: tuple[Any, ...] = ()

    def handle_add_partitions(
        self, name: str, producer: Any, partitions: frozenset[TopicPartition], send: Any, client_version: int = 0
    ) -> None:
        self.added.append((name, producer, set(partitions)))
        self.client_version = client_version
        if self.waiting is not None:
            self.waiting.append(send)
        else:
            send(self.error)

    def verify_partitions(self, _name: str, _producer: Any, partitions: Any) -> dict[TopicPartition, Errors]:
        return {tp: Errors.NONE if tp.partition == 0 else Errors.INVALID_TXN_STATE for tp in partitions}

    def handle_end_transaction(self, name: str, producer: Any, committed: bool, send: Any) -> None:
        self.ended.append((name, producer, committed))
        send(self.error)

    def handle_bumped_end(self, name: str, producer: Any, committed: bool, send: Any) -> None:
        self.ended.append((name, producer, committed, "bumped"))
        send(EndTxnResult(self.error) if self.error is not Errors.NONE else EndTxnResult(self.error, NEXT))

    def describe_transaction(self, _name: str) -> Any:
        if self.error is not Errors.NONE:
            raise self.error.exception()
        return SimpleNamespace(
            topic_partitions={TopicPartition("u", 0), TopicPartition("t", 1), TopicPartition("t", 0)},
            state=TransactionState.PREPARE_COMMIT,
            timeout_ms=9000,
            start_timestamp_ms=77,
            producer_id=PRODUCER.producer_id,
            producer_epoch=PRODUCER.epoch,
        )

    def list_transactions(self, *filters: Any) -> dict[str, Any]:
        if self.error is not Errors.NONE:
            raise self.error.exception()
        self.listed = filters
        return {"x": SimpleNamespace(producer_id=70, state=TransactionState.ONGOING)}


class Apis:
    def __init__(self) -> None:
        self.coordinator = Coordinator()
        cache = SimpleNamespace(get_partition_info=lambda tp: object() if tp in KNOWN else None)
        self.apis = TransactionApis(cast(Any, self.coordinator), cast(Any, cache), lambda _group: GROUPS_PARTITION)
        self.responses: list[Any] = []

    def handle(self, name: str, body: Any, version: int = 0) -> Any:
        """The only response, if there is one already."""
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        getattr(self.apis, f"handle_{name}")(cast(Any, request), body, self.responses.append)
        if not self.responses:
            return None
        (response,) = self.responses
        response.encode(version)
        self.responses.clear()
        return response

    def add(self, *partitions: TopicPartition, version: int = 3, verify_only: bool = False) -> dict[Any, Errors]:
        topics = [add_partitions.AddPartitionsToTxnTopic(name=tp.topic, partitions=[tp.partition]) for tp in partitions]
        if version < 4:
            body = add_partitions.AddPartitionsToTxnRequest(
                v3_and_below_transactional_id="x",
                v3_and_below_producer_id=PRODUCER.producer_id,
                v3_and_below_producer_epoch=PRODUCER.epoch,
                v3_and_below_topics=topics,
            )
            return errors_of(self.handle("add_partitions_to_txn", body, version).results_by_topic_v3_and_below)
        body = add_partitions.AddPartitionsToTxnRequest(transactions=[transaction("x", *topics, verify=verify_only)])
        (result,) = self.handle("add_partitions_to_txn", body, version).results_by_transaction
        assert result.transactional_id == "x"
        return errors_of(result.topic_results)


def transaction(
    name: str, *topics: add_partitions.AddPartitionsToTxnTopic, verify: bool = False
) -> add_partitions.AddPartitionsToTxnTransaction:
    return add_partitions.AddPartitionsToTxnTransaction(
        transactional_id=name,
        producer_id=PRODUCER.producer_id,
        producer_epoch=PRODUCER.epoch,
        verify_only=verify,
        topics=list(topics),
    )


def errors_of(topics: Any) -> dict[Any, Errors]:
    return {
        TopicPartition(topic.name, each.partition_index): Errors.for_code(each.partition_error_code)
        for topic in topics
        for each in topic.results_by_partition
    }


@pytest.fixture
def apis() -> Apis:
    return Apis()


T0, T1, MISSING, INTERNAL = (
    TopicPartition("t", 0),
    TopicPartition("t", 1),
    TopicPartition("u", 0),
    TopicPartition("__consumer_offsets", 0),
)


@pytest.mark.parametrize("version", [3, 4])
def test_partitions_are_added_together(apis: Apis, version: int) -> None:
    assert apis.add(T0, T1, version=version) == {T0: Errors.NONE, T1: Errors.NONE}
    assert apis.coordinator.added == [("x", PRODUCER, {T0, T1})]


@pytest.mark.parametrize("version", [3, 4])
def test_all_or_no_partitions_are_added(apis: Apis, version: int) -> None:
    assert apis.add(T0, MISSING, version=version) == {
        T0: Errors.OPERATION_NOT_ATTEMPTED,
        MISSING: Errors.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert not apis.coordinator.added


@pytest.mark.parametrize(("version", "error"), [(3, Errors.TOPIC_AUTHORIZATION_FAILED), (4, Errors.NONE)])
def test_only_brokers_may_add_internal_topics(apis: Apis, version: int, error: Errors) -> None:
    assert apis.add(INTERNAL, version=version) == {INTERNAL: error}


def test_brokers_verify_partitions_without_adding_them(apis: Apis) -> None:
    assert apis.add(T0, T1, version=4, verify_only=True) == {T0: Errors.NONE, T1: Errors.INVALID_TXN_STATE}
    assert not apis.coordinator.added


@pytest.mark.parametrize(("version", "told"), [(1, Errors.INVALID_PRODUCER_EPOCH), (2, Errors.PRODUCER_FENCED)])
def test_old_producers_learn_of_a_fence_as_an_invalid_epoch(apis: Apis, version: int, told: Errors) -> None:
    apis.coordinator.error = Errors.PRODUCER_FENCED
    assert apis.add(T0, version=version) == {T0: told}
    offsets = apis.handle("add_offsets_to_txn", add_offsets.AddOffsetsToTxnRequest(transactional_id="x"), version)
    end = apis.handle("end_txn", end_txn.EndTxnRequest(transactional_id="x"), version)
    assert (offsets.error_code, end.error_code) == (told.code, told.code)


def test_the_response_to_several_transactions_waits_for_all(apis: Apis) -> None:
    apis.coordinator.waiting = []
    topic = add_partitions.AddPartitionsToTxnTopic(name="t", partitions=[0])
    body = add_partitions.AddPartitionsToTxnRequest(transactions=[transaction("x", topic), transaction("y", topic)])
    assert apis.handle("add_partitions_to_txn", body, 4) is None
    send_x, send_y = apis.coordinator.waiting
    send_y(Errors.NONE)
    assert apis.responses == []
    send_x(Errors.CONCURRENT_TRANSACTIONS)
    (response,) = apis.responses
    assert {each.transactional_id: errors_of(each.topic_results) for each in response.results_by_transaction} == {
        "x": {T0: Errors.CONCURRENT_TRANSACTIONS},
        "y": {T0: Errors.NONE},
    }


def test_a_request_for_no_transaction_is_answered(apis: Apis) -> None:
    response = apis.handle("add_partitions_to_txn", add_partitions.AddPartitionsToTxnRequest(transactions=[]), 4)
    assert response.results_by_transaction == []


def test_the_partition_of_the_group_is_added_for_offsets(apis: Apis) -> None:
    body = add_offsets.AddOffsetsToTxnRequest(transactional_id="x", producer_id=70, producer_epoch=3, group_id="g")
    assert apis.handle("add_offsets_to_txn", body).error_code == 0
    assert apis.coordinator.added == [("x", PRODUCER, {GROUPS_PARTITION})]


@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction_ends_as_its_producer_wants(apis: Apis, committed: bool) -> None:
    body = end_txn.EndTxnRequest(transactional_id="x", producer_id=70, producer_epoch=3, committed=committed)
    assert apis.handle("end_txn", body).error_code == 0
    assert apis.coordinator.ended == [("x", PRODUCER, committed)]


def test_a_transaction_is_described(apis: Apis) -> None:
    body = describe.DescribeTransactionsRequest(transactional_ids=["x"])
    (state,) = apis.handle("describe_transactions", body).transaction_states
    assert (state.transactional_id, state.transaction_state, state.error_code) == ("x", "PrepareCommit", 0)
    assert (state.transaction_timeout_ms, state.transaction_start_time_ms) == (9000, 77)
    assert (state.producer_id, state.producer_epoch) == PRODUCER
    assert [(topic.topic, topic.partitions) for topic in state.topics] == [("t", [0, 1]), ("u", [0])]


def test_an_error_about_a_transaction_is_in_the_response(apis: Apis) -> None:
    apis.coordinator.error = Errors.NOT_COORDINATOR
    described = apis.handle("describe_transactions", describe.DescribeTransactionsRequest(transactional_ids=["x"]))
    listed = apis.handle("list_transactions", list_transactions.ListTransactionsRequest())
    assert described.transaction_states[0].error_code == Errors.NOT_COORDINATOR.code
    assert listed.error_code == Errors.NOT_COORDINATOR.code


@pytest.mark.parametrize(
    ("names", "states", "unknown"),
    [
        ([], None, []),
        (["Ongoing"], {TransactionState.ONGOING}, []),
        (["Ongoing", "Over"], {TransactionState.ONGOING}, ["Over"]),
        (["Over"], set(), ["Over"]),
    ],
)
def test_transactions_are_listed_by_state_and_producer(
    apis: Apis, names: list[str], states: set[TransactionState] | None, unknown: list[str]
) -> None:
    body = list_transactions.ListTransactionsRequest(state_filters=names, producer_id_filters=[70], duration_filter=500)
    response = apis.handle("list_transactions", body, 1)
    assert apis.coordinator.listed == (states, frozenset({70}), 500)
    assert response.unknown_state_filters == unknown
    (listed,) = response.transaction_states
    assert (listed.transactional_id, listed.producer_id, listed.transaction_state) == ("x", 70, "Ongoing")


@pytest.mark.parametrize(("pattern", "found"), [(None, ["x"]), ("", ["x"]), ("x|y", ["x"]), ("x.", []), ("y", [])])
def test_transactions_are_listed_by_a_pattern_of_whole_ids(apis: Apis, pattern: str | None, found: list[str]) -> None:
    body = list_transactions.ListTransactionsRequest(transactional_id_pattern=pattern)
    response = apis.handle("list_transactions", body, 2)
    assert [each.transactional_id for each in response.transaction_states] == found


def test_a_pattern_that_is_no_expression_is_refused(apis: Apis) -> None:
    body = list_transactions.ListTransactionsRequest(transactional_id_pattern="(")
    assert apis.handle("list_transactions", body, 2).error_code == Errors.INVALID_REGULAR_EXPRESSION.code


# ── the second version ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("version", "client_version"), [(3, 0), (4, 2), (5, 2)])
def test_what_brokers_add_is_of_the_second_version(apis: Apis, version: int, client_version: int) -> None:
    assert apis.add(T0, version=version) == {T0: Errors.NONE}
    assert apis.coordinator.client_version == client_version


def test_the_end_of_a_transaction_returns_the_next_epoch(apis: Apis) -> None:
    body = end_txn.EndTxnRequest(transactional_id="x", producer_id=70, producer_epoch=3, committed=True)
    response = apis.handle("end_txn", body, 5)
    assert (response.error_code, response.producer_id, response.producer_epoch) == (0, *NEXT)
    assert apis.coordinator.ended == [("x", PRODUCER, True, "bumped")]
    apis.coordinator.error = Errors.PRODUCER_FENCED
    response = apis.handle("end_txn", body, 5)
    assert (response.error_code, response.producer_id) == (Errors.PRODUCER_FENCED.code, -1)
    apis.handle("end_txn", body, 4)
    assert apis.coordinator.ended[-1] == ("x", PRODUCER, True)
