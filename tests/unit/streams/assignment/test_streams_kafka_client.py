"""What the leader asks brokers about topics, which of them it asks, and what it makes of their errors."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.clients import admin_client
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka_lite.streams.assignment.streams_kafka_client import ClusterTopics, StreamsKafkaClient
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig

CLUSTER = ClusterTopics(2, ("127.0.0.1", 2), {"in": 3}, {})
WINDOWS = InternalTopicConfig("app-windows-changelog", "compact,delete", retention_ms=1000)


class Brokers:
    """Two brokers, at the ports 1 and 2; the second is the controller."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.highest = {ApiKey.METADATA: 12, ApiKey.CREATE_TOPICS: 7}
        self.creation = Errors.NONE
        self.unclear: dict[str, Errors] = {}
        """Topics without partitions in a Metadata response, and the error that it has instead."""
        self.requests: list[tuple[int, Any, int]] = []
        """Port, request and version."""

    def channel(self, _: str, port: int, **__: object) -> Channel:
        return Channel(self, port)

    def response(self, request: Any) -> Any:
        match request.API_KEY:
            case ApiKey.API_VERSIONS:
                return ApiVersionsResponse(
                    api_keys=[
                        ApiVersion(api_key=key, min_version=0, max_version=each) for key, each in self.highest.items()
                    ]
                )
            case ApiKey.METADATA:
                partitions = [MetadataResponsePartition(partition_index=number) for number in range(3)]
                return MetadataResponse(
                    brokers=[MetadataResponseBroker(node_id=each, host="127.0.0.1", port=each) for each in (1, 2)],
                    controller_id=2,
                    topics=[
                        MetadataResponseTopic(name="in", partitions=partitions),
                        *(
                            MetadataResponseTopic(name=name, error_code=each.code)
                            for name, each in self.unclear.items()
                        ),
                    ],
                )
            case _:
                results = [
                    CreatableTopicResult(name=each.name, error_code=self.creation.code) for each in request.topics
                ]
                return CreateTopicsResponse(topics=results)


class Channel:
    """A connection to one of them."""

    def __init__(self, brokers: Brokers, port: int) -> None:
        self._brokers, self._port = brokers, port

    def __enter__(self) -> Channel:
        if self._port in self._brokers.down:
            raise NotConnectedError(f"cannot connect to port {self._port}")
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def exchange(self, request: Any, version: int) -> Any:
        if request.API_KEY is not ApiKey.API_VERSIONS:
            self._brokers.requests.append((self._port, request, version))
        return self._brokers.response(request)


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    made = Brokers()
    monkeypatch.setattr(admin_client, "BlockingChannel", made.channel)
    return made


@pytest.fixture
def client() -> StreamsKafkaClient:
    return StreamsKafkaClient({"bootstrap.servers": "127.0.0.1:1,127.0.0.1:2"}, additional_retention_ms=500)


def test_all_topics_come_from_the_first_broker_that_responds(brokers: Brokers, client: StreamsKafkaClient) -> None:
    assert client.fetch_topics() == CLUSTER
    brokers.down = {1}
    assert client.fetch_topics() == CLUSTER
    assert [(port, request.topics, version) for port, request, version in brokers.requests] == [
        (1, None, 4),
        (2, None, 4),
    ]
    brokers.down = {1, 2}
    with pytest.raises(StreamsError, match="Could not fetch the topics of the cluster: cannot connect to port 2"):
        client.fetch_topics()


def test_a_topic_with_an_error_is_not_absent(brokers: Brokers, client: StreamsKafkaClient) -> None:
    new = {"new": Errors.LEADER_NOT_AVAILABLE}
    brokers.unclear = new | {"gone": Errors.UNKNOWN_TOPIC_OR_PARTITION}
    assert client.fetch_topics() == CLUSTER._replace(errors=new)


def test_topics_are_created_by_the_controller(brokers: Brokers, client: StreamsKafkaClient) -> None:
    client.create_topics({WINDOWS: 3}, 2, CLUSTER)
    [(port, request, _)] = brokers.requests
    [topic] = request.topics
    assert (port, topic.name, topic.num_partitions, topic.replication_factor) == (2, WINDOWS.name, 3, 2)
    configs = {each.name: each.value for each in topic.configs}
    assert configs == {"cleanup.policy": "compact,delete", "retention.ms": "1500"}


def test_a_topic_that_exists_already_is_no_error(brokers: Brokers, client: StreamsKafkaClient) -> None:
    brokers.creation = Errors.TOPIC_ALREADY_EXISTS
    client.create_topics({WINDOWS: 3}, 1, CLUSTER)
    brokers.creation = Errors.INVALID_REPLICATION_FACTOR
    with pytest.raises(StreamsError, match="app-windows-changelog due to INVALID_REPLICATION_FACTOR"):
        client.create_topics({WINDOWS: 3}, 1, CLUSTER)


def test_a_controller_that_is_missing_may_come_back(brokers: Brokers, client: StreamsKafkaClient) -> None:
    """A StreamsError is tried again."""
    with pytest.raises(StreamsError, match="no controller at the moment"):
        client.create_topics({WINDOWS: 3}, 1, CLUSTER._replace(controller=None))
    brokers.down = {2}
    with pytest.raises(StreamsError, match="Could not create topics: cannot connect to port 2"):
        client.create_topics({WINDOWS: 3}, 1, CLUSTER)


def test_a_broker_that_cannot_create_topics_is_too_old(brokers: Brokers, client: StreamsKafkaClient) -> None:
    del brokers.highest[ApiKey.CREATE_TOPICS]
    with pytest.raises(
        StreamsError, match=r"requires broker version 0\.10\.1\.x or higher: .* is too old for CREATE_TOPICS"
    ):
        client.create_topics({WINDOWS: 3}, 1, CLUSTER)
