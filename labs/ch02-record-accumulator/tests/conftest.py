"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool, ProducerClosedError
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.records import batches

NODES = (Node(0, "a", 1), Node(1, "b", 2))
LEADERS = (0, 0, 1)  # of the partitions t-0, t-1, t-2
CLUSTER = Cluster(NODES, tuple(PartitionInfo("t", number, NODES[leader]) for number, leader in enumerate(LEADERS)))
BATCH_SIZE, LINGER_MS, BACKOFF_MS = 500, 10, 100
MEMORY = 20 * BATCH_SIZE


class Accumulator(RecordAccumulator):
    """Batches of 500 bytes, a linger of 10 ms, a backoff of 100 ms, and a clock that the test moves."""

    def __init__(self, pool_class, transactions):
        self.time = MockTime()
        self.pool = pool_class(MEMORY, BATCH_SIZE, self.time)
        limits = (LINGER_MS, BACKOFF_MS, 60_000)
        shared = {"transaction_manager": transactions, "time": self.time}
        super().__init__(BATCH_SIZE, CompressionType.NONE, *limits, self.pool, **shared)

    def add(self, number, partition=0, size=100):
        """Append the record with this number; four of 100 bytes fit into a batch."""
        value = (b"%03d" % number).ljust(size, b".")
        return self.append(TopicPartition("t", partition), (1000, None, value, (), None), 0)

    def fill(self, numbers, partition=0):
        for number in numbers:
            self.add(number, partition)

    def ready_now(self):
        """The ids of the brokers that are ready, and when to check again."""
        result = self.ready(CLUSTER, self.time.hi_res_ms())
        return {node.id for node in result.ready_nodes}, result.next_ready_check_delay_ms

    def take(self, node=0, max_bytes=100_000):
        """The batches drained for one broker."""
        return self.drain(CLUSTER, [NODES[node]], max_bytes, self.time.hi_res_ms())[node]


@pytest.fixture
def new_accumulator():
    """``new_accumulator(pool_class=BufferPool, idempotent=False)``"""

    def make(pool_class=BufferPool, idempotent=False):
        transactions = None
        if idempotent:
            transactions = TransactionManager()
            transactions.initializing()
            transactions.initialized(1, 0)
        return Accumulator(pool_class, transactions)

    return make


@pytest.fixture
def closed_error_of():
    """``closed_error_of(work)``: the ProducerClosedError that it raises, or None."""

    def of(work):
        try:
            work()
        except ProducerClosedError as error:
            return error
        return None

    return of


@pytest.fixture
def numbers_in():
    """``numbers_in(batch)``: the numbers of its records."""

    def of(batch):
        return [int(record.value[:3]) for each in batches(batch.records) for record in each.records()]

    return of
