"""Beans over HTTP: the paths, strict JSON, and clients that misbehave."""

from __future__ import annotations

import http.client
import json
import math
import socket
import ssl
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics import metrics_http_server
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.metric_name import MetricName, ObjectNamePattern
from kafka_lite.metrics.metrics_http_server import MAX_CONNECTIONS, MetricsHttpServer, response_to
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.security.ssl.https_sockets import HttpsSockets
from tests.support.certificates import Pem, certificate, keys_and_trust, server_certificate
from tests.support.eventually import eventually
from tests.support.patience import patient_s


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
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=patient_s(60))
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
        with socket.create_connection((host, int(port)), timeout=patient_s(60)) as client:
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
        with socket.create_connection((host, int(port)), timeout=patient_s(60)):
            eventually(lambda: server._connections)
            server.shutdown(timeout_s=60)
            assert not server.is_alive()

    def test_slow_clients_keep_nobody_waiting(self, server: MetricsHttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(metrics_http_server, "CONNECTION_TIMEOUT_S", 600)
        host, port = server.url.removeprefix("http://").split(":")
        with ExitStack() as clients:
            slow = [
                clients.enter_context(socket.create_connection((host, int(port)), timeout=patient_s(60)))
                for _ in range(MAX_CONNECTIONS + 3)
            ]
            assert self.ask(server, "GET", "/metrics")[0] == 200
            assert [client.recv(1) for client in slow[:4]] == [b""] * 4, "the oldest were ended"
            eventually(lambda: len(server._connections) == MAX_CONNECTIONS - 1)
            slow[-1].sendall(b"GET /jmx HTTP/1.0\r\n\r\n")
            assert slow[-1].recv(12) == b"HTTP/1.0 200"

    def test_a_port_in_use_is_reported(self, server: MetricsHttpServer, beans: MBeanServer) -> None:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(KafkaError, match=f"failed to bind to 127.0.0.1:{port}: Address already in use"):
            MetricsHttpServer(beans, "127.0.0.1", port)
        with pytest.raises(KafkaError, match="failed to bind"):
            MetricsHttpServer(beans, "no.such.host.invalid", 0)


class TestTls:
    """With certificates for both ends."""

    @pytest.fixture
    def server(self, beans: MBeanServer) -> Iterator[MetricsHttpServer]:
        keys = keys_and_trust(server_certificate(), certificate("alice"), ssl_client_auth="required")
        server = MetricsHttpServer(beans, "127.0.0.1", 0, HttpsSockets(keys, "metrics.http.").wrap)
        server.start()
        yield server
        server.shutdown(timeout_s=60)
        assert not server.is_alive()

    @staticmethod
    def context(own: Pem | None, tmp_path: Path) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=server_certificate().authority)
        if own is not None:
            context.load_cert_chain(own.write(tmp_path, "client")[0])
        return context

    def test_who_has_a_certificate_reads(self, server: MetricsHttpServer, tmp_path: Path) -> None:
        assert server.url.startswith("https://127.0.0.1:")
        context = self.context(certificate("alice"), tmp_path)
        with urllib.request.urlopen(f"{server.url}/jmx", timeout=patient_s(30), context=context) as response:
            assert json.load(response)["beans"]

    def test_others_do_not(self, server: MetricsHttpServer, tmp_path: Path) -> None:
        context = self.context(None, tmp_path)
        with pytest.raises(OSError):
            urllib.request.urlopen(server.url, timeout=patient_s(30), context=context).close()
        address = server._socket.getsockname()
        with socket.create_connection(address, timeout=patient_s(30)) as plain:
            plain.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            received = b""
            with suppress(ConnectionResetError):
                received = plain.recv(4096)
            assert b"HTTP/1.0" not in received

    def test_shutdown_does_not_wait_for_a_silent_client(
        self, server: MetricsHttpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics_http_server, "CONNECTION_TIMEOUT_S", 600)
        with socket.create_connection(server._socket.getsockname(), timeout=patient_s(60)):
            eventually(lambda: server._connections)
            server.shutdown(timeout_s=60)
            assert not server.is_alive()
