"""A fetcher manager spreads partitions over threads, which begin and end with them."""

from __future__ import annotations

import pytest

from kafka_lite.clients.abstract_fetcher_manager import (
    MAX_LISTED_PARTITIONS,
    AbstractFetcherManager,
    BrokerAndFetcherId,
    BrokerAndInitialOffset,
)
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from tests.support.scripted_fetcher import BROKER, Fetcher

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


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


def test_the_log_does_not_name_a_million_partitions(manager: Manager, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    for count, end in ((MAX_LISTED_PARTITIONS, ",t-999"), (MAX_LISTED_PARTITIONS + 5, ",t-999 and 5 more")):
        manager.remove_fetcher_for_partitions([TopicPartition("t", number) for number in range(count)])
        assert caplog.messages[-1].endswith(end)
