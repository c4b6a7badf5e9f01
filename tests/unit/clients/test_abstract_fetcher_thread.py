"""How a fetcher thread handles responses, and how a manager distributes partitions. Without threads."""

from __future__ import annotations

import pytest

from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V1
from tests.support.scripted_fetcher import Data, Fetcher, Request

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def answer(offset: int, count: int, high_watermark: int = 100) -> Data:
    builder = MemoryRecordsBuilder(MAGIC_V1, CompressionType.NONE, base_offset=offset)
    for _ in range(count):
        builder.append(1, None, b"v")
    return Data(Errors.NONE, high_watermark, FetchedRecords(builder.build() if count else b""))


def failure(error: Errors) -> Data:
    return Data(error, -1, FetchedRecords(b""))


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
