"""A fetcher thread whose responses a test defines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kafka_lite.clients.abstract_fetcher_thread import AbstractFetcherThread, PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.record import CorruptRecordError

BROKER = BrokerEndPoint(1, "broker", 9092)


class Request(NamedTuple):
    """The offsets to fetch from."""

    offsets: dict[TopicPartition, int]

    @property
    def is_empty(self) -> bool:
        return not self.offsets

    def offset(self, partition: TopicPartition) -> int:
        return self.offsets[partition]


class Data(NamedTuple):
    """The response for a partition."""

    error: Errors
    high_watermark: int
    records: FetchedRecords


class Fetcher(AbstractFetcherThread[Request, Data]):
    """A fetcher whose responses the test defines."""

    def __init__(self, broker: BrokerEndPoint = BROKER, registry: MetricsRegistry | None = None) -> None:
        self.clock = MockTime()
        super().__init__("fetcher", "client", broker, 50, registry=registry or MetricsRegistry(), time=self.clock)
        self.answers: dict[TopicPartition, Data] | Exception = {}
        self.requests: list[dict[TopicPartition, int]] = []
        self.processed: list[tuple[TopicPartition, int]] = []
        self.failed: list[TopicPartition] = []
        self.reset_to: int | Exception = 7
        self.corrupt: set[TopicPartition] = set()
        self.too_large: set[TopicPartition] = set()

    def process_partition_data(self, partition: TopicPartition, fetch_offset: int, data: Data) -> None:
        if partition in self.corrupt:
            raise CorruptRecordError("damaged")
        if partition in self.too_large:
            raise MemoryError
        self.processed.append((partition, fetch_offset))

    def handle_offset_out_of_range(self, partition: TopicPartition) -> int:
        if isinstance(self.reset_to, Exception):
            raise self.reset_to
        return self.reset_to

    def handle_partitions_with_errors(self, partitions: Collection[TopicPartition]) -> None:
        self.failed += partitions

    def build_fetch_request(self, partitions: Sequence[tuple[TopicPartition, PartitionFetchState]]) -> Request:
        now_ms = self.clock.hi_res_ms()
        return Request({partition: state.offset for partition, state in partitions if state.is_active(now_ms)})

    def fetch(self, request: Request) -> list[tuple[TopicPartition, Data]]:
        self.requests.append(request.offsets)
        if isinstance(self.answers, Exception):
            raise self.answers
        answers, self.answers = self.answers, {}
        return list(answers.items())
