"""What is shown of a share partition."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.record_state import ACCEPT
from kafka_lite.server.share.share_partition_metrics import NAMES, SharePartitionMetrics
from tests.support.share_partitions import LOCK_MS, SharedLog

LOG = TopicPartition("t", 0)


def shown(registry: MetricsRegistry) -> dict[str, Mapping[str, AttributeValue]]:
    """Attributes by the name of the bean."""
    return {
        name.name: metric.attributes()
        for name, metric in registry.all_metrics().items()
        if name.type == "SharePartitionMetrics"
    }


def test_names_and_tags_are_those_of_kafka() -> None:
    registry = MetricsRegistry()
    metrics = SharePartitionMetrics(registry, MockTime(), "g", LOG)
    metrics.watch(lambda: 7, lambda: 2)
    names = {name.mbean_name for name in registry.all_metrics()}
    prefix = "kafka.server:type=SharePartitionMetrics,name="
    assert names == {f"{prefix}{name},group=g,topic=t,partition=0" for name in NAMES}
    metrics.close()
    assert not registry.all_metrics()


def test_what_is_in_flight_and_whose_locks_expire() -> None:
    shared = SharedLog((0, 4), (5, 9))
    acquired = shared.fetch("a")
    assert sum(each.size for each in acquired) == 10
    beans = shown(shared.registry)
    assert beans["InFlightMessageCount"]["Value"] == 10
    assert beans["InFlightBatchCount"]["Value"] == shared.partition.in_flight_batch_count
    assert beans["InFlightBatchMessageCount"]["Count"] == len(acquired)
    shared.acknowledge("a", 0, 3, ACCEPT)
    shared.sleep(LOCK_MS + 1)
    assert shown(shared.registry)["AcquisitionLockTimeoutPerSec"]["Count"] == 6


def test_the_fetch_lock_is_timed_and_compared_with_the_time_between_two_fetches() -> None:
    registry, time = MetricsRegistry(), MockTime()
    metrics = SharePartitionMetrics(registry, time, "g", LOG)
    for held_ms, idle_ms in ((0, 15), (5, 0)):
        metrics.fetch_lock_acquired()
        time.sleep(held_ms)
        metrics.fetch_lock_released()
        time.sleep(idle_ms)
    beans = shown(registry)
    assert (beans["FetchLockTimeMs"]["Min"], beans["FetchLockTimeMs"]["Max"]) == (0, 5)
    assert (beans["FetchLockRatio"]["Max"], beans["FetchLockRatio"]["Min"]) == (100, 25)
