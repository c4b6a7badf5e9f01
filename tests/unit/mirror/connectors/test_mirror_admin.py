"""The requests of MirrorAdmin, to the right broker, and what is made of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.mirror.connectors.mirror_admin import MirrorAdmin, NewTopic
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry
from kafka_lite.protocol.messages import api_33_alter_configs as alter_configs
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_16_list_groups import ListedGroup, ListGroupsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kafka_lite.protocol.messages.api_29_describe_acls import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_lite.protocol.messages.api_30_create_acls import AclCreationResult, CreateAclsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import ResourcePattern, ResourceType


class FakeRequests:
    """A cluster of two brokers, of which the second is the controller."""

    def __init__(self) -> None:
        self.topics: list[MetadataResponseTopic] = []
        self.controller_id = 2
        self.answers: list[Any] = []
        self.asked: list[tuple[object, Any]] = []

    def send_any_node(self, request: Any, response_class: type, max_version: int = 0) -> Any:
        if isinstance(request, MetadataRequest):
            brokers = [MetadataResponseBroker(node_id=number, host="h", port=9000 + number) for number in (1, 2)]
            return MetadataResponse(brokers=brokers, controller_id=self.controller_id, topics=self.topics)
        return self.send("any", request, response_class)

    def send(self, address: object, request: Any, response_class: type) -> Any:
        self.asked.append((address, request))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, response_class)
        return answer


@pytest.fixture
def cluster() -> FakeRequests:
    return FakeRequests()


@pytest.fixture
def admin(cluster: FakeRequests) -> MirrorAdmin:
    admin = MirrorAdmin({"bootstrap.servers": "127.0.0.1:9001", "client.id": "mirror"})
    admin._client = cluster  # type: ignore[assignment]
    return admin


def created(topic: str, error: Errors = Errors.NONE) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name=topic, error_code=error.code)])


def test_topics_with_their_numbers_of_partitions(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    partitions = [MetadataResponsePartition(partition_index=number) for number in range(3)]
    cluster.topics = [
        MetadataResponseTopic(name="t", partitions=partitions),
        MetadataResponseTopic(name="__consumer_offsets", partitions=partitions, is_internal=True),
        MetadataResponseTopic(name="gone", error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION.code),
    ]
    assert admin.topics() == {"t": 3}


def test_the_controller_creates_topics(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.answers = [created("t"), created("t", Errors.TOPIC_ALREADY_EXISTS), created("t", Errors.INVALID_CONFIG)]
    new = {"t": NewTopic(3, 2, {"retention.ms": "5"})}
    assert admin.create_topics(new) == {}
    assert admin.create_topics(new) == {}, "somebody was quicker"
    assert admin.create_topics(new) == {"t": "INVALID_CONFIG"}
    address, request = cluster.asked[0]
    assert address == ("h", 9002)
    (topic,) = request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("t", 3, 2)
    assert [(each.name, each.value) for each in topic.configs] == [("retention.ms", "5")]


def test_an_internal_topic_is_compacted_and_may_be_there(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.answers = [
        created("t"), created("t", Errors.TOPIC_ALREADY_EXISTS), created("t", Errors.TOPIC_AUTHORIZATION_FAILED),
        created("t", Errors.INVALID_REPLICATION_FACTOR),
    ]  # fmt: skip
    for _ in range(3):
        admin.ensure_compacted("t", 2)
    with pytest.raises(ConnectError, match="Unable to create topic 't': INVALID_REPLICATION_FACTOR"):
        admin.ensure_compacted("t", 2)
    (topic,) = cluster.asked[0][1].topics
    assert (topic.num_partitions, topic.replication_factor) == (1, 2)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]


def test_without_a_controller_nothing_is_created(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.controller_id = -1
    with pytest.raises(ConnectError, match="no controller"):
        admin.create_topics({"t": NewTopic(1, 1, {})})


def test_topics_grow(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.answers = [
        CreatePartitionsResponse(
            results=[
                CreatePartitionsTopicResult(name="grown", error_code=0),
                CreatePartitionsTopicResult(name="large", error_code=Errors.INVALID_PARTITIONS.code),
                CreatePartitionsTopicResult(name="gone", error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION.code),
            ]
        )
    ]
    refused = admin.create_partitions({"grown": 3, "large": 2, "gone": 1})
    assert refused == {"gone": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert [(each.name, each.count) for each in cluster.asked[0][1].topics] == [("grown", 3), ("large", 2), ("gone", 1)]


def test_settings_are_read_and_changed(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    setting = DescribeConfigsResourceResult(
        name="retention.ms", value="5", config_source=1, read_only=False, is_sensitive=False
    )
    cluster.answers = [
        DescribeConfigsResponse(
            results=[
                DescribeConfigsResult(resource_name="t", configs=[setting]),
                DescribeConfigsResult(resource_name="gone", error_code=3),
            ]
        ),
        IncrementalAlterConfigsResponse(
            responses=[
                AlterConfigsResourceResponse(resource_name="t", error_code=0),
                AlterConfigsResourceResponse(resource_name="u", error_code=Errors.INVALID_CONFIG.code),
            ]
        ),
    ]
    assert admin.topic_configs(["t", "gone"]) == {"t": [ConfigEntry("retention.ms", "5", 1)]}
    changes: dict[str, dict[str, str | None]] = {"t": {"a": "1", "b": None}, "u": {"a": "x"}}
    assert admin.alter_topic_configs(changes) == {"u": "INVALID_CONFIG"}
    altered = cluster.asked[1][1].resources
    assert [[(each.name, each.config_operation, each.value) for each in of.configs] for of in altered] == [
        [("a", 0, "1"), ("b", 1, None)], [("a", 0, "x")],
    ]  # fmt: skip


def groups(*names_and_types: tuple[str, str], error: int = 0) -> ListGroupsResponse:
    return ListGroupsResponse(
        groups=[ListedGroup(group_id=name, protocol_type=kind) for name, kind in names_and_types], error_code=error
    )


def test_groups_of_all_brokers(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.answers = [groups(("b", "consumer"), ("c", "connect")), groups(("a", ""))]
    assert admin.groups() == ["a", "b"]
    cluster.answers = [groups(error=Errors.COORDINATOR_NOT_AVAILABLE.code)]
    with pytest.raises(ApiError):
        admin.groups()


def test_a_broker_that_does_not_respond(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    cluster.answers = [ConnectionError("refused")] * 2
    with pytest.raises(ConnectError, match="The cluster does not respond: refused"):
        admin.groups()
    with pytest.raises(ConnectError, match="The cluster does not respond: refused"):
        admin.topic_configs(["t"])


def test_connections_are_protected_as_the_settings_say() -> None:
    settings = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    admin = MirrorAdmin({**settings, "sasl.username": "u", "sasl.password": "p"})
    assert admin._client._security is not None
    assert admin._groups._client._security is not None
    with pytest.raises(ConfigError, match=r"sasl\.jaas\.config"):
        MirrorAdmin(settings)


READING = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "t"),
    AccessControlEntry("User:ann", "*", AclOperation.READ, AclPermissionType.ALLOW),
)


def test_access_control_lists_of_topics(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    acl = AclDescription(principal="User:ann", host="*", operation=3, permission_type=3)
    resource = DescribeAclsResource(resource_type=2, resource_name="t", pattern_type=3, acls=[acl])
    cluster.answers = [DescribeAclsResponse(resources=[resource])]
    assert admin.topic_acls() == [READING]
    request = cluster.asked[0][1]
    assert (request.resource_type_filter, request.pattern_type_filter, request.resource_name_filter) == (2, 1, None)


def test_a_cluster_without_an_authorizer_or_one_that_refuses(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    codes = (Errors.SECURITY_DISABLED.code, Errors.CLUSTER_AUTHORIZATION_FAILED.code)
    cluster.answers = [DescribeAclsResponse(error_code=code) for code in codes]
    assert admin.topic_acls() is None
    with pytest.raises(ApiError):
        admin.topic_acls()


def test_access_control_lists_are_created_at_the_controller(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    refused = AclCreationResult(error_code=Errors.INVALID_REQUEST.code, error_message="why")
    cluster.answers = [CreateAclsResponse(results=[AclCreationResult()]), CreateAclsResponse(results=[refused])]
    assert admin.create_acls([READING]) == {}
    assert admin.create_acls([READING]) == {"t": "why"}
    (address, request), _ = cluster.asked
    creation = request.creations[0]
    assert address == ("h", 9002)
    assert (creation.resource_name, creation.resource_pattern_type, creation.principal, creation.operation) == (
        "t", 3, "User:ann", 3,
    )  # fmt: skip


def test_all_settings_of_a_topic_are_replaced(cluster: FakeRequests, admin: MirrorAdmin) -> None:
    refused = alter_configs.AlterConfigsResourceResponse(
        resource_name="u", error_code=Errors.INVALID_CONFIG.code, error_message="why"
    )
    done = alter_configs.AlterConfigsResourceResponse(resource_name="t")
    cluster.answers = [alter_configs.AlterConfigsResponse(responses=[done, refused])]
    assert admin.replace_topic_configs({"t": {"a": "1"}, "u": {}}) == {"u": "why"}
    address, request = cluster.asked[0]
    assert address == ("h", 9002)
    assert [[(each.name, each.value) for each in of.configs] for of in request.resources] == [[("a", "1")], []]
