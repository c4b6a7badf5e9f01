"""The registry, and its beans as Prometheus text, as JSON, over HTTP and in CSV files."""

from __future__ import annotations

import http.client
import json
import math
import socket
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics import metrics_http_server
from kafka_lite.metrics.kafka_csv_metrics_reporter import CsvWriter, KafkaCSVMetricsReporter
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.metric_name import MetricName, ObjectNamePattern
from kafka_lite.metrics.metrics_http_server import MetricsHttpServer, response_to
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


class TestResponses:
    def test_json_is_strict(self, beans: MBeanServer) -> None:
        status, content_type, text = response_to(beans, "/jmx")
        assert (status, content_type) == (HTTPStatus.OK, "application/json")

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        shown = json.loads(text, parse_constant=refuse)["beans"]
        by_name = {bean["name"]: bean for bean in shown}
        assert list(by_name) == sorted(by_name)
        assert by_name["kafka.server:type=KafkaServer,name=ClusterId"]["Value"] == "text"
        selector = by_name["kafka.server:type=socket-server-metrics,networkProcessor=0"]
        assert selector["request-rate"] == 2.5
        assert selector["request-size-max"] is selector["request-size-avg"] is None

    def test_beans_are_selected_by_a_pattern(self, beans: MBeanServer) -> None:
        _, _, text = response_to(beans, "/jmx?qry=kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec")
        assert [bean["Count"] for bean in json.loads(text)["beans"]] == [300]
        assert response_to(beans, "/jmx?qry=kafka.log:*")[2] == '{\n "beans": []\n}\n'
        assert len(beans.query(ObjectNamePattern.parse("kafka.server:type=BrokerTopicMetrics,*"))) == 2

    def test_unknown_paths_and_malformed_patterns(self, beans: MBeanServer) -> None:
        assert response_to(beans, "/jmx?qry=nonsense")[0] is HTTPStatus.BAD_REQUEST
        assert response_to(beans, "/nothing")[0] is HTTPStatus.NOT_FOUND
        assert "/metrics" in response_to(beans, "/")[2]


class TestHttpServer:
    @pytest.fixture
    def server(self, beans: MBeanServer) -> Iterator[MetricsHttpServer]:
        server = MetricsHttpServer(beans, "127.0.0.1", 0)
        server.start()
        yield server
        server.shutdown()
        assert not server.is_alive()

    @staticmethod
    def ask(server: MetricsHttpServer, method: str, path: str) -> tuple[int, str | None, bytes]:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), response.read()
        finally:
            connection.close()

    def test_sequential_requests_are_answered(self, server: MetricsHttpServer) -> None:
        for _ in range(3):
            status, content_type, body = self.ask(server, "GET", "/metrics")
            assert (status, content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
            assert b"bytesin_total 300.0" in body
        assert self.ask(server, "HEAD", "/metrics")[0::2] == (200, b"")
        assert self.ask(server, "POST", "/metrics")[0] == 501
        assert self.ask(server, "GET", "/nothing")[0] == 404

    @pytest.mark.parametrize("junk", [b"", b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET " + b"x" * 70_000 + b"\r\n\r\n"])
    def test_malformed_requests_do_not_stop_the_server(self, server: MetricsHttpServer, junk: bytes) -> None:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(junk)
        assert self.ask(server, "GET", "/metrics")[0] == 200

    def test_a_slow_client_is_disconnected(self, server: MetricsHttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
        """It sends each byte in time, but never completes its request."""
        monkeypatch.setattr(metrics_http_server, "CONNECTION_TIMEOUT_S", 0.2)
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=0.02) as slow:
            is_left, end = False, time.monotonic() + 60
            while not is_left and time.monotonic() < end:
                try:
                    slow.sendall(b"G")
                    slow.recv(4096)
                except TimeoutError:
                    pass
                except OSError:
                    is_left = True
        assert is_left

    def test_shutdown_does_not_wait_for_a_silent_client(
        self, beans: MBeanServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics_http_server, "CONNECTION_TIMEOUT_S", 600)
        server = MetricsHttpServer(beans, "127.0.0.1", 0)
        server.start()
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60):
            while server._connection is None:
                time.sleep(0.001)
            server.shutdown(timeout_s=60)
            assert not server.is_alive()

    def test_a_port_in_use_is_reported(self, server: MetricsHttpServer, beans: MBeanServer) -> None:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(KafkaError, match=f"failed to bind to 127.0.0.1:{port}: Address already in use"):
            MetricsHttpServer(beans, "127.0.0.1", port)
        with pytest.raises(KafkaError, match="failed to bind"):
            MetricsHttpServer(beans, "no.such.host.invalid", 0)


class TestCsvReporter:
    def test_one_line_per_interval(self, registry: MetricsRegistry, tmp_path: Path) -> None:
        meter = group(registry).new_meter("BytesInPerSec", "bytes", {"topic": "t"})
        writer = CsvWriter(registry, tmp_path, 10_000)
        meter.mark(7)
        writer.write(1_500_000_000)
        meter.mark(7)
        writer.write(1_500_000_010)
        (file,) = tmp_path.iterdir()
        assert file.name == "kafka.server.BrokerTopicMetrics.BytesInPerSec.topic.t.csv"
        header, first, second = file.read_text().splitlines()
        assert header.startswith("# time,Count,EventType,RateUnit,MeanRate,OneMinuteRate")
        assert first.startswith("1500000000,7,bytes,SECONDS,")
        assert second.startswith("1500000010,14,bytes,SECONDS,")

    def test_it_writes_only_if_enabled_and_deletes_only_its_own_files(
        self, registry: MetricsRegistry, tmp_path: Path
    ) -> None:
        mine, others = tmp_path / "kafka.server.X.Y.csv", tmp_path / "letters.txt"
        for enabled in (False, True):
            mine.touch()
            others.touch()
            reporter = KafkaCSVMetricsReporter()
            reporter.configure(
                {
                    "kafka.csv.metrics.dir": str(tmp_path),
                    "kafka.csv.metrics.reporter.enabled": enabled,
                    "kafka.metrics.polling.interval.secs": 10,
                }
            )
            reporter.start(registry)
            reporter.close()
            assert mine.exists() is not enabled
            assert others.exists()
