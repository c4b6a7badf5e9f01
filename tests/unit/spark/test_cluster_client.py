from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from kafka_lite.spark.cluster_client import ClusterClient, ClusterUnreachableError


class Brokers:
    """Connections to brokers by port; those that are down refuse connections."""

    def __init__(self, *ports: int) -> None:
        self.up = set(ports)
        self.asked: list[str | None] = []
        self.brokers = [MetadataResponseBroker(node_id=port, host="h", port=port) for port in ports]

    def connect(self, _host: str, port: int) -> Any:
        if port not in self.up:
            raise ConnectionRefusedError("refused")
        return Connection(self, port)


class Connection:
    def __init__(self, brokers: Brokers, port: int) -> None:
        self.brokers = brokers
        self.port = port

    def exchange(self, request: MetadataRequest, _response: type) -> MetadataResponse:
        if self.port not in self.brokers.up:
            raise ConnectionResetError("reset")
        self.brokers.asked = [topic.name for topic in request.topics or []]
        return MetadataResponse(brokers=self.brokers.brokers, controller_id=self.port)

    def close(self) -> None:
        pass


@pytest.fixture
def brokers() -> Brokers:
    return Brokers(1, 2)


@pytest.fixture
def client(brokers: Brokers, monkeypatch: pytest.MonkeyPatch) -> ClusterClient:
    client = ClusterClient(["h:1"], "test", 1000)
    monkeypatch.setattr(client, "_connect", brokers.connect)
    return client


def test_a_known_broker_is_used_if_the_bootstrap_servers_are_down(client: ClusterClient, brokers: Brokers) -> None:
    assert not client.has_answered
    assert client.metadata(None).controller_id == 1
    assert client.has_answered
    brokers.up.remove(1)
    assert client.metadata(None).controller_id == 2


def test_if_no_broker_responds_the_error_names_those_that_were_tried(client: ClusterClient, brokers: Brokers) -> None:
    brokers.up.clear()
    with pytest.raises(ClusterUnreachableError, match=r"tried h:1 \(refused\)$"):
        client.metadata(None)
    brokers.up = {1, 2}
    client.metadata(None)
    brokers.up.clear()
    with pytest.raises(ClusterUnreachableError, match=r"h:1 \(refused\), h:2 \(refused\)$"):
        client.metadata(None)


def test_topics_of_a_set_are_asked_for_in_order(client: ClusterClient, brokers: Brokers) -> None:
    names = [f"topic-{number}" for number in range(10, 60)]
    client.metadata(set(names))
    assert brokers.asked == names
