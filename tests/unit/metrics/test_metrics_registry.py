"""The registry of metrics: names, families of gauges, collectors, failures."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


@pytest.fixture
def registry() -> MetricsRegistry:
    return MetricsRegistry()


def group(registry: MetricsRegistry, class_name: str = "BrokerTopicMetrics") -> KafkaMetricsGroup:
    return KafkaMetricsGroup(registry, MockTime(), "kafka.server", class_name)


class TestRegistry:
    def test_a_metric_is_found_until_it_is_removed(self, registry: MetricsRegistry) -> None:
        meters = group(registry)
        name = meters.metric_name("BytesInPerSec", {"topic": "t"})
        meter = meters.new_meter("BytesInPerSec", "bytes", {"topic": "t"})
        assert registry.get(name) is meter
        assert len(registry) == 1
        meters.remove_metric("BytesInPerSec", {"topic": "t"})
        assert registry.get(name) is None
        meters.remove_metric("BytesInPerSec", {"topic": "t"})

    def test_a_family_of_gauges_follows_its_members(self, registry: MetricsRegistry) -> None:
        sizes = {"t": 10}
        group(registry, "Log").new_gauges(
            {"Size": lambda size: size, "Half": lambda size: size / 2},
            lambda: [({"topic": topic}, size) for topic, size in sizes.items()],
        )
        assert {str(name): bean["Value"] for name, bean in registry.beans().items()} == {
            "kafka.server:type=Log,name=Size,topic=t": 10,
            "kafka.server:type=Log,name=Half,topic=t": 5,
        }
        assert len(registry) == 2
        sizes.clear()
        sizes["u"] = 4
        assert {name.tags for name in registry.beans()} == {(("topic", "u"),)}

    def test_collectors_run_before_every_read_and_at_every_tick(self, registry: MetricsRegistry) -> None:
        meter = group(registry).new_meter("BytesInPerSec", "bytes")
        registry.add_collector(lambda: meter.mark(10))
        (bean,) = registry.beans().values()
        assert bean["Count"] == 10
        registry.tick()
        assert meter.count == 20
        assert meter.one_minute_rate == 4.0

    def test_a_failing_metric_does_not_hide_the_others(
        self, registry: MetricsRegistry, caplog: pytest.LogCaptureFixture
    ) -> None:
        group(registry).new_gauge("Broken", lambda: 1 // 0)
        group(registry).new_gauge("Well", lambda: 1)
        assert [name.name for name in registry.beans()] == ["Well"]
        assert "Cannot read the metric kafka.server:type=BrokerTopicMetrics,name=Broken" in caplog.text
