"""What a starting broker does not answer before it knows the topics, also where rights are looked at."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.startup.held_requests import HeldRequests
from kafka_lite.server.startup.request_handling import BrokerParts, RequestHandling
from tests.support.authorizing import Broker, Few

ORDERS_ID = UUID(int=7)
CONFIG = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "auto.create.topics.enable": "true"})


def test_requests_about_topics_wait_and_others_do_not() -> None:
    held, handled = HeldRequests(), list[Any]()

    def handler(*request: Any) -> None:
        handled.append(request)

    metadata, pages = (held.wrap(key, handler) for key in (ApiKey.METADATA, ApiKey.DESCRIBE_TOPIC_PARTITIONS))
    held.hold()
    request: Any = object()
    metadata(request, "first", print)
    pages(request, "second", print)
    held.wrap(ApiKey.FETCH, handler)(request, "fetch", print)
    assert [body for _, body, _ in handled] == ["fetch"]
    held.release()
    assert handled[1:] == [(request, "first", print), (request, "second", print)]
    metadata(request, "third", print)
    assert handled[-1] == (request, "third", print)


class StartingBroker:
    """The handlers of a broker whose controller is another one. Alice may do what ``allowed`` says."""

    def __init__(self, *allowed: str) -> None:
        parts: Any = MagicMock(spec_set=[*BrokerParts.__dataclass_fields__])
        parts.config, parts.time, parts.metadata_cache = CONFIG, SYSTEM_TIME, MetadataCache(1)
        parts.socket_server.request_channel = RequestChannel(1, 10)
        parts.socket_server.unserved_requests = UnservedRequests()
        parts.security.tokens.enabled = False
        parts.security.authorizer = Few(*allowed)
        self.cache: MetadataCache = parts.metadata_cache
        self.handling = RequestHandling(parts)
        self.handling.held.hold()
        self.responses: list[Any] = []

    def ask(self, body: Any, version: int) -> None:
        request = Broker().request(body.API_KEY, version, body)
        self.handling.apis.handlers[body.API_KEY](request, body, self.responses.append)

    def is_told_of_orders(self) -> None:
        """The controller's UpdateMetadata has come."""
        state = UpdateMetadataPartitionState(partition_index=0, leader=1, leader_epoch=0, isr=[1], replicas=[1])
        topic = UpdateMetadataTopicState(topic_name="orders", topic_id=ORDERS_ID, partition_states=[state])
        broker = UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)
        self.cache.update_cache(UpdateMetadataRequest(topic_states=[topic], live_brokers=[broker]))
        self.handling.held.release()
        self.handling.shutdown()

    def answers(self) -> list[tuple[str | None, int]]:
        return [(topic.name, topic.error_code) for response in self.responses for topic in response.topics]


def test_a_client_that_may_not_create_a_topic_is_not_refused_one_that_exists() -> None:
    """A producer of librdkafka would give the topic up."""
    broker = StartingBroker("DESCRIBE TOPIC orders")
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="orders")], allow_auto_topic_creation=True)
    broker.ask(asked, 9)
    assert broker.responses == []
    broker.is_told_of_orders()
    assert broker.answers() == [("orders", 0)]


@pytest.mark.parametrize(
    ("allowed", "answer"),
    [
        ([], [(None, Errors.TOPIC_AUTHORIZATION_FAILED.code)]),
        (["DESCRIBE TOPIC orders"], [("orders", 0)]),
    ],
)
def test_a_topic_that_is_asked_for_by_id_is_not_described_to_everybody(allowed: list[str], answer: object) -> None:
    """The rule finds the names of ids in the metadata: before it is there, it would let every id pass."""
    broker = StartingBroker(*allowed)
    broker.ask(MetadataRequest(topics=[MetadataRequestTopic(topic_id=ORDERS_ID, name=None)]), 12)
    broker.is_told_of_orders()
    assert broker.answers() == answer


def test_pages_of_topics_wait_too() -> None:
    broker = StartingBroker("DESCRIBE TOPIC orders")
    broker.ask(DescribeTopicPartitionsRequest(topics=[TopicRequest(name="orders")], response_partition_limit=10), 0)
    assert broker.responses == []
    broker.is_told_of_orders()
    assert broker.answers() == [("orders", 0)]
