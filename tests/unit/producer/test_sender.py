"""The sender's turns, over a selector without sockets."""

from __future__ import annotations

import random
from typing import cast

import pytest

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.record_accumulator import ProducerClosedError, RecordAccumulator
from kafka_lite.producer.sender import Sender
from kafka_lite.producer.transaction_errors import TransactionAbortedError
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transaction_state import State
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.messages.api_00_produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdResponse
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest, EndTxnResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.records import batches
from tests.support.mock_selector import MockSelector

NODE = Node(0, "localhost", 9092)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
CLUSTER = Cluster((NODE,), (PartitionInfo("t", 0, NODE), PartitionInfo("t", 1, NODE)))
TODAY = {
    ApiKey.PRODUCE: (0, 9), ApiKey.METADATA: (0, 9), ApiKey.API_VERSIONS: (0, 3), ApiKey.INIT_PRODUCER_ID: (0, 4),
    ApiKey.FIND_COORDINATOR: (0, 3), ApiKey.ADD_PARTITIONS_TO_TXN: (0, 3), ApiKey.END_TXN: (0, 3),
}  # fmt: skip
KAFKA_0_10_2 = {ApiKey.PRODUCE: (0, 2), ApiKey.METADATA: (0, 2), ApiKey.API_VERSIONS: (0, 0)}


class Producer:
    """A sender with its collaborators, and a broker played by the test."""

    def __init__(
        self,
        versions: dict[ApiKey, tuple[int, int]] = TODAY,
        *,
        acks: int = -1,
        retries: int = 3,
        in_order: bool = False,
        idempotence: TransactionManager | None = None,
        codec: CompressionType = CompressionType.NONE,
    ) -> None:
        self.time = MockTime()
        self.selector = MockSelector(self.time)
        self.metadata = Metadata(100, time=self.time)
        self.metadata.update(CLUSTER, 0)
        self.manager = idempotence
        self.api_versions = ApiVersions()
        self.pool = BufferPool(100_000, 1000, self.time)
        self.accumulator = RecordAccumulator(
            1000, codec, 0, 10, 3000, self.pool, transaction_manager=idempotence, time=self.time,
            max_usable_magic=lambda: self.api_versions.max_usable_produce_magic,
        )  # fmt: skip
        client = NetworkClient(
            self.selector, self.metadata, "me", request_timeout_ms=500, time=self.time,  # type: ignore[arg-type]
            api_versions=self.api_versions, random_source=random.Random(1),
        )  # fmt: skip
        self.sender = Sender(
            "sender", client, self.metadata, self.accumulator, acks=acks, retries=retries,
            max_request_size_bytes=10_000, request_timeout_ms=500, retry_backoff_ms=10, delivery_timeout_ms=3000,
            guarantee_message_order=in_order, api_versions=self.api_versions, compression=codec,
            transaction_manager=idempotence, time=self.time,
        )  # fmt: skip
        self.seen = 0
        self._connect(versions)

    def _connect(self, versions: dict[ApiKey, tuple[int, int]]) -> None:
        self.sender._client.ready(NODE, 0)
        self.sender._client.poll(0, 0)
        self.sender._client.poll(0, 0)
        header, _ = self.next_request()
        keys = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in versions.items()]
        self.answer(header, ApiVersionsResponse(api_keys=keys))
        self.sender._client.poll(0, 0)

    def send(self, value: bytes = b"v", partition: TopicPartition = T0) -> FutureRecordMetadata:
        return self.accumulator.append(partition, (1000, None, value, (), None), 0).future

    def turn(self, count: int = 1) -> None:
        for _ in range(count):
            self.sender.run_once()

    def turn_without_waiting(self) -> None:
        """The first half of a turn. The second would wait for a response until the timeout."""
        self.sender._send_producer_data(self.time.hi_res_ms())

    def next_request(self) -> tuple[RequestHeader, Request]:
        """The oldest request that was not read yet."""
        send = self.selector.sent[self.seen]
        self.seen += 1
        return decode_request(b"".join(bytes(part) for part in send._parts)[4:])  # type: ignore[arg-type]

    def next_of(self, key: ApiKey) -> tuple[RequestHeader, Request]:
        """Turn until a request is sent, which must be of this API."""
        for _ in range(20):
            if len(self.selector.sent) > self.seen:
                header, request = self.next_request()
                assert header.api_key == key
                return header, request
            self.turn()
        raise AssertionError("no request was sent")

    def next_produce(self) -> tuple[RequestHeader, ProduceRequest]:
        header, request = self.next_of(ApiKey.PRODUCE)
        return header, cast(ProduceRequest, request)

    def answer(self, header: RequestHeader, response: Response) -> None:
        self.selector.answer("0", header.correlation_id, response, header.api_version)

    def answer_produce(self, header: RequestHeader, *outcomes: PartitionProduceResponse) -> None:
        topic = TopicProduceResponse(name="t", partition_responses=list(outcomes))
        self.answer(header, ProduceResponse(responses=[topic]))
        self.turn()

    @property
    def has_nothing_left(self) -> bool:
        return not self.accumulator.has_incomplete and self.pool.available_memory == self.pool.total_memory


def outcome(offset: int = 0, error: Errors = Errors.NONE, index: int = 0) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=error.code, base_offset=offset)


def values(request: ProduceRequest) -> dict[int, list[bytes | None]]:
    return {
        data.index: [record.value for batch in batches(data.records) for record in batch.records()]  # type: ignore[arg-type]
        for topic in request.topic_data
        for data in topic.partition_data
    }


def ready_manager() -> TransactionManager:
    manager = TransactionManager()
    manager.initializing()
    manager.initialized(7, 0)
    return manager


def test_one_request_for_all_partitions_of_a_broker() -> None:
    producer = Producer()
    futures = [producer.send(b"a"), producer.send(b"b"), producer.send(b"c", T1)]
    header, request = producer.next_produce()
    assert values(request) == {0: [b"a", b"b"], 1: [b"c"]}
    assert (request.acks, request.timeout_ms) == (-1, 500)
    producer.answer_produce(header, outcome(40), outcome(7, index=1))
    assert [future.get(0).offset for future in futures] == [40, 41, 7]
    assert producer.has_nothing_left


def test_without_acks_a_batch_completes_once_sent() -> None:
    producer = Producer(acks=0)
    future = producer.send()
    producer.next_produce()
    producer.turn()
    assert future.get(0).offset == -1
    assert producer.has_nothing_left


def test_a_retriable_error_is_retried_and_metadata_refreshed() -> None:
    producer = Producer()
    future = producer.send()
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(error=Errors.NOT_LEADER_OR_FOLLOWER))
    assert not future.done()
    assert producer.metadata.update_requested
    producer.metadata.update(CLUSTER, producer.time.hi_res_ms())
    producer.time.sleep(20)
    header, request = producer.next_produce()
    assert values(request) == {0: [b"v"]}
    producer.answer_produce(header, outcome(3))
    assert future.get(0).offset == 3


def test_retries_are_limited() -> None:
    producer = Producer(retries=2)
    future = producer.send()
    for _ in range(3):
        header, _ = producer.next_produce()
        producer.answer_produce(header, outcome(error=Errors.NOT_ENOUGH_REPLICAS))
        producer.time.sleep(20)
    with pytest.raises(ApiError, match=r"t-0: Fewer replicas"):
        future.get(0)
    assert producer.has_nothing_left


def test_a_fatal_error_fails_the_batch() -> None:
    producer = Producer()
    future = producer.send()
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(error=Errors.TOPIC_AUTHORIZATION_FAILED))
    error = future.exception(0)
    assert isinstance(error, ApiError)
    assert error.error is Errors.TOPIC_AUTHORIZATION_FAILED
    assert producer.has_nothing_left


def test_a_batch_without_a_number_is_no_duplicate() -> None:
    producer = Producer()
    future = producer.send()
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(error=Errors.DUPLICATE_SEQUENCE_NUMBER))
    assert isinstance(future.exception(0), ApiError)


def test_a_topic_without_a_leader_is_of_interest_again() -> None:
    producer = Producer()
    producer.send(partition=TopicPartition("forgotten", 0))
    producer.turn_without_waiting()
    assert "forgotten" in producer.metadata.topics()
    assert producer.metadata.update_requested


def test_refused_records_and_the_rest_of_their_batch_fail() -> None:
    producer = Producer()
    futures = [producer.send(b"%d" % number) for number in range(3)]
    header, _ = producer.next_produce()
    bad = outcome(error=Errors.INVALID_RECORD)
    bad.record_errors = [BatchIndexAndErrorMessage(batch_index=1, batch_index_error_message="lacks a key")]
    producer.answer_produce(header, bad)
    assert [str(future.exception(0)) for future in futures] == [
        "t-0: the batch was rejected because of the records at [1]",
        "lacks a key",
        "t-0: the batch was rejected because of the records at [1]",
    ]


def test_a_response_without_a_partition_fails_its_batch() -> None:
    producer = Producer()
    futures = [producer.send(), producer.send(partition=T1)]
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(5))
    assert futures[0].get(0).offset == 5
    assert "does not contain the partition" in str(futures[1].exception(0))
    assert producer.has_nothing_left


def test_a_lost_connection_is_retried() -> None:
    producer = Producer()
    future = producer.send()
    producer.next_produce()
    producer.selector.lose("0")
    producer.turn()
    assert not future.done()
    assert producer.accumulator.has_undrained


def test_one_request_in_flight_keeps_the_order() -> None:
    producer = Producer(in_order=True)
    producer.send(b"1" * 900)
    header, _ = producer.next_produce()
    producer.send(b"2" * 900)
    assert producer.accumulator.ready(CLUSTER, producer.time.hi_res_ms()).ready_nodes == set()
    producer.answer_produce(header, outcome())
    assert values(producer.next_produce()[1]) == {0: [b"2" * 900]}


def test_a_batch_that_is_too_large_is_split() -> None:
    producer = Producer()
    futures = [producer.send(b"%d" % number * 400) for number in range(2)]
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(error=Errors.MESSAGE_TOO_LARGE))
    for number in range(2):
        header, request = producer.next_produce()
        assert values(request) == {0: [b"%d" % number * 400]}
        producer.answer_produce(header, outcome(10 + number))
    assert [future.get(0).offset for future in futures] == [10, 11]
    assert producer.has_nothing_left


def test_one_record_that_is_too_large_cannot_be_split() -> None:
    producer = Producer()
    future = producer.send(b"x" * 5000)
    header, _ = producer.next_produce()
    producer.answer_produce(header, outcome(error=Errors.MESSAGE_TOO_LARGE))
    assert isinstance(future.exception(0), ApiError)
    assert producer.has_nothing_left


def test_a_batch_expires_in_the_accumulator() -> None:
    producer = Producer()
    producer.selector.lose("0")
    producer.selector.refuse_connections = True
    producer.turn()
    future = producer.send()
    for _ in range(100):
        producer.turn()
        producer.time.sleep(100)
        if future.done():
            break
    assert "Expiring 1 record(s) for t-0" in str(future.exception(0))
    assert producer.has_nothing_left


def test_a_batch_that_expires_in_flight_keeps_its_memory_until_the_response() -> None:
    producer = Producer()
    producer.sender._client._request_timeout_ms = 100_000
    future = producer.send()
    header, _ = producer.next_produce()
    producer.time.sleep(3001)
    producer.turn_without_waiting()
    assert "Expiring" in str(future.exception(0))
    assert not producer.has_nothing_left
    producer.answer_produce(header, outcome(9))
    assert producer.has_nothing_left
    assert "Expiring" in str(future.exception(0)), "the response comes too late to change that"


def test_waiting_for_an_expired_batchs_response_does_not_spin() -> None:
    producer = Producer()
    producer.sender._client._request_timeout_ms = 100_000
    producer.send()
    producer.next_produce()
    producer.time.sleep(3001)
    before_ms = producer.time.hi_res_ms()
    producer.turn()
    assert producer.time.hi_res_ms() > before_ms, "a batch that was given up is not due any more"


def test_brokers_of_0_10_get_message_format_v1() -> None:
    producer = Producer(KAFKA_0_10_2)
    future = producer.send()
    header, request = producer.next_produce()
    assert header.api_version == 2
    (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
    assert batch.magic == 1
    producer.answer_produce(header, outcome(1))
    assert future.get(0).offset == 1


def test_a_batch_started_before_the_broker_is_known_is_converted() -> None:
    producer = Producer(KAFKA_0_10_2)
    producer.api_versions._max_usable_produce_magic = 2
    producer.send()
    producer.api_versions._recompute()
    _, request = producer.next_produce()
    (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
    assert batch.magic == 1


def test_zstd_needs_a_broker_that_supports_it() -> None:
    producer = Producer(KAFKA_0_10_2 | {ApiKey.PRODUCE: (0, 5)}, codec=CompressionType.ZSTD)
    future = producer.send()
    producer.turn(5)
    assert "PRODUCE" in str(future.exception(0))
    assert producer.has_nothing_left


def test_closing_wakes_up_threads_waiting_for_metadata() -> None:
    producer = Producer()
    producer.sender.force_close()
    producer.sender.on_exit()
    with pytest.raises(ProducerClosedError):
        producer.metadata.await_update(producer.metadata.request_update(), 60_000)


class TestIdempotence:
    def test_the_producer_id_is_requested_first(self) -> None:
        producer = Producer(idempotence=TransactionManager())
        future = producer.send()
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(producer_id=7, producer_epoch=0))
        producer.turn()
        header, request = producer.next_produce()
        (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
        assert (batch.producer_id, batch.base_sequence) == (7, 0)
        producer.answer_produce(header, outcome(4))
        assert future.get(0).offset == 4

    def test_an_unavailable_coordinator_is_asked_again(self) -> None:
        producer = Producer(idempotence=TransactionManager())
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(error_code=Errors.COORDINATOR_LOAD_IN_PROGRESS.code))
        producer.turn()
        before_ms = producer.time.hi_res_ms()
        producer.next_of(ApiKey.INIT_PRODUCER_ID)
        assert producer.time.hi_res_ms() - before_ms == 10, "after the backoff"

    def test_a_fatal_error_fails_every_record(self) -> None:
        producer = Producer(idempotence=TransactionManager())
        future = producer.send()
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED.code))
        producer.turn(2)
        assert "no producer id" in str(future.exception(0))
        assert producer.has_nothing_left

    def test_brokers_without_ids(self) -> None:
        manager = TransactionManager(explicitly_enabled=False)
        producer = Producer(KAFKA_0_10_2, idempotence=manager)
        future = producer.send()
        header, _ = producer.next_produce()
        assert manager.state is State.DISABLED
        producer.answer_produce(header, outcome(2))
        assert future.get(0).offset == 2

    def test_a_retried_batch_keeps_its_sequence_number(self) -> None:
        producer = Producer(idempotence=ready_manager())
        future = producer.send()
        first, _ = producer.next_produce()
        producer.answer_produce(first, outcome(error=Errors.REQUEST_TIMED_OUT))
        producer.time.sleep(20)
        header, request = producer.next_produce()
        (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
        assert (batch.producer_id, batch.base_sequence) == (7, 0)
        producer.answer_produce(header, outcome(error=Errors.DUPLICATE_SEQUENCE_NUMBER, offset=-1))
        assert future.get(0).offset == -1, "it is stored, but its offset is unknown"

    def test_data_loss_of_the_broker_resets_the_producer_id(self) -> None:
        manager = ready_manager()
        producer = Producer(idempotence=manager)
        producer.send()
        header, _ = producer.next_produce()
        producer.answer_produce(header, outcome(0))
        future = producer.send(b"again")
        header, _ = producer.next_produce()
        producer.answer_produce(header, outcome(error=Errors.OUT_OF_ORDER_SEQUENCE_NUMBER))
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(producer_id=8, producer_epoch=0))
        producer.time.sleep(20)
        header, request = producer.next_produce()
        (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
        assert (batch.producer_id, batch.base_sequence) == (8, 0)
        batch.ensure_valid()
        producer.answer_produce(header, outcome(1))
        assert future.get(0).offset == 1

    def test_batches_after_one_given_up_are_retried_under_their_numbers(self) -> None:
        """The leader may have appended both; under another number, the second would be stored twice."""
        producer = Producer(idempotence=ready_manager())
        producer.sender._client._request_timeout_ms = 100_000
        producer.send()
        header, _ = producer.next_produce()
        producer.answer_produce(header, outcome(0))
        given_up = producer.send(b"given up")
        first, _ = producer.next_produce()
        producer.time.sleep(2000)
        producer.send(b"follows")
        second, _ = producer.next_produce()
        producer.time.sleep(1001)
        producer.turn_without_waiting()
        assert "Expiring" in str(given_up.exception(0))
        producer.answer_produce(first, outcome(error=Errors.REQUEST_TIMED_OUT))
        producer.answer_produce(second, outcome(error=Errors.REQUEST_TIMED_OUT))
        producer.time.sleep(20)
        _, request = producer.next_produce()
        (again,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
        assert [record.value for record in again.records()] == [b"follows"]
        assert (again.producer_id, again.base_sequence) == (7, 2)


class TestTransactions:
    def test_a_transaction_from_begin_to_commit(self) -> None:
        producer, manager = self.begun()
        future = producer.send()
        manager.maybe_add_partition(T0)
        call = manager.begin_commit()
        self.add_partitions(producer)
        header, request = producer.next_produce()
        assert request.transactional_id == "id"
        (batch,) = batches(request.topic_data[0].partition_data[0].records)  # type: ignore[arg-type]
        assert batch.is_transactional
        assert (batch.producer_id, batch.base_sequence) == (7, 0)
        batch.ensure_valid()
        producer.answer_produce(header, outcome(4))
        self.end(producer, committed=True)
        assert call.is_completed
        assert future.get(0).offset == 4
        assert manager.state is State.READY

    def test_an_abort_fails_what_was_not_sent(self) -> None:
        producer, manager = self.begun()
        future = producer.send()
        manager.maybe_add_partition(T0)
        call = manager.begin_abort()
        producer.turn()
        assert isinstance(future.exception(0), TransactionAbortedError)
        assert call.is_completed, "the coordinator knows of no transaction"
        assert producer.has_nothing_left

    def test_a_refused_batch_fails_the_commit_and_its_successors(self) -> None:
        producer, manager = self.begun()
        refused = producer.send()
        manager.maybe_add_partition(T0)
        self.add_partitions(producer)
        header, _ = producer.next_produce()
        waiting = producer.send(b"2", T1)
        call = manager.begin_commit()
        producer.answer_produce(header, outcome(error=Errors.TOPIC_AUTHORIZATION_FAILED))
        producer.turn(2)
        for error in (call.error, refused.exception(0), waiting.exception(0)):
            assert isinstance(error, ApiError)
            assert error.error is Errors.TOPIC_AUTHORIZATION_FAILED
        manager.abort_on_close()
        self.end(producer, committed=False)
        header, request = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        assert (request.producer_id, request.producer_epoch) == (7, 0)  # type: ignore[attr-defined]
        producer.answer(header, InitProducerIdResponse(producer_id=7, producer_epoch=1))
        producer.turn()
        assert (manager.state, manager.producer_epoch) == (State.READY, 1)

    def test_a_lost_coordinator_is_looked_up_again(self) -> None:
        manager = TransactionManager(transactional_id="id")
        producer = Producer(idempotence=manager)
        call = manager.initialize_transactions()
        self.find_coordinator(producer)
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        before_ms = producer.time.hi_res_ms()
        producer.answer(header, InitProducerIdResponse(error_code=Errors.NOT_COORDINATOR.code))
        self.find_coordinator(producer)
        assert producer.time.hi_res_ms() - before_ms == 10, "after the backoff"
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(producer_id=7, producer_epoch=0))
        producer.turn()
        assert call.is_completed

    def test_closing_by_force_fails_the_call_in_progress(self) -> None:
        manager = TransactionManager(transactional_id="id")
        producer = Producer(idempotence=manager)
        call = manager.initialize_transactions()
        producer.sender.force_close()
        producer.sender.on_exit()
        with pytest.raises(ProducerClosedError):
            call.wait(0)

    def test_brokers_without_transactions_fail_the_call(self) -> None:
        manager = TransactionManager(transactional_id="id")
        producer = Producer(KAFKA_0_10_2 | {ApiKey.FIND_COORDINATOR: (0, 0)}, idempotence=manager)
        call = manager.initialize_transactions()
        producer.turn(2)
        assert isinstance(call.error, ApiError)
        assert call.error.error is Errors.UNSUPPORTED_VERSION
        assert manager.state is State.FATAL_ERROR

    def begun(self) -> tuple[Producer, TransactionManager]:
        """A producer in a transaction without partitions."""
        manager = TransactionManager(transactional_id="id")
        producer = Producer(idempotence=manager)
        call = manager.initialize_transactions()
        self.find_coordinator(producer)
        header, _ = producer.next_of(ApiKey.INIT_PRODUCER_ID)
        producer.answer(header, InitProducerIdResponse(producer_id=7, producer_epoch=0))
        producer.turn()
        call.wait(0)
        manager.begin_transaction()
        return producer, manager

    def find_coordinator(self, producer: Producer) -> None:
        header, _ = producer.next_of(ApiKey.FIND_COORDINATOR)
        producer.answer(header, FindCoordinatorResponse(node_id=0, host="localhost", port=9092))
        producer.turn()

    def add_partitions(self, producer: Producer) -> None:
        header, _ = producer.next_of(ApiKey.ADD_PARTITIONS_TO_TXN)
        added = AddPartitionsToTxnTopicResult(
            name="t", results_by_partition=[AddPartitionsToTxnPartitionResult(partition_index=0)]
        )
        producer.answer(header, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[added]))
        producer.turn()

    def end(self, producer: Producer, *, committed: bool) -> None:
        header, request = producer.next_of(ApiKey.END_TXN)
        assert cast(EndTxnRequest, request).committed is committed
        producer.answer(header, EndTxnResponse())
        producer.turn()
