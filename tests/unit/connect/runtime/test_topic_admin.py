"""A topic that a worker or a connector needs is created by the controller, with its settings, unless it is there."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopicResult, CreateTopicsResponse


class FakeRequests:
    """A cluster of two brokers, of which the second is the controller."""

    def __init__(self, *topics: str) -> None:
        self.topics = topics
        self.error = Errors.NONE
        self.created: list[tuple[object, Any]] = []

    def send_any_node(self, *_request: object) -> MetadataResponse:
        brokers = [MetadataResponseBroker(node_id=number, host="h", port=9000 + number) for number in (1, 2)]
        topics = [MetadataResponseTopic(name=name) for name in self.topics]
        return MetadataResponse(brokers=brokers, controller_id=2, topics=topics)

    def send(self, address: object, request: Any, _response: object) -> CreateTopicsResponse:
        self.created.append((address, request.topics[0]))
        return CreateTopicsResponse(topics=[CreatableTopicResult(name="t", error_code=self.error.code)])


@pytest.fixture
def admin() -> TopicAdmin:
    return TopicAdmin({"bootstrap.servers": "127.0.0.1:9001"})


def test_the_controller_creates_it_with_its_settings(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests("u")
    monkeypatch.setattr(admin, "_client", cluster)
    assert admin.ensure_exists("t", 3, 2, {"cleanup.policy": "compact"})
    ((address, topic),) = cluster.created
    assert (address, topic.name, topic.num_partitions, topic.replication_factor) == (("h", 9002), "t", 3, 2)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]


def test_one_that_is_there_stays_as_it_is(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests("t")
    monkeypatch.setattr(admin, "_client", cluster)
    assert not admin.ensure_exists("t", 3, 2)
    assert cluster.created == []


def test_a_refusal_is_an_error_unless_another_was_quicker(admin: TopicAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeRequests()
    monkeypatch.setattr(admin, "_client", cluster)
    cluster.error = Errors.TOPIC_ALREADY_EXISTS
    assert not admin.ensure_exists("t", 1, 1)
    cluster.error = Errors.INVALID_REPLICATION_FACTOR
    with pytest.raises(ConnectError, match="Could not create topic t: INVALID_REPLICATION_FACTOR"):
        admin.ensure_exists("t", 1, 1)
