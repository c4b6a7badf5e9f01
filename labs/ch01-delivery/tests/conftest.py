"""A sender over a network that the test plays: what the leader appends, and which requests and responses get lost."""

from collections import deque

import pytest

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.client_request import ClientRequest, ClientResponse
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.sender import Sender, outcome_of
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.protocol.messages.api_00_produce import ProduceResponse, TopicProduceResponse
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.records import batches

LEADER = Node(0, "leader", 9092)
CLUSTER = Cluster((LEADER,), tuple(PartitionInfo("orders", number, LEADER) for number in range(2)))
BACKOFF_MS, DELIVERY_TIMEOUT_MS, MEMORY, BATCH_SIZE = 10, 1000, 100_000, 500
LOST, UNANSWERED = "the request is lost", "the response is lost"


class Leader:
    """The logs of the partitions. Like a broker it appends a numbered batch once, and only after the one before it."""

    def __init__(self):
        self.logs = {}
        self._next_sequences = {}

    def append(self, partition, data):
        log = self.logs.setdefault(partition, [])
        (batch,) = batches(data)
        expected = self._next_sequences.get(partition, 0)
        if batch.base_sequence >= 0 and batch.base_sequence > expected:
            return outcome_of(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
        outcome = outcome_of(Errors.NONE)
        if batch.base_sequence < 0 or batch.base_sequence == expected:
            outcome.base_offset = len(log)
            log += [int(record.value[:3]) for record in batch.records()]
            self._next_sequences[partition] = expected + batch.record_count
        return outcome


class Network:
    """The sender's client. ``faults``: what happens to the next requests, LOST, UNANSWERED, or an error code."""

    def __init__(self, time, in_flight):
        self.leader, self.faults, self.requests = Leader(), deque(), deque()
        self.is_slow = False
        """While it is, requests do not arrive."""
        self._time, self._in_flight = time, in_flight

    def ready(self, _node, _now_ms):
        return len(self.requests) < self._in_flight

    def connection_delay_ms(self, _node, _now_ms):
        return 1

    def least_loaded_node(self, _now_ms):
        """None: nobody gives out a new producer id."""

    def in_flight_request_count(self):
        return len(self.requests)

    def new_client_request(self, node, builder, now_ms, expect_response, callback):
        return ClientRequest(node, builder, 1, "shop", now_ms, expect_response, callback)

    def send(self, request, now_ms):
        self.requests.append(request)
        if not request.expect_response:
            self._complete(request, now_ms)

    def poll(self, timeout_ms, now_ms):
        if self.requests and not self.is_slow:
            self._arrive(self.requests.popleft(), now_ms)
        else:
            self._time.sleep(min(timeout_ms, BACKOFF_MS))

    def _arrive(self, request, now_ms):
        fault = self.faults.popleft() if self.faults else None
        if fault is LOST:
            response = None
        else:
            response = ProduceResponse()
            for topic in request.builder.build(9).topic_data:
                outcomes = [self._outcome(topic.name, each, fault) for each in topic.partition_data]
                response.responses.append(TopicProduceResponse(name=topic.name, partition_responses=outcomes))
        if request.expect_response:
            self._complete(request, now_ms, None if fault is UNANSWERED else response)

    def _outcome(self, topic, data, fault):
        if isinstance(fault, Errors):
            outcome = outcome_of(fault)
        else:
            outcome = self.leader.append(TopicPartition(topic, data.index), data.records)
        outcome.index = data.index
        return outcome

    def _complete(self, request, now_ms, response=None):
        lost = request.expect_response and response is None
        request.callback(ClientResponse(
            request.builder.api_key, 9, 1, request.destination, request.created_time_ms, now_ms, lost, None, response
        ))  # fmt: skip


class Noted:
    """The sender's metrics: what was counted, in order."""

    def __init__(self):
        self.found = []

    def __getattr__(self, name):
        return lambda *numbers: self.found.append((name, *numbers))

    def of(self, *names):
        return [each for each in self.found if each[0] in names]


class Shop:
    """A producer without threads: its records are numbers, and ``turn`` is one turn of the sender."""

    def __init__(self, acks=-1, retries=3, in_flight=5, idempotent=False):
        self.time, self.noted = MockTime(), Noted()
        self.network = Network(self.time, in_flight)
        self.leader, self.faults = self.network.leader, self.network.faults
        self.pool = BufferPool(MEMORY, BATCH_SIZE, self.time)
        self.transactions = self._numbering() if idempotent else None
        shared = {"transaction_manager": self.transactions, "time": self.time}
        limits = (0, BACKOFF_MS, DELIVERY_TIMEOUT_MS)
        self.accumulator = RecordAccumulator(BATCH_SIZE, CompressionType.NONE, *limits, self.pool, **shared)
        self.metadata = Metadata(100, time=self.time)
        self.metadata.update(CLUSTER, self.time.hi_res_ms())
        self.sender = Sender(
            "sender", self.network, self.metadata, self.accumulator, acks=acks, retries=retries,
            max_request_size_bytes=10_000, request_timeout_ms=500, retry_backoff_ms=BACKOFF_MS,
            delivery_timeout_ms=DELIVERY_TIMEOUT_MS, guarantee_message_order=in_flight == 1,
            api_versions=ApiVersions(), metrics=self.noted, **shared,
        )  # fmt: skip

    @staticmethod
    def _numbering():
        transactions = TransactionManager()
        transactions.initializing()
        transactions.initialized(1, 0)
        return transactions

    def send(self, number, partition=0, size=3):
        """Append one record, to a batch that may have others; returns its future."""
        value = (b"%03d" % number).ljust(size, b".")
        fields = (1000, None, value, (), None)
        return self.accumulator.append(TopicPartition("orders", partition), fields, 0).future

    def turn(self, count=1):
        for _ in range(count):
            self.sender.run_once()

    def ship(self, number, partition=0):
        """Send one record in a batch of its own, in a request that does not arrive yet."""
        self.network.is_slow = True
        future = self.send(number, partition)
        self.sender._send_producer_data(self.time.hi_res_ms())
        return future

    def arrive(self, turns=30):
        """Let the network work, until all is done."""
        self.network.is_slow = False
        self.turn(turns)

    def batch(self):
        """The batch of the oldest request in flight."""
        return next(iter(self.sender._in_flight))

    @property
    def log(self):
        """The numbers in the leader's log of orders-0."""
        return self.leader.logs.get(TopicPartition("orders", 0), [])

    @property
    def memory_in_use(self):
        return MEMORY - self.pool.available_memory


@pytest.fixture
def shop():
    """``shop(acks=-1, retries=3, in_flight=5, idempotent=False)``"""
    return Shop


@pytest.fixture
def fate():
    """``fate(settings, faults, count=1)``: what becomes of ``count`` records: the log, and what the shop is told."""

    def play(settings, faults, count=1):
        shop = Shop(**settings)
        shop.faults.extend(faults)
        if shop.network._in_flight == 1:
            futures = [shop.ship(1), *(shop.send(number) for number in range(2, count + 1))]
        else:
            futures = [shop.ship(number) for number in range(1, count + 1)]
        shop.arrive(100)
        return shop.log, [error_name(future) for future in futures]

    return play


def error_name(future):
    """What a record's future says: stored, waiting, or the name of an error."""
    if not future.done():
        return "waiting"
    error = future.error_if_failed()
    return "stored" if error is None else error.error.name


@pytest.fixture
def outcome():
    """``outcome(future)``: stored, waiting, or the name of an error."""
    return error_name
