"""Every request completes exactly once, whatever fails; what Produce passes on, and what Metadata tells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.network.request_channel import ResponseAction
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataBroker, UpdateMetadataRequest
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.apis.metadata_apis import MetadataApis
from kafka_lite.server.auth.authorizing_handlers import authorizing
from kafka_lite.server.delayed_produce import PartitionResponse
from kafka_lite.server.metadata_cache import MetadataCache
from tests.support.authorizing import Broker as Authorizing
from tests.support.authorizing import Topics
from tests.support.recorded_apis import BATCH, TP, Apis


@pytest.fixture
def apis() -> Apis:
    return Apis()


def produce(*records: Any, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index=0, records=each) for each in records]
    return ProduceRequest(acks=acks, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])


# -- one completion per request


def test_a_response_that_cannot_be_encoded_closes_the_connection(apis: Apis, caplog: pytest.LogCaptureFixture) -> None:
    """It is encoded in the thread that completes the operation, for example the controller's."""
    apis.handle(ApiKey.CREATE_TOPICS, 4, CreateTopicsRequest(topics=[CreatableTopic(name="t")]))
    apis.admin.callback([CreatableTopicResult(name="t", error_message="x" * 40_000)])
    assert apis.answer().action is ResponseAction.CLOSE_CONNECTION
    assert "Error when responding" in caplog.text


def test_nothing_is_encoded_for_a_client_that_has_left(apis: Apis) -> None:
    request = apis.handle(ApiKey.CREATE_TOPICS, 4, CreateTopicsRequest(topics=[CreatableTopic(name="t")]))
    request.note_client_left()
    apis.admin.callback([CreatableTopicResult(name="t", error_message="x" * 40_000)])
    response = apis.answer()
    assert (response.action, response.send) == (ResponseAction.NO_OP, None)


# -- heads of the controller's large requests


@pytest.mark.parametrize("may", [True, False])
def test_the_head_of_a_request_is_refused_without_the_right_to_send_it(apis: Apis, may: bool) -> None:
    broker = Authorizing(*(["CLUSTER_ACTION CLUSTER kafka-cluster"] if may else []))
    apis.apis._head_handlers = {ApiKey.STOP_REPLICA: lambda *_: None}
    apis.apis.wrap_handlers(authorizing(broker.auth, True, Topics()))
    head = StopReplicaRequest(controller_epoch=1)
    request = broker.request(ApiKey.STOP_REPLICA, 1, head)
    assert apis.apis.refuse(request, head) is not may
    if not may:
        assert apis.message().error_code == Errors.CLUSTER_AUTHORIZATION_FAILED.code
    assert apis.channel.receive_response(0) is None


def test_only_the_versions_that_are_served_have_a_head(apis: Apis) -> None:
    broker = Authorizing()
    apis.apis.wrap_handlers(authorizing(broker.auth, True, Topics()))
    for api_key, version in ((ApiKey.STOP_REPLICA, 4), (ApiKey.METADATA, 1)):
        assert not apis.apis.refuse(broker.request(api_key, version, MetadataRequest()), MetadataRequest())
    assert apis.channel.receive_response(0) is None, "handle reports what is not served"


# -- Produce


def test_a_partition_that_is_listed_twice_is_rejected_as_a_whole(apis: Apis) -> None:
    """The response has space for one result only. Kafka appends the last batch and drops the others."""
    apis.handle(ApiKey.PRODUCE, 9, produce(BATCH, BATCH, BATCH))
    answer: ProduceResponse = apis.message()
    codes = [partition.error_code for partition in answer.responses[0].partition_responses]
    assert codes == [Errors.INVALID_REQUEST.code] * 3
    assert not apis.replicas.appended


def test_a_request_in_purgatory_does_not_keep_its_records(apis: Apis) -> None:
    request = apis.handle(ApiKey.PRODUCE, 9, produce(BATCH, acks=-1))
    assert bytes(apis.replicas.appended[TP]) == BATCH
    body = cast(ProduceRequest, request.body)
    assert body.topic_data[0].partition_data[0].records is None
    assert apis.replicas.respond is not None
    apis.replicas.respond({TP: PartitionResponse(Errors.NONE, 3)})
    answer: ProduceResponse = apis.message()
    assert answer.responses[0].partition_responses[0].base_offset == 3


# -- Metadata

LOCAL = Broker(7, (EndPoint("here", 9092, "PLAINTEXT", SecurityProtocol.PLAINTEXT),))


def test_a_broker_that_knows_no_other_yet_lists_itself_and_creates_nothing() -> None:
    """A response without brokers makes clients of librdkafka wait forever."""

    def fail(_topic: str) -> None:
        raise AssertionError("created")

    config = SimpleNamespace(auto_create_topics_enable=True)
    cache = MetadataCache(7)
    apis = MetadataApis(cast(Any, config), "cluster", cache, lambda: LOCAL, fail, ApiVersionManager({}))
    request = SimpleNamespace(header=SimpleNamespace(api_version=4), listener_name="PLAINTEXT")
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="demo")])
    answers: list[Any] = []
    apis.handle_metadata(cast(Any, request), asked, answers.append)
    assert [(broker.node_id, broker.host, broker.port) for broker in answers[0].brokers] == [(7, "here", 9092)]
    assert [topic.error_code for topic in answers[0].topics] == [Errors.LEADER_NOT_AVAILABLE.code]
    assert answers[0].controller_id == -1
    cache.update_cache(UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)]))
    apis.handle_metadata(cast(Any, request), MetadataRequest(topics=[]), answers.append)
    assert [broker.node_id for broker in answers[1].brokers] == [1]


def test_a_topic_that_cannot_be_created_does_not_hide_the_others() -> None:
    def fail(_topic: str) -> None:
        raise TimeoutError("no answer from ZooKeeper")

    config = SimpleNamespace(auto_create_topics_enable=True)
    anything = cast(Any, None)
    cache = MetadataCache(0)
    cache.update_cache(UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=0, v0_host="h", v0_port=9092)]))
    apis = MetadataApis(cast(Any, config), "cluster", cache, anything, fail, ApiVersionManager({}))
    request = SimpleNamespace(header=SimpleNamespace(api_version=4), listener_name="PLAINTEXT")
    asked = [MetadataRequestTopic(name=name) for name in ("new", "not/legal")]
    answers: list[Any] = []
    apis.handle_metadata(cast(Any, request), MetadataRequest(topics=asked), answers.append)
    assert [(topic.name, topic.error_code) for topic in answers[0].topics] == [
        ("new", Errors.UNKNOWN_SERVER_ERROR.code),
        ("not/legal", Errors.INVALID_TOPIC_EXCEPTION.code),
    ]


@pytest.mark.parametrize(
    ("version", "name", "topic_id", "error", "told"),
    [
        (10, "", 7, Errors.INVALID_REQUEST, ""),
        (11, "there", 7, Errors.INVALID_REQUEST, "there"),
        (11, None, 0, Errors.INVALID_REQUEST, ""),
        (12, None, 7, Errors.UNKNOWN_TOPIC_ID, None),
        (12, "there", 7, Errors.UNKNOWN_TOPIC_ID, None),
    ],
)
def test_an_unknown_id_and_ids_before_version_12_are_errors(
    version: int, name: str | None, topic_id: int, error: Errors, told: str | None
) -> None:
    """The responses are those of Kafka 3.9 for an unknown id."""
    anything = cast(Any, None)
    apis = MetadataApis(anything, "cluster", MetadataCache(0), lambda: LOCAL, anything, ApiVersionManager({}))
    request = SimpleNamespace(header=SimpleNamespace(api_version=version), listener_name="PLAINTEXT")
    asked = MetadataRequestTopic(name=name, topic_id=UUID(int=topic_id))
    answers: list[Any] = []
    apis.handle_metadata(
        cast(Any, request), MetadataRequest(topics=[asked, asked][: 2 if version > 11 else 1]), answers.append
    )
    assert [(topic.error_code, topic.name, topic.topic_id.int) for topic in answers[0].topics] == [
        (error.code, told, topic_id)
    ]
    answers[0].encode(version)
