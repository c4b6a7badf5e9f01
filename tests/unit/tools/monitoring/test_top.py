"""How ``kafka-lite top`` reads and draws beans, and how ``kafka-lite jmx`` prints them."""

from __future__ import annotations

import argparse
import io
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_http_server import MetricsHttpServer
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.security.ssl.https_sockets import HttpsSockets
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.monitoring import jmx_tool, top
from kafka_lite.tools.monitoring.broker_beans import BrokerBeans, find_endpoint
from kafka_lite.tools.monitoring.top_snapshot import PHASES, snapshot_of
from kafka_lite.tools.monitoring.top_view import view
from kafka_lite.tools.server.running_brokers import RunningBroker, RunningBrokers
from tests.support.certificates import keys_and_trust, server_certificate


class Broker:
    """Beans of an imaginary broker, over HTTP."""

    def __init__(self) -> None:
        self.time = MockTime()
        self.registry = MetricsRegistry()
        beans = MBeanServer()
        beans.add_source(self.registry.beans)
        app_info = MetricName.of("kafka.server", "app-info", tags={"id": "3"})
        beans.register(app_info, lambda: {"Version": "0.1.0", "CommitId": "unknown"})
        self.gauge("kafka.server", "KafkaServer", "BrokerState", 3)
        self.gauge("kafka.server", "KafkaServer", "ClusterId", "abc")
        self.logs = {("flights", 0): 10, ("flights", 1): 20, ("weather", 0): 5}
        self.group("kafka.log", "Log").new_gauges(
            {
                "LogStartOffset": lambda end: 1,
                "LogEndOffset": lambda end: end,
                "Size": lambda end: 1000 * end,
                "NumLogSegments": lambda end: 1,
            },
            lambda: [({"topic": t, "partition": str(p)}, end) for (t, p), end in self.logs.items()],
        )
        topics = self.group("kafka.server", "BrokerTopicMetrics")
        self.bytes_in = [topics.new_meter("BytesInPerSec", "bytes", t) for t in ({}, {"topic": "weather"})]
        requests = self.group("kafka.network", "RequestMetrics")
        self.requests = {}
        for request in ("Produce", "Fetch", "FetchConsumer", "Metadata"):
            self.requests[request] = requests.new_meter("RequestsPerSec", "requests", {"request": request})
            for metric in PHASES.values():
                histogram = requests.new_histogram(metric, {"request": request})
                if metric in ("TotalTimeMs", "LocalTimeMs"):
                    histogram.update_all([1.0, 2.0, 3.0], 0.0)
        for name, count in (("Produce", 0), ("Fetch", 1)):
            purgatory = self.group("kafka.server", "DelayedOperationPurgatory")
            purgatory.new_gauge("NumDelayedOperations", lambda c=count: c, {"delayedOperation": name})  # type: ignore[misc]
        self.server = MetricsHttpServer(beans, "127.0.0.1", 0)
        self.server.start()

    def group(self, package: str, class_name: str) -> KafkaMetricsGroup:
        return KafkaMetricsGroup(self.registry, self.time, package, class_name)

    def gauge(self, package: str, class_name: str, name: str, value: int | str) -> None:
        self.group(package, class_name).new_gauge(name, lambda: value)

    def write_weather(self, size: int) -> None:
        for meter in self.bytes_in:
            meter.mark(size)
        self.requests["Produce"].mark()


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()
    yield broker
    broker.server.shutdown()


def drawn(broker: Broker, *, width: int = 120, partitions: bool = False, max_rows: int | None = None) -> str:
    console = Console(file=io.StringIO(), width=width)
    snapshot = snapshot_of(BrokerBeans(broker.server.url).read())
    console.print(view(snapshot, console, partitions=partitions, max_rows=max_rows))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    return str(text)


class TestSnapshot:
    def test_rates_cover_the_time_between_two_snapshots(self, broker: Broker) -> None:
        beans = BrokerBeans(broker.server.url)
        before = beans.read()
        broker.write_weather(3000)
        snapshot = snapshot_of(beans.read(), before, over_s=2.0)
        weather, flights = snapshot.topics
        assert (weather.name, weather.bytes_in, snapshot.totals.bytes_in) == ("weather", 1500, 1500)
        assert (flights.name, flights.bytes_in) == ("flights", 0)
        (produce,) = snapshot.requests
        assert (produce.name, produce.rate) == ("Produce", 0.5)
        assert produce.phases["total"] == pytest.approx((2.0, 3.0))

    def test_the_first_snapshot_shows_one_minute_rates(self, broker: Broker) -> None:
        broker.write_weather(500)
        broker.registry.tick()
        snapshot = snapshot_of(BrokerBeans(broker.server.url).read())
        assert snapshot.totals.bytes_in == 100
        assert snapshot.over_s is None

    def test_a_restarted_broker_has_no_negative_rates(self, broker: Broker) -> None:
        beans = BrokerBeans(broker.server.url)
        broker.write_weather(100)
        before = beans.read()
        broker.bytes_in[0].count = 0
        assert snapshot_of(beans.read(), before, over_s=2.0).totals.bytes_in == 0

    def test_topics_have_the_numbers_of_their_logs(self, broker: Broker) -> None:
        flights, weather = snapshot_of(BrokerBeans(broker.server.url).read()).topics
        assert (flights.log_start, flights.log_end, flights.size_bytes) == (2, 30, 30_000)
        assert [partition.partition for partition in flights.partitions] == [0, 1]
        assert weather.log_end == 5

    def test_a_snapshot_without_beans_is_empty(self) -> None:
        snapshot = snapshot_of({})
        assert (snapshot.broker_id, snapshot.topics, snapshot.requests) == ("?", [], [])


class TestPicture:
    def test_everything_is_drawn(self, broker: Broker) -> None:
        broker.write_weather(500)
        broker.registry.tick()
        text = drawn(broker)
        assert "broker 3 running · kafka_lite 0.1.0 · cluster abc" in text
        assert "waiting Fetch 1, Produce 0" in text
        rows = [line.split() for line in text.splitlines()]
        assert ["weather", "1", "1", "5", "5.0", "kB", "0", "100", "B", "0"] in rows
        assert ["flights", "2", "2", "30", "30.0", "kB", "0", "0", "0"] in rows
        assert ["Produce", "0.2", "2.00", "/", "3.00", "2.00", "/", "3.00"] in rows, "phases without time are left out"
        assert "Metadata" not in text, "no such request was counted"

    def test_partitions_are_drawn(self, broker: Broker) -> None:
        rows = [line.split() for line in drawn(broker, partitions=True).splitlines()]
        assert ["partition", "1", "1", "20", "20.0", "kB"] in rows

    def test_rows_that_do_not_fit_are_counted(self, broker: Broker) -> None:
        for number in range(30):
            broker.logs[f"a-topic-{number:02}", 0] = 7
        broker.write_weather(1)
        text = drawn(broker, max_rows=10)
        assert "… and 23 more" in text
        assert len(text.splitlines()) <= 10 + 16
        assert "32 topics" in text

    @pytest.mark.parametrize("width", [60, 80, 104, 200])
    def test_numbers_are_never_cut(self, broker: Broker, width: int) -> None:
        broker.logs["a-very-long-name-" * 8, 0] = 1_234_567_890
        broker.write_weather(1)
        text = drawn(broker, width=width)
        if width >= 80:
            assert "1,234,567,890" in text
        assert "…" in text, "only the name is cut"
        assert ("median / 99th" in text) is (width >= 104)

    def test_an_idle_broker_is_drawn(self) -> None:
        console = Console(file=io.StringIO(), width=80)
        console.print(view(snapshot_of({}), console, partitions=False))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "no topics yet" in text
        assert "no requests yet" in text


class TestWatch:
    def test_frames_follow_each_other(self, broker: Broker) -> None:
        time = MockTime()
        console = Console(file=io.StringIO(), width=120, height=40)
        watch = top.Watch(BrokerBeans(broker.server.url), time, partitions=False)
        broker.write_weather(1)
        console.print(watch.next_frame(console))
        time.sleep(4000)
        broker.write_weather(4000)
        console.print(watch.next_frame(console))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "rates: over about the last minute" in text
        assert "rates: over the last 4.0 s" in text
        assert ["weather", "1", "1", "5", "5.0", "kB", "0", "1.0", "kB", "0"] in map(str.split, text.splitlines())

    def test_it_waits_for_a_broker_that_has_stopped(self, broker: Broker) -> None:
        console = Console(file=io.StringIO(), width=200)
        watch = top.Watch(BrokerBeans(broker.server.url), MockTime(), partitions=False)
        watch.next_frame(console)
        broker.server.shutdown()
        console.print(watch.next_frame(console))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert "Cannot read metrics from http://127.0.0.1:" in text
        assert "Waiting for it" in text


def options(tool: object, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    tool.add_arguments(parser)  # type: ignore[attr-defined]
    return parser.parse_args(arguments)


class TestCommands:
    def test_once_prints_one_frame(self, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
        assert top.run(options(top, "--metrics-url", broker.server.url, "--once")) == 0
        out = capsys.readouterr().out
        assert "broker 3 running" in out
        assert "\x1b" not in out, "no colours in a pipe"

    @pytest.mark.parametrize("interval", ["0", "-1", "x", "nan", "1e9"])
    def test_an_invalid_interval_is_rejected(self, interval: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            options(top, "--interval", interval)
        assert "is not a number of seconds" in capsys.readouterr().err

    def test_jmx_prints_a_line_of_names_and_a_line_of_values(
        self, broker: Broker, capsys: pytest.CaptureFixture[str]
    ) -> None:
        broker.write_weather(70)
        bean = "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec"
        arguments = ("--object-name", f"{bean},*", "--attributes", "Count,EventType", "--one-time", "true")
        assert jmx_tool.run(options(jmx_tool, "--metrics-url", broker.server.url, *arguments)) == 0
        header, values = capsys.readouterr().out.splitlines()
        assert header == (
            f'"time","{bean},topic=weather:Count","{bean},topic=weather:EventType","{bean}:Count","{bean}:EventType"'
        )
        assert values.split(",")[1:] == ["70", "bytes", "70", "bytes"]

    @pytest.mark.parametrize(
        ("report_format", "text"),
        [
            ("original", '"time","a:x","b:y"\n5,1,2\n6,3,\n'),
            ("csv", "time,a:x,b:y\n5,1,2\n6,3,\n"),
            ("tsv", "time\ta:x\tb:y\n5\t1\t2\n6\t3\t\n"),
            ("properties", "time=5\na:x=1\nb:y=2\ntime=6\na:x=3\nb:y=\n"),
        ],
    )
    def test_jmx_reports_in_every_format(self, report_format: str, text: str) -> None:
        out = io.StringIO()
        report = jmx_tool.Report(report_format, out)
        report.print("5", {"b:y": "2", "a:x": "1"})
        report.print("6", {"a:x": "3", "new:z": "4"})
        assert out.getvalue() == text

    def test_jmx_formats_the_time(self, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
        arguments = ("--object-name", "kafka.server:type=KafkaServer,name=BrokerState", "--date-format", "yyyy'!'")
        assert jmx_tool.run(options(jmx_tool, "--metrics-url", broker.server.url, *arguments, "--one-time")) == 0
        assert re.fullmatch(r"\d{4}!,3", capsys.readouterr().out.splitlines()[1])

    def test_jmx_waits_for_beans(self, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
        arguments = ("--object-name", "kafka.server:type=Late,name=Bean", "--wait", "--one-time")
        late = threading.Timer(0.3, lambda: broker.gauge("kafka.server", "Late", "Bean", 7))
        late.start()
        assert jmx_tool.run(options(jmx_tool, "--metrics-url", broker.server.url, *arguments)) == 0
        late.join()
        assert capsys.readouterr().out.endswith(",7\n")

    def test_jmx_ends_when_the_broker_has_ended(self, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
        threading.Timer(0.5, broker.server.shutdown).start()
        assert jmx_tool.run(options(jmx_tool, "--metrics-url", broker.server.url, "--reporting-interval", "100")) == 1
        out, err = capsys.readouterr()
        assert out.startswith('"time",')
        assert "Is the broker running?" in err

    def test_a_broker_that_ends_within_its_response_is_an_error_that_says_so(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            ending = threading.Thread(target=_respond_in_part, args=(listening,))
            ending.start()
            with pytest.raises(ToolError, match="Is the broker running"):
                BrokerBeans(f"http://127.0.0.1:{listening.getsockname()[1]}").read()
            ending.join()

    @pytest.mark.parametrize(
        ("name", "message"),
        [("kafka.nothing:*", "No bean"), ("nonsense", "is not of the form domain:key=value")],
    )
    def test_jmx_reports_errors(
        self, broker: Broker, capsys: pytest.CaptureFixture[str], name: str, message: str
    ) -> None:
        arguments = ("--metrics-url", broker.server.url, "--object-name", name, "--one-time")
        assert jmx_tool.run(options(jmx_tool, *arguments)) == 1
        assert message in capsys.readouterr().err


class TestFinding:
    @staticmethod
    def brokers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *facts: dict[str, str]) -> RunningBrokers:
        brokers = RunningBrokers(tmp_path)
        found = [RunningBroker(100 + n, each, tmp_path / f"{n}.properties") for n, each in enumerate(facts)]
        monkeypatch.setattr(brokers, "find", lambda: found)
        return brokers

    def test_the_only_broker_is_found(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        running = self.brokers(monkeypatch, tmp_path, {"metrics.url": "http://127.0.0.1:1"})
        assert find_endpoint(options(top), running).url == "http://127.0.0.1:1"

    def test_the_broker_on_the_given_port_is_found(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        facts = [
            {"broker.id": str(n), "listeners": f"127.0.0.1:909{n} (PLAINTEXT)", "metrics.url": f"http://h:{n}"}
            for n in range(3)
        ]
        running = self.brokers(monkeypatch, tmp_path, *facts)
        assert find_endpoint(options(top, "--bootstrap-server", "localhost:9091"), running).url == "http://h:1"
        with pytest.raises(
            ToolError, match="Several brokers are running; choose one with --bootstrap-server: broker 0"
        ):
            find_endpoint(options(top), running)
        with pytest.raises(ToolError, match=r"None of your brokers on this machine listens on port 909. Running:"):
            find_endpoint(options(top, "--bootstrap-server", "localhost:909"), running)

    def test_no_broker_and_a_broker_without_metrics_are_reported(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        with pytest.raises(ToolError, match="You have no broker running on this machine"):
            find_endpoint(options(top), self.brokers(monkeypatch, tmp_path))
        running = self.brokers(monkeypatch, tmp_path, {"broker.id": "7"})
        with pytest.raises(ToolError, match=r"Broker 7 \(process 100\) does not serve metrics: set metrics.http"):
            find_endpoint(options(top), running)

    def test_a_broker_is_found_by_its_url(self, tmp_path: Path) -> None:
        found = find_endpoint(options(top, "--metrics-url", "127.0.0.1:9404/metrics"), RunningBrokers(tmp_path))
        assert found.url == "http://127.0.0.1:9404"
        with pytest.raises(ToolError, match=r"must be a URL such as http://127.0.0.1:9404"):
            find_endpoint(options(top, "--metrics-url", "ftp://x"), RunningBrokers(tmp_path))

    def test_a_broker_with_tls_is_read_as_the_command_config_says(self, tmp_path: Path) -> None:
        sockets = HttpsSockets(keys_and_trust(server_certificate()), "metrics.http.")
        server = MetricsHttpServer(MBeanServer(), "127.0.0.1", 0, sockets.wrap)
        server.start()
        config, trust = tmp_path / "client.properties", server_certificate().write(tmp_path, "broker")[1]
        config.write_text(f"ssl.truststore.location={trust}\n")
        arguments = ("--metrics-url", server.url)
        try:
            assert find_endpoint(options(jmx_tool, *arguments, "--command-config", str(config))).read() == {}
            with pytest.raises(ToolError, match=r"certificate verify failed.*: set ssl.truststore.location"):
                find_endpoint(options(top, *arguments)).read()
        finally:
            server.shutdown()

    def test_errors_of_the_endpoint_are_reported(self, broker: Broker) -> None:
        with pytest.raises(ToolError, match=r": HTTP 400: .* is not of the form"):
            BrokerBeans(broker.server.url).read("nonsense")
        with pytest.raises(ToolError, match=r"Cannot read metrics from .* Is the broker running"):
            BrokerBeans("http://127.0.0.1:1").read()


def _respond_in_part(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
