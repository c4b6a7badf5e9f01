"""Clients that use APIs that are not served yet: they get Kafka's response, and the broker logs the reason, once."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.testing.cluster import Cluster
from tests.integration.test_broker_behaviour import raw_exchange

Reports = Callable[[], list[str]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def reports(caplog: pytest.LogCaptureFixture) -> Reports:
    logger = "kafka_lite.network.unserved_requests"
    caplog.set_level(logging.INFO, logger)
    connection = re.compile(r"[\d.]+:\d+-[\d.]+:\d+-\d+")
    return lambda: [connection.sub("…", record.getMessage()) for record in caplog.records if record.name == logger]


def channel(cluster: Cluster, client_id: str) -> BlockingChannel:
    host, port = cluster.bootstrap_servers.split(":")
    return BlockingChannel(host, int(port), client_id=client_id)


def test_an_api_without_a_codec_is_reported_once(cluster: Cluster, reports: Reports) -> None:
    header = RequestHeader(api_key=88, api_version=0, correlation_id=7, client_id="streams").encode(2)
    port = int(cluster.bootstrap_servers.rpartition(":")[2])
    for _ in range(2):
        assert raw_exchange(port, header + bytes(64)) == b""
    assert reports() == [
        "Client 'streams' at 127.0.0.1 asks for StreamsGroupHeartbeat (groups of Streams, KIP-1071), "
        "which this broker does not serve yet: closing connection …"
    ]


def test_a_version_with_a_codec_is_reported_once(cluster: Cluster, reports: Reports) -> None:
    request = StopReplicaRequest()
    for _ in range(2):
        with channel(cluster, "kraft") as kraft, pytest.raises(OSError, match="closed"):
            kraft.exchange(request, 4)
    assert reports() == [
        "Client 'kraft' at 127.0.0.1 asks for StopReplica version 4, "
        "which this broker does not serve yet: closing connection …"
    ]


def test_other_clients_are_not_reported(cluster: Cluster, reports: Reports) -> None:
    with channel(cluster, "good") as good:
        request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        assert good.exchange(request, 3).error_code == 0
    assert reports() == []
