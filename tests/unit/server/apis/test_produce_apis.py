"""Which records Produce refuses before the log sees them, and what becomes of transactions that cannot be verified."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.apis.leader_hints import UNKNOWN_LEADER, LeaderNode
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation

TP, TP1 = TopicPartition("t", 0), TopicPartition("t", 1)
PRODUCER = ProducerIdAndEpoch(70, 3)
GUARD = object()


def records(magic: int = 2, **fields: Any) -> bytes:
    builder = MemoryRecordsBuilder(magic, **fields)
    builder.append(1, b"k", b"v")
    return builder.build()


def with_length(length: int) -> bytes:
    """A batch that says that it has this length."""
    batch = records()
    return batch[:8] + length.to_bytes(4, "big") + batch[12:]


def transactional(producer: ProducerIdAndEpoch = PRODUCER, sequence: int = 5) -> bytes:
    return records(
        producer_id=producer.producer_id, producer_epoch=producer.epoch, base_sequence=sequence, is_transactional=True
    )


class Logs:
    """A replica manager that appends everything at offset 9, or in which everything fails."""

    def __init__(self) -> None:
        self.appended: dict[TopicPartition, bytes] = {}
        self.arguments: tuple[Any, ...] = ()
        self.internal_allowed = False
        self.error = Errors.NONE
        self.record_errors: list[tuple[int, str]] = []
        self.unknown: set[TopicPartition] = set()

    def get_partition(self, partition: TopicPartition) -> object | None:
        return None if partition in self.unknown else self

    def append_records(
        self, _timeout_ms: int, _acks: int, internal: bool, entries: Mapping[TopicPartition, Any], respond: Any,
        *arguments: Any,
    ) -> None:  # fmt: skip
        self.appended = {tp: bytes(each) for tp, each in entries.items()}
        self.internal_allowed, self.arguments = internal, arguments
        responses = {tp: PartitionResponse(self.error, 9, error_message="a record is invalid") for tp in entries}
        for response in responses.values():
            response.record_errors = self.record_errors
        respond(responses)


class Verification:
    """Knows which partitions are not part of the transaction."""

    def __init__(self) -> None:
        self.errors: dict[TopicPartition, Errors] = {}
        self.asked: list[Any] = []

    def verify(self, name: str, producer: ProducerIdAndEpoch, sequences: Any, operation: Any, respond: Any) -> None:
        self.asked.append((name, producer, dict(sequences), operation))
        respond(self.errors, {tp: GUARD for tp in sequences if tp not in self.errors})


class Apis:
    def __init__(self) -> None:
        self.logs, self.verification = Logs(), Verification()
        self.closed: list[Any] = []
        self.responses: list[Any] = []
        self.apis = ProduceApis(
            cast(Any, self.logs), self.closed.append, cast(Any, self.verification), lambda *_: self.leader
        )
        self.leader = UNKNOWN_LEADER

    def produce(
        self, *batches: Any, version: int = 9, acks: int = 1, transactional_id: str | None = None, client: str = "c"
    ) -> list[Errors]:
        """The errors of the partitions; none without a response."""
        data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(batches)]
        body = ProduceRequest(
            transactional_id=transactional_id,
            acks=acks,
            topic_data=[TopicProduceData(name="t", partition_data=data)],
        )
        header = SimpleNamespace(api_version=version, client_id=client)
        request = SimpleNamespace(header=header, connection_id="connection", listener_name="PLAINTEXT")
        self.apis.handle_produce(cast(Any, request), body, self.responses.append)
        if not self.responses or self.responses[-1] is None:
            return []
        (topic,) = self.responses[-1].responses
        assert [each.index for each in topic.partition_responses] == list(range(len(batches)))
        return [Errors.for_code(each.error_code) for each in topic.partition_responses]


@pytest.fixture
def apis() -> Apis:
    return Apis()


@pytest.mark.parametrize(
    ("version", "batch", "error"),
    [
        (2, records(1), Errors.NONE),
        (3, records(1), Errors.INVALID_RECORD),
        (3, records(), Errors.NONE),
        (3, None, Errors.INVALID_RECORD),
        (2, None, Errors.CORRUPT_MESSAGE),
        (3, b"", Errors.INVALID_RECORD),
        (3, records()[:30], Errors.INVALID_RECORD),
        (3, with_length(5), Errors.CORRUPT_MESSAGE),
        (3, records() + records(), Errors.INVALID_RECORD),
        (3, records() + b"x", Errors.INVALID_RECORD),
        (3, records(base_offset=1), Errors.INVALID_RECORD),
        (3, records(compression=CompressionType.LZ4), Errors.NONE),
        (6, records(compression=CompressionType.ZSTD), Errors.UNSUPPORTED_COMPRESSION_TYPE),
        (7, records(compression=CompressionType.ZSTD), Errors.NONE),
        (
            7,
            records(compression=CompressionType.ZSTD, is_control=True, producer_id=1, producer_epoch=0),
            Errors.INVALID_RECORD,
        ),
        (7, transactional(), Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (7, records(is_control=True, producer_id=1, producer_epoch=0), Errors.INVALID_RECORD),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value),
)
def test_refused_records_do_not_reach_the_log_and_the_others_do(
    apis: Apis, version: int, batch: Any, error: Errors
) -> None:
    good = records(1 if version < 3 else 2)
    assert apis.produce(batch, good, version=version) == [error, Errors.NONE]
    assert apis.logs.appended == ({TP: batch, TP1: good} if error is Errors.NONE else {TP1: good})


@pytest.mark.parametrize("transactional_id", [None, "x"])
def test_that_a_partition_is_unknown_is_said_before_what_is_wrong_with_its_records(
    apis: Apis, transactional_id: str | None
) -> None:
    apis.logs.unknown = {TP}
    assert apis.produce(b"", version=7, transactional_id=transactional_id) == [Errors.UNKNOWN_TOPIC_OR_PARTITION]
    assert not apis.logs.appended


def test_a_control_batch_is_refused_in_a_transaction_too(apis: Apis) -> None:
    batch = records(is_control=True, is_transactional=True, producer_id=1, producer_epoch=0)
    assert apis.produce(batch, transactional_id="x") == [Errors.INVALID_RECORD]
    assert not apis.logs.appended


@pytest.mark.parametrize(("client", "allowed"), [("__admin_client", True), ("c", False)])
def test_only_the_admin_client_may_write_to_internal_topics(apis: Apis, client: str, allowed: bool) -> None:
    apis.produce(records(), client=client)
    assert apis.logs.internal_allowed is allowed


@pytest.mark.parametrize(("error", "closed"), [(Errors.NONE, 0), (Errors.NOT_LEADER_OR_FOLLOWER, 1)])
def test_without_acks_an_error_closes_the_connection(apis: Apis, error: Errors, closed: int) -> None:
    apis.logs.error = error
    apis.produce(records(), acks=0)
    assert (len(apis.closed), apis.responses) == (closed, [] if closed else [None])


@pytest.mark.parametrize(
    ("version", "error", "told"),
    [
        (3, Errors.KAFKA_STORAGE_ERROR, Errors.NOT_LEADER_OR_FOLLOWER),
        (4, Errors.KAFKA_STORAGE_ERROR, Errors.KAFKA_STORAGE_ERROR),
    ],
)
def test_old_clients_get_errors_that_they_know(apis: Apis, version: int, error: Errors, told: Errors) -> None:
    apis.logs.error = error
    assert apis.produce(records(), version=version) == [told]


def test_a_refused_batch_names_its_records(apis: Apis) -> None:
    apis.logs.error, apis.logs.record_errors = Errors.INVALID_RECORD, [(3, "no key")]
    apis.produce(records())
    (result,) = apis.responses[0].responses[0].partition_responses
    assert result.error_message == "a record is invalid"
    assert [(each.batch_index, each.batch_index_error_message) for each in result.record_errors] == [(3, "no key")]


def test_a_topic_that_is_named_twice_has_one_result_for_each_partition(apis: Apis) -> None:
    topics = [
        TopicProduceData(name="t", partition_data=[PartitionProduceData(index=index, records=records())])
        for index in (0, 1)
    ]
    request = SimpleNamespace(header=SimpleNamespace(api_version=9, client_id="c"), connection_id="connection")
    apis.apis.handle_produce(cast(Any, request), ProduceRequest(acks=1, topic_data=topics), apis.responses.append)
    (topic,) = apis.responses[0].responses
    assert [(each.index, each.base_offset) for each in topic.partition_responses] == [(0, 9), (1, 9)]


# -- transactions


@pytest.mark.parametrize(
    ("version", "operation"),
    [
        (10, TransactionSupportedOperation.DEFAULT_ERROR),
        (11, TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED),
        (12, TransactionSupportedOperation.ADD_PARTITION),
    ],
)
def test_the_batches_of_a_transaction_are_verified_and_appended_with_guards(
    apis: Apis, version: int, operation: TransactionSupportedOperation
) -> None:
    batch = transactional(sequence=6)
    assert apis.produce(batch, records(), version=version, transactional_id="x") == [Errors.NONE] * 2
    assert apis.verification.asked == [("x", PRODUCER, {TP: 6}, operation)]
    assert apis.logs.arguments == (AppendOrigin.CLIENT, {TP: GUARD})
    assert apis.logs.appended == {TP: batch, TP1: records()}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Errors.INVALID_TXN_STATE, Errors.INVALID_TXN_STATE),
        (Errors.TRANSACTION_ABORTABLE, Errors.TRANSACTION_ABORTABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_LEADER_OR_FOLLOWER),
        (Errors.CONCURRENT_TRANSACTIONS, Errors.NOT_ENOUGH_REPLICAS),
        (Errors.NETWORK_EXCEPTION, Errors.NOT_ENOUGH_REPLICAS),
        (Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.NOT_ENOUGH_REPLICAS),
        (Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_ENOUGH_REPLICAS),
        (Errors.NOT_COORDINATOR, Errors.NOT_ENOUGH_REPLICAS),
    ],
)
def test_a_batch_that_is_not_verified_is_not_appended(apis: Apis, error: Errors, told: Errors) -> None:
    apis.verification.errors = {TP: error}
    assert apis.produce(transactional(), transactional(), transactional_id="x") == [told, Errors.NONE]
    assert list(apis.logs.appended) == [TP1]
    apis.logs.appended.clear()
    assert apis.produce(transactional(), transactional_id="x") == [told]
    assert not apis.logs.appended


def test_a_producer_whose_partitions_are_added_for_it_learns_that_its_last_transaction_has_not_ended(
    apis: Apis,
) -> None:
    apis.verification.errors = {TP: Errors.CONCURRENT_TRANSACTIONS}
    assert apis.produce(transactional(), version=12, transactional_id="x") == [Errors.CONCURRENT_TRANSACTIONS]


def test_batches_of_two_producers_are_not_one_transaction(apis: Apis) -> None:
    other = ProducerIdAndEpoch(PRODUCER.producer_id, PRODUCER.epoch + 1)
    answer = apis.produce(transactional(), transactional(other), transactional_id="x")
    assert answer == [Errors.INVALID_PRODUCER_ID_MAPPING] * 2
    assert (apis.verification.asked, apis.logs.appended) == ([], {})


def test_there_is_nothing_to_verify_in_batches_without_a_transaction(apis: Apis) -> None:
    idempotent = records(producer_id=5, producer_epoch=0, base_sequence=0)
    batches = [records(), records(is_transactional=True), idempotent]
    assert apis.produce(*batches, transactional_id="x") == [Errors.NONE] * 3
    assert apis.verification.asked == []


def test_a_waiting_transaction_does_not_keep_its_records(apis: Apis) -> None:
    data = PartitionProduceData(index=0, records=transactional())
    body = ProduceRequest(transactional_id="x", acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[data])])
    request = SimpleNamespace(header=SimpleNamespace(api_version=9, client_id="c"), connection_id="connection")
    apis.apis.handle_produce(cast(Any, request), body, apis.responses.append)
    assert data.records is None


@pytest.mark.parametrize(
    ("version", "error", "named"),
    [
        (10, Errors.NOT_LEADER_OR_FOLLOWER, True),
        (9, Errors.NOT_LEADER_OR_FOLLOWER, False),
        (10, Errors.NOT_ENOUGH_REPLICAS, False),
    ],
)
def test_who_leads_is_told_to_a_client_that_asks_the_wrong_broker(
    apis: Apis, version: int, error: Errors, named: bool
) -> None:
    apis.leader = LeaderNode(3, 7, Node(3, "host3", 9093, "r"))
    apis.logs.error = error
    assert apis.produce(records(), records(), version=version) == [error, error]
    response = apis.responses[-1]
    leaders = [each.current_leader for each in response.responses[0].partition_responses]
    assert [(each.leader_id, each.leader_epoch) for each in leaders] == [(3, 7) if named else (-1, -1)] * 2
    nodes = [(each.node_id, each.host, each.port, each.rack) for each in response.node_endpoints]
    assert nodes == ([(3, "host3", 9093, "r")] if named else [])
    response.encode(version)


def test_a_leader_without_an_address_is_named_all_the_same(apis: Apis) -> None:
    apis.leader, apis.logs.error = LeaderNode(3, 7, None), Errors.NOT_LEADER_OR_FOLLOWER
    apis.produce(records(), version=10)
    assert apis.responses[-1].responses[0].partition_responses[0].current_leader.leader_id == 3
    assert apis.responses[-1].node_endpoints == []
