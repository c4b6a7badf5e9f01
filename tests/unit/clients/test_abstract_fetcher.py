"""How a fetcher thread handles responses, and how a manager distributes partitions. Without threads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pytest

from kafka_lite.clients.abstract_fetcher_manager import (
    AbstractFetcherManager,
    BrokerAndFetcherId,
    BrokerAndInitialOffset,
)
from kafka_lite.clients.abstract_fetcher_thread import AbstractFetcherThread, PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V1, CorruptRecordError

BROKER = BrokerEndPoint(1, "broker", 9092)
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


class Request(NamedTuple):
    offsets: dict[TopicPartition, int]

    @property
    def is_empty(self) -> bool:
        return not self.offsets

    def offset(self, partition: TopicPartition) -> int:
        return self.offsets[partition]


class Data(NamedTuple):
    error: Errors
    high_watermark: int
    records: FetchedRecords


def answer(offset: int, count: int, high_watermark: int = 100) -> Data:
    builder = MemoryRecordsBuilder(MAGIC_V1, CompressionType.NONE, base_offset=offset)
    for _ in range(count):
        builder.append(1, None, b"v")
    return Data(Errors.NONE, high_watermark, FetchedRecords(builder.build() if count else b""))


def failure(error: Errors) -> Data:
    return Data(error, -1, FetchedRecords(b""))


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


def test_records_advance_the_offset_and_move_the_partition_to_the_end() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5, T1: 0})
    fetcher.answers = {T0: answer(5, 3, high_watermark=20), T1: answer(0, 0, high_watermark=0)}
    fetcher.do_work()
    fetcher.do_work()
    assert [list(request.items()) for request in fetcher.requests] == [[(T0, 5), (T1, 0)], [(T1, 0), (T0, 8)]]
    assert fetcher.processed == [(T0, 5), (T1, 0)]
    assert fetcher.fetcher_lag_stats.lag(T0) == 12
    assert fetcher.fetcher_lag_stats.is_replica_in_sync(T1)
    assert fetcher.failed == []


def test_lag_and_rates() -> None:
    registry = MetricsRegistry()
    fetcher = Fetcher(registry=registry)
    fetcher.add_partitions({T0: 5})
    brought = answer(5, 3, high_watermark=20)
    fetcher.answers = {T0: brought}
    fetcher.do_work()
    beans = {name.mbean_name: attributes for name, attributes in registry.beans().items()}
    lag = "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=client,topic=t,partition=0"
    of_broker = "clientId=client,brokerHost=broker,brokerPort=9092"
    assert beans[lag]["Value"] == 12
    assert beans[f"kafka.server:type=FetcherStats,name=RequestsPerSec,{of_broker}"]["Count"] == 1
    assert (
        beans[f"kafka.server:type=FetcherStats,name=BytesPerSec,{of_broker}"]["Count"] == brought.records.size_in_bytes
    )
    assert not fetcher.fetcher_lag_stats.is_replica_in_sync(T0)
    fetcher.shutdown()
    assert registry.beans() == {}


def test_a_response_for_a_removed_or_moved_partition_is_dropped() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5, T1: 5})

    def removed_meanwhile(request: Request) -> list[tuple[TopicPartition, Data]]:
        fetcher.remove_partitions([T0])
        fetcher.remove_partitions([T1])
        fetcher.add_partitions({T1: 9})
        return [(T0, answer(5, 1)), (T1, answer(5, 1))]

    fetcher.fetch = removed_meanwhile  # type: ignore[method-assign]
    fetcher.do_work()
    assert fetcher.processed == []
    assert fetcher.failed == []
    assert fetcher.partition_count == 1


def test_offsets_out_of_range() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5})
    fetcher.answers = {T0: failure(Errors.OFFSET_OUT_OF_RANGE)}
    fetcher.do_work()
    fetcher.answers = {T0: failure(Errors.OFFSET_OUT_OF_RANGE)}
    fetcher.reset_to = KafkaError("the broker does not say")
    fetcher.do_work()
    assert fetcher.requests == [{T0: 5}, {T0: 7}]
    assert fetcher.failed == [T0]


def test_a_partition_without_an_offset_starts_where_the_subclass_says() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: -1, T1: 3})
    fetcher.add_partitions({T1: 99})  # already present, so it keeps its offset
    fetcher.do_work()
    assert fetcher.requests == [{T0: 7, T1: 3}]


@pytest.mark.parametrize("error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.UNKNOWN_TOPIC_OR_PARTITION])
def test_other_errors_are_handled_by_the_subclass(error: Errors) -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5, T1: 5})
    fetcher.answers = {T0: failure(error), T1: answer(5, 1)}
    fetcher.do_work()
    assert fetcher.failed == [T0]
    assert fetcher.processed == [(T1, 5)]


def test_corrupt_records_are_an_error_of_their_partition() -> None:
    fetcher = Fetcher()
    fetcher.corrupt = {T0}
    fetcher.add_partitions({T0: 5, T1: 5})
    fetcher.answers = {T0: answer(5, 1), T1: answer(5, 1)}
    fetcher.do_work()
    assert (fetcher.failed, fetcher.processed) == ([T0], [(T1, 5)])
    fetcher.answers = {T1: Data(Errors.NONE, 9, FetchedRecords(b"\0" * 40))}
    fetcher.do_work()
    assert (fetcher.failed, fetcher.processed) == ([T0, T1], [(T1, 5)])
    assert dict(fetcher.requests[1]) == {T0: 5, T1: 6}


def test_records_that_there_is_no_memory_for_are_fetched_again(caplog: pytest.LogCaptureFixture) -> None:
    fetcher = Fetcher()
    fetcher.too_large = {T0}
    fetcher.add_partitions({T0: 5, T1: 5})
    fetcher.answers = {T0: answer(5, 1), T1: answer(5, 1)}
    fetcher.do_work()
    assert (fetcher.failed, fetcher.processed) == ([T0], [(T1, 5)])
    assert "Error processing data of t-0 from offset 5 on: MemoryError()" in caplog.text
    fetcher.do_work()
    assert fetcher.requests[1] == {T0: 5, T1: 6}


def test_without_a_response_all_partitions_fail_after_a_backoff() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5, T1: 5})
    fetcher.answers = ConnectionError("lost")
    before = fetcher.clock.hi_res_ms()
    fetcher.do_work()
    assert fetcher.failed == [T0, T1]
    assert fetcher.clock.hi_res_ms() - before == 50


def test_without_partitions_the_thread_backs_off() -> None:
    fetcher = Fetcher()
    fetcher.do_work()
    assert fetcher.requests == []
    assert fetcher.clock.hi_res_ms() == 50


def test_delayed_partitions_are_not_fetched_until_the_delay_ends() -> None:
    fetcher = Fetcher()
    fetcher.add_partitions({T0: 5, T1: 5})
    fetcher.delay_partitions([T0, TopicPartition("unknown", 0)], 100)
    fetcher.do_work()
    fetcher.clock.sleep(100)
    fetcher.do_work()
    assert fetcher.requests == [{T1: 5}, {T1: 5, T0: 5}]


class Manager(AbstractFetcherManager[Fetcher]):
    def create_fetcher_thread(self, fetcher_id: int, source_broker: BrokerEndPoint) -> Fetcher:
        return _Sleeper(source_broker, self.registry)


class _Sleeper(Fetcher):
    """A started thread that does nothing."""

    def do_work(self) -> None:
        self.pause(10_000)


@pytest.fixture
def manager() -> Manager:
    return Manager(
        "manager", "client", 3,
        registry=MetricsRegistry(), time=MockTime(), metric_group=("kafka.consumer", "ConsumerFetcherManager"),
    )  # fmt: skip


def test_the_fetcher_of_a_partition_matches_kafka(manager: Manager) -> None:
    # Java: Math.abs(31 * "topic".hashCode() + n) % 3, where "topic".hashCode() is 110546223 and the product overflows.
    assert [manager.get_fetcher_id(TopicPartition("topic", number)) for number in range(6)] == [1, 0, 2, 1, 0, 2]


def test_threads_start_with_their_first_partition_and_end_when_idle(manager: Manager) -> None:
    other = BrokerEndPoint(2, "other", 9092)
    try:
        manager.add_fetcher_for_partitions({
            T0: BrokerAndInitialOffset(BROKER, 1), T1: BrokerAndInitialOffset(BROKER, 2),
            T2: BrokerAndInitialOffset(other, 3),
        })  # fmt: skip
        keys = set(manager.fetcher_thread_map)
        assert keys == {
            BrokerAndFetcherId(broker, manager.get_fetcher_id(partition))
            for partition, broker in ((T0, BROKER), (T1, BROKER), (T2, other))
        }
        manager.remove_fetcher_for_partitions([T2])
        manager.shutdown_idle_fetcher_threads()
        assert {key.broker for key in manager.fetcher_thread_map} == {BROKER}
        died = next(iter(manager.fetcher_thread_map.values()))
        died.shutdown()
        manager.add_fetcher_for_partitions(dict.fromkeys([T0, T1], BrokerAndInitialOffset(BROKER, 1)))
        assert died not in manager.fetcher_thread_map.values()
    finally:
        manager.close_all_fetchers()
    assert manager.fetcher_thread_map == {}


def test_the_gauges_of_a_manager(manager: Manager) -> None:
    registry = manager.registry
    beans = {name.mbean_name: attributes["Value"] for name, attributes in registry.beans().items()}
    prefix = "kafka.consumer:type=ConsumerFetcherManager,name="
    assert beans == {f"{prefix}MaxLag,clientId=client": 0, f"{prefix}MinFetchRate,clientId=client": 0.0}
    fetcher = Fetcher()
    fetcher.fetcher_lag_stats.set_lag(T0, 12)
    manager.fetcher_thread_map[BrokerAndFetcherId(BROKER, 0)] = fetcher
    assert manager.max_lag == 12
