"""Warnings of connections that fail, alone and from a network client."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.clients.connection_warnings import INTERVAL_MS, ConnectionWarnings
from kafka_lite.clients.metadata_updater import ManualMetadataUpdater
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.time import MockTime
from tests.support.mock_selector import MockSelector

BOOTSTRAP = Node(-1, "h", 9092)
BROKER = Node(3, "b", 9093)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


def test_the_first_failure_is_a_warning_and_then_one_in_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    failures = ConnectionWarnings()
    for now_ms in (0, 1, INTERVAL_MS - 1, INTERVAL_MS, INTERVAL_MS + 1):
        failures.not_established(BOOTSTRAP, now_ms)
    expected = "Connection to node -1 (h:9092) could not be established. Is a broker running there? Trying again."
    assert warnings(caplog) == [expected] * 2


def test_brokers_have_limits_of_their_own(caplog: pytest.LogCaptureFixture) -> None:
    failures = ConnectionWarnings()
    failures.not_established(BROKER, 0, OSError("unreachable"))
    failures.not_established(BOOTSTRAP, 1)
    assert warnings(caplog)[0] == (
        "Connection to node 3 (b:9093) could not be established (unreachable). Node may not be available."
    )
    assert len(warnings(caplog)) == 2


def test_a_broker_that_has_responded_is_warned_of_again(caplog: pytest.LogCaptureFixture) -> None:
    failures = ConnectionWarnings()
    failures.not_established(BROKER, 0)
    failures.responded(BROKER.id_string)
    failures.not_established(BROKER, 1)
    assert len(warnings(caplog)) == 2


class Client:
    """A network client that knows one address, and its selector."""

    def __init__(self) -> None:
        self.time = MockTime()
        self.selector = MockSelector(self.time)
        updater = ManualMetadataUpdater([BOOTSTRAP])
        self.client = NetworkClient(self.selector, updater, "me", time=self.time)  # type: ignore[arg-type]

    def poll(self) -> None:
        self.client.ready(BOOTSTRAP, self.time.hi_res_ms())
        self.client.poll(100, self.time.hi_res_ms())


def test_a_client_warns_at_once_and_rarely(caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    client.selector.hold_connections = True
    began_ms = client.time.hi_res_ms()
    while client.time.hi_res_ms() - began_ms < INTERVAL_MS / 2:
        client.poll()
        client.selector.lose("-1")
        client.poll()
        client.time.sleep(100)
    assert len(warnings(caplog)) == 1
    assert "could not be established. Is a broker running there?" in warnings(caplog)[0]


def test_a_connection_that_is_lost_before_a_response_asks_for_the_listener(caplog: pytest.LogCaptureFixture) -> None:
    """As when the port speaks TLS: it closes the connection after the first request."""
    client = Client()
    client.poll()  # connected
    client.poll()  # ApiVersions is sent
    client.selector.lose("-1")
    client.poll()
    assert warnings(caplog) == [
        "Connection to node -1 (h:9092) was lost before the first response. "
        "Is it the PLAINTEXT listener of a broker? Trying again."
    ]
