"""Beans in Prometheus' text format, under the names of the JMX exporter."""

from __future__ import annotations

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.prometheus_text import prometheus_text


@pytest.fixture
def registry() -> MetricsRegistry:
    return MetricsRegistry()


def group(registry: MetricsRegistry, class_name: str = "BrokerTopicMetrics") -> KafkaMetricsGroup:
    return KafkaMetricsGroup(registry, MockTime(), "kafka.server", class_name)


@pytest.fixture
def beans(registry: MetricsRegistry) -> MBeanServer:
    """A bean of each kind."""
    topics = group(registry)
    topics.new_meter("BytesInPerSec", "bytes").mark(300)
    topics.new_meter("BytesInPerSec", "bytes", {"topic": 'a"b\\c'}).mark(200)
    group(registry, "KafkaServer").new_gauge("ClusterId", lambda: "text")
    group(registry, "ReplicaManager").new_gauge("PartitionCount", lambda: 3)
    group(registry, "RequestMetrics").new_histogram("TotalTimeMs", {"request": "Produce"}).update(1.5)
    group(registry, "Processor").new_gauge("IdlePercent", lambda: 0.25, {"networkProcessor": "0"})
    group(registry, "Pool").new_derived_meter("AvgIdlePercent", "percent", lambda: 5)
    server = MBeanServer()
    server.add_source(registry.beans)
    server.register(
        MetricName.of("kafka.server", "socket-server-metrics", tags={"networkProcessor": "0"}),
        lambda: {"request-rate": 2.5, "request-size-max": -math.inf, "request-size-avg": math.nan},
    )
    return server


class TestPrometheus:
    def test_names_match_those_of_the_jmx_exporter(self, beans: MBeanServer) -> None:
        samples = {
            (sample.name, tuple(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(prometheus_text(beans.query()))
            for sample in family.samples
        }
        assert samples[("kafka_server_brokertopicmetrics_bytesin_total", ())] == 300
        assert samples[("kafka_server_brokertopicmetrics_bytesin_total", (("topic", 'a"b\\c'),))] == 200
        assert samples[("kafka_server_replicamanager_partitioncount", ())] == 3
        request = ("request", "Produce")
        assert samples[("kafka_server_requestmetrics_totaltimems_count", (request,))] == 1
        assert samples[("kafka_server_requestmetrics_totaltimems", (request, ("quantile", "0.99")))] == 1.5
        assert samples[("kafka_server_processor_idle_percent", (("networkProcessor", "0"),))] == 0.25
        assert samples[("kafka_server_requestmetrics_totaltimems_sum", (request,))] == 1.5
        assert "\nkafka_server_pool_avgidlepercent_count 5.0\n" in prometheus_text(beans.query())
        assert ("kafka_server_pool_avgidle_percent", ()) in samples
        processor = (("networkProcessor", "0"),)
        assert samples[("kafka_server_socket_server_metrics_request_rate", processor)] == 2.5
        assert samples[("kafka_server_socket_server_metrics_request_size_max", processor)] == -math.inf
        assert math.isnan(samples[("kafka_server_socket_server_metrics_request_size_avg", processor)])
        assert not any("clusterid" in name for name, _ in samples), "a text is not a sample"

    def test_samples_of_one_name_are_adjacent_under_one_type(self, beans: MBeanServer) -> None:
        lines = prometheus_text(beans.query()).splitlines()
        types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
        assert len(types) == len(set(types))
        current = ""
        for line in lines:
            if line.startswith("# TYPE"):
                current = line.split()[2]
            else:
                name = line.partition("{")[0].partition(" ")[0]
                assert name in (current, f"{current}_sum", f"{current}_count")
        assert "# TYPE kafka_server_brokertopicmetrics_bytesin_total counter" in lines
        assert "# TYPE kafka_server_requestmetrics_totaltimems summary" in lines
        assert "# TYPE kafka_server_replicamanager_partitioncount gauge" in lines
