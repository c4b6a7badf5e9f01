"""The operations of ``topics`` on a scripted channel and in a ZooKeeper in memory."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka_lite.protocol.messages.api_20_delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from kafka_lite.tools.admin.topic_service import (
    BrokerTopicService,
    NewTopic,
    PartitionDescription,
    ZooKeeperTopicService,
)
from kafka_lite.tools.common.tool_errors import ToolError
from tests.support.fake_zookeeper import Tree, fake_zk
from tests.support.scripted_channel import ScriptedChannel, metadata

F0, F1 = TopicPartition("flights", 0), TopicPartition("flights", 1)
EXISTS = Errors.TOPIC_ALREADY_EXISTS


def setting(name: str, value: str | None, **source: Any) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(name=name, value=value, **source)


def settings(*entries: DescribeConfigsResourceResult, error: Errors = Errors.NONE) -> DescribeConfigsResponse:
    result = DescribeConfigsResult(
        resource_type=2, resource_name="flights", configs=list(entries), error_code=error.code, error_message="refused"
    )
    return DescribeConfigsResponse(results=[result])


# ── Through a broker ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_description_has_the_partitions_in_order_and_what_is_not_default() -> None:
    configs = settings(
        setting("retention.ms", "5", config_source=1),
        setting("segment.ms", "7", config_source=4),
        setting("ssl.key", None, config_source=2),
        setting("cleanup.policy", "delete", config_source=5),
        setting("min.insync.replicas", "2", config_source=5),
    )
    (found,) = BrokerTopicService(ScriptedChannel(metadata(F1, F0), configs)).describe(["flights"])
    assert found.partitions == [PartitionDescription(number, 1, [1], [1]) for number in (0, 1)]
    assert found.configs == {"retention.ms": "5", "segment.ms": "7", "ssl.key": ""}
    assert (found.min_isr, found.replication_factor, found.marked_for_deletion) == (2, 1, False)


def test_a_broker_before_1_1_says_only_what_is_default() -> None:
    sent = settings(
        setting("retention.ms", "5", is_default=False),
        setting("cleanup.policy", "delete", is_default=True),
    )
    received, _ = DescribeConfigsResponse.decode_from(sent.encode(0), 0, 0)
    (found,) = BrokerTopicService(ScriptedChannel(metadata(F0), received)).describe(["flights"])
    assert (found.configs, found.min_isr) == ({"retention.ms": "5"}, None)


def test_settings_that_are_refused_are_an_error() -> None:
    channel = ScriptedChannel(metadata(F0), settings(error=Errors.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(ApiError, match="refused") as raised:
        BrokerTopicService(channel).describe(["flights"])
    assert raised.value.error is Errors.TOPIC_AUTHORIZATION_FAILED


def test_a_topic_that_is_deleted_meanwhile_is_an_error() -> None:
    channel = ScriptedChannel(metadata(flights=Errors.UNKNOWN_TOPIC_OR_PARTITION), settings())
    with pytest.raises(ToolError, match="unknown topic flights"):
        BrokerTopicService(channel).describe(["flights"])


def controller(*responses: Any) -> ScriptedChannel:
    channel = ScriptedChannel(metadata(F0), *responses)
    channel.refresh()
    return channel


def created(error: Errors, message: str | None = None) -> CreateTopicsResponse:
    result = CreatableTopicResult(name="flights", error_code=error.code, error_message=message)
    return CreateTopicsResponse(topics=[result])


def test_a_new_topic_leaves_to_the_broker_what_is_not_given() -> None:
    channel = controller(created(Errors.NONE))
    BrokerTopicService(channel).create(NewTopic("flights", configs={"retention.ms": "5"}))
    (sent,) = channel.requests[-1].topics
    assert (sent.num_partitions, sent.replication_factor, sent.assignments) == (-1, -1, [])
    assert [(each.name, each.value) for each in sent.configs] == [("retention.ms", "5")]


def test_a_new_topic_with_an_assignment_names_the_brokers_of_each_partition() -> None:
    channel = controller(created(Errors.NONE))
    BrokerTopicService(channel).create(NewTopic("flights", assignment={0: [1, 2], 1: [2, 1]}))
    (sent,) = channel.requests[-1].topics
    assert [(each.partition_index, each.broker_ids) for each in sent.assignments] == [(0, [1, 2]), (1, [2, 1])]


@pytest.mark.parametrize(("message", "shown"), [("it is there", "it is there"), (None, EXISTS.message)])
def test_a_topic_that_is_not_created_is_an_error_with_the_brokers_words(message: str | None, shown: str) -> None:
    with pytest.raises(ApiError, match=shown) as raised:
        BrokerTopicService(controller(created(EXISTS, message))).create(NewTopic("flights"))
    assert raised.value.error is EXISTS


def test_the_new_controller_is_asked_if_it_has_moved() -> None:
    channel = controller(created(Errors.NOT_CONTROLLER), created(Errors.NONE))
    BrokerTopicService(channel).create(NewTopic("flights"))
    assert [type(each).__name__ for each in channel.requests[1:]] == [
        "CreateTopicsRequest", "MetadataRequest", "CreateTopicsRequest",
    ]  # fmt: skip


@pytest.mark.parametrize(("replicas", "sent"), [(None, None), ([[1], [2]], [[1], [2]])])
def test_partitions_are_added_with_or_without_an_assignment(replicas: Any, sent: Any) -> None:
    channel = controller(CreatePartitionsResponse(results=[CreatePartitionsTopicResult(name="flights")]))
    BrokerTopicService(channel).add_partitions("flights", 3, replicas)
    (topic,) = channel.requests[-1].topics
    assert (topic.name, topic.count) == ("flights", 3)
    assert (topic.assignments and [each.broker_ids for each in topic.assignments]) == sent


def test_partitions_that_are_not_added_are_an_error() -> None:
    result = CreatePartitionsTopicResult(name="flights", error_code=Errors.INVALID_PARTITIONS.code, error_message="few")
    with pytest.raises(ApiError, match="few"):
        BrokerTopicService(controller(CreatePartitionsResponse(results=[result]))).add_partitions("flights", 1, None)


def test_the_topic_that_is_not_deleted_is_named() -> None:
    results = [
        DeletableTopicResult(name="weather"),
        DeletableTopicResult(name="flights", error_code=Errors.TOPIC_DELETION_DISABLED.code),
    ]
    with pytest.raises(ApiError, match="flights: ") as raised:
        BrokerTopicService(controller(DeleteTopicsResponse(responses=results))).delete(["weather", "flights"])
    assert raised.value.error is Errors.TOPIC_DELETION_DISABLED


def test_a_broker_is_not_asked_to_alter_settings() -> None:
    with pytest.raises(ApiError, match="kafka-lite configs"):
        BrokerTopicService(ScriptedChannel()).alter_configs("flights", {"retention.ms": "5"}, [])


# ── In ZooKeeper ──────────────────────────────────────────────────────────────────────────────────────────────────────

BROKER = b'{"version":2,"host":"b","port":9092,"jmx_port":-1,"timestamp":"0","endpoints":["PLAINTEXT://b:9092"]}'


@pytest.fixture
def service() -> ZooKeeperTopicService:
    zk = fake_zk(Tree())
    for broker_id in (1, 2):
        zk.zookeeper.create_recursive(f"/brokers/ids/{broker_id}", BROKER)
    for path in ("/brokers/topics", "/config/topics", "/config/changes", "/admin/delete_topics"):
        zk.zookeeper.ensure_path(path)
    return ZooKeeperTopicService(zk)


def test_a_topic_in_zookeeper_is_created_changed_and_described(service: ZooKeeperTopicService) -> None:
    service.create(NewTopic("flights", assignment={0: [1, 2]}, configs={"retention.ms": "5", "segment.ms": "7"}))
    service.create(NewTopic("weather", partitions=1, replication_factor=2))
    service.alter_configs("flights", {"min.insync.replicas": "2", "segment.ms": "8"}, ["retention.ms"])
    service.add_partitions("flights", 2, [[2, 1]])
    assert service.list_topics() == ["flights", "weather"]
    assert service.live_brokers() == {1, 2}
    (found,) = service.describe(["nothing", "flights"])
    assert found.partitions == [PartitionDescription(0, -1, [1, 2], []), PartitionDescription(1, -1, [2, 1], [])]
    assert (found.configs, found.min_isr) == ({"segment.ms": "8", "min.insync.replicas": "2"}, 2)
    assert found.replication_factor == 2


def test_a_topic_in_zookeeper_is_marked_for_deletion(service: ZooKeeperTopicService) -> None:
    service.create(NewTopic("flights", assignment={0: [1]}))
    service.delete(["flights"])
    assert service.marked_for_deletion() == {"flights"}
    assert [each.marked_for_deletion for each in service.describe(["flights"])] == [True]


@pytest.mark.parametrize(
    ("topic", "complaint"),
    [
        (NewTopic("flights", assignment={0: [1]}), "flights"),
        (NewTopic("a b", assignment={0: [1]}), "a b"),
        (NewTopic("t", partitions=0, replication_factor=1), "partitions"),
        (NewTopic("t", partitions=1, replication_factor=3), "3"),
        (NewTopic("t", assignment={0: [1, 1]}), "1"),
        (NewTopic("t", assignment={0: [1]}, configs={"retention.ms": "soon"}), "retention.ms"),
        (NewTopic("t", assignment={0: [1]}, configs={"retention": "1"}), "retention"),
    ],
)
def test_an_invalid_topic_leaves_zookeeper_as_it_was(
    service: ZooKeeperTopicService, topic: NewTopic, complaint: str
) -> None:
    service.create(NewTopic("flights", assignment={0: [1]}))
    with pytest.raises(KafkaError, match=complaint):
        service.create(topic)
    assert service.list_topics() == ["flights"]


def test_the_offsets_topic_keeps_its_partitions(service: ZooKeeperTopicService) -> None:
    service.create(NewTopic("__consumer_offsets", assignment={0: [1]}))
    with pytest.raises(ApiError, match="offsets topic cannot be changed"):
        service.add_partitions("__consumer_offsets", 2, None)
    (found,) = service.describe(["__consumer_offsets"])
    assert len(found.partitions) == 1


@pytest.mark.parametrize(("count", "replicas"), [(1, None), (0, None), (3, [[1]])])
def test_partitions_in_zookeeper_only_become_more(service: ZooKeeperTopicService, count: int, replicas: Any) -> None:
    service.create(NewTopic("flights", assignment={0: [1]}))
    with pytest.raises(KafkaError):
        service.add_partitions("flights", count, replicas)
    (found,) = service.describe(["flights"])
    assert len(found.partitions) == 1
