"""Asks a cluster about its topics, their access control lists and its groups, and changes them.

Kafka 2.4: clients/.../clients/admin/Admin.java; connect/mirror/.../connect/mirror/MirrorUtils.java
(createSinglePartitionCompactedTopic); clients/.../clients/admin/ForwardingAdmin.java: Kafka 3.3 · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from kafka_lite.clients.admin_client import AdminClient, controller_of, describe_cluster
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.connect.runtime.topic_admin import COMPACTED, TIMEOUT_MS, creatable_topic
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.named_class import NamedClass
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry
from kafka_lite.protocol.messages import api_32_describe_configs as describe_configs
from kafka_lite.protocol.messages import api_33_alter_configs as alter_configs
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.protocol.messages.api_29_describe_acls import (
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kafka_lite.protocol.messages.api_30_create_acls import CreateAclsRequest, CreateAclsResponse
from kafka_lite.protocol.messages.api_37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.security.authorizer.acl_binding import (
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_messages import creation_of, described_bindings
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourceType

_TOPIC_RESOURCE, _SET, _DELETE = 2, 0, 1
_MAY_BE_THERE = frozenset({
    Errors.NONE, Errors.TOPIC_ALREADY_EXISTS, Errors.TOPIC_AUTHORIZATION_FAILED, Errors.CLUSTER_AUTHORIZATION_FAILED,
})  # fmt: skip
"""Results of the creation of an internal topic that do no harm: somebody else may create it, too."""
JAVAS_FORWARDING_ADMIN = "org.apache.kafka.clients.admin.ForwardingAdmin"
R = TypeVar("R", bound=Response)


class NewTopic(NamedTuple):
    """A topic to create."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class MirrorAdmin:
    """The admin that connectors and their tasks use. A subclass of yours may leave topics to another system.

    Each call opens connections of its own, since there are a few of them in a minute.

    Each raises ConnectError if no broker responds, and ApiError, for a broker that is too old, too. What concerns one
    topic of several is returned: the reason for each one that was refused.
    """

    def __init__(self, config: Mapping[str, object]) -> None:
        """``config`` is that of an AdminClient. Raises ConfigError."""
        self._client = AdminClient(config)
        self._groups = GroupAdmin(config)

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def topics(self) -> dict[str, int]:
        """All topics but Kafka's own, with their numbers of partitions."""
        return {
            each.name: len(each.partitions)
            for each in self._cluster().topics
            if each.name is not None and not each.error_code and not each.is_internal
        }

    def ensure_compacted(self, topic: str, replication_factor: int) -> None:
        """Create a compacted topic of one partition unless it is there, or unless it is for others to create it."""
        error, message = self._create({topic: NewTopic(1, replication_factor, COMPACTED)})[topic]
        if error not in _MAY_BE_THERE:
            raise ConnectError(f"Unable to create topic '{topic}': {message or error.name}")

    def create_topics(self, topics: Mapping[str, NewTopic]) -> dict[str, str]:
        """Create topics. One that is there already counts as created."""
        done = (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS)
        return {
            topic: message or error.name
            for topic, (error, message) in self._create(topics).items()
            if error not in done
        }

    def _create(self, topics: Mapping[str, NewTopic]) -> dict[str, tuple[Errors, str | None]]:
        wanted = [creatable_topic(name, *new) for name, new in topics.items()]
        request = CreateTopicsRequest(topics=wanted, timeout_ms=TIMEOUT_MS)
        results = self._at_controller(request, CreateTopicsResponse).topics
        return {each.name: (Errors.for_code(each.error_code), each.error_message) for each in results}

    def create_partitions(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Let topics have so many partitions. One that has them already counts as changed."""
        request = CreatePartitionsRequest(
            topics=[
                CreatePartitionsTopic(name=topic, count=count, assignments=None) for topic, count in counts.items()
            ],
            timeout_ms=TIMEOUT_MS,
            validate_only=False,
        )
        done = (Errors.NONE, Errors.INVALID_PARTITIONS)
        results = self._at_controller(request, CreatePartitionsResponse).results
        return {
            each.name: each.error_message or Errors.for_code(each.error_code).name
            for each in results
            if Errors.for_code(each.error_code) not in done
        }

    def topic_configs(self, topics: Iterable[str]) -> dict[str, list[ConfigEntry]]:
        """The settings of topics. A topic that is gone is left out."""
        resources = [
            describe_configs.DescribeConfigsResource(
                resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=None
            )
            for topic in topics
        ]
        request = describe_configs.DescribeConfigsRequest(resources=resources)
        results = self._any(request, describe_configs.DescribeConfigsResponse).results
        return {each.resource_name: list(map(_entry, each.configs)) for each in results if not each.error_code}

    def alter_topic_configs(self, changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, str]:
        """Set settings of topics; None deletes one."""
        resources = [
            AlterConfigsResource(
                resource_type=_TOPIC_RESOURCE,
                resource_name=topic,
                configs=[
                    AlterableConfig(name=name, config_operation=_DELETE if value is None else _SET, value=value)
                    for name, value in of_topic.items()
                ],
            )
            for topic, of_topic in changes.items()
        ]
        request = IncrementalAlterConfigsRequest(resources=resources, validate_only=False)
        return _refused(self._at_controller(request, IncrementalAlterConfigsResponse).responses)

    def replace_topic_configs(self, configs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        """Let topics have these settings and no others, as brokers before 2.3 can do it."""
        resources = [
            alter_configs.AlterConfigsResource(
                resource_type=_TOPIC_RESOURCE,
                resource_name=topic,
                configs=[alter_configs.AlterableConfig(name=name, value=value) for name, value in of_topic.items()],
            )
            for topic, of_topic in configs.items()
        ]
        request = alter_configs.AlterConfigsRequest(resources=resources, validate_only=False)
        return _refused(self._at_controller(request, alter_configs.AlterConfigsResponse).responses)

    # ── access control lists ──────────────────────────────────────────────────────────────────────────────────────

    def topic_acls(self) -> list[AclBinding] | None:
        """The bindings of all topics; None if the cluster has no authorizer."""
        request = DescribeAclsRequest(
            resource_type_filter=ResourceType.TOPIC,
            resource_name_filter=None,
            pattern_type_filter=PatternType.ANY,
            principal_filter=None,
            host_filter=None,
            operation=AclOperation.ANY,
            permission_type=AclPermissionType.ANY,
        )
        response = self._any(request, DescribeAclsResponse)
        error = Errors.for_code(response.error_code)
        if error is Errors.SECURITY_DISABLED:
            return None
        if error is not Errors.NONE:
            raise error.exception(response.error_message)
        return [binding for resource in response.resources for binding in described_bindings(resource)]

    def create_acls(self, bindings: Sequence[AclBinding]) -> dict[str, str]:
        """Create bindings of topics. One that is there already counts as created."""
        request = CreateAclsRequest(creations=[creation_of(each) for each in bindings])
        results = self._at_controller(request, CreateAclsResponse).results
        return {
            binding.pattern.name: result.error_message or Errors.for_code(result.error_code).name
            for binding, result in zip(bindings, results, strict=True)
            if result.error_code
        }

    # ── groups ────────────────────────────────────────────────────────────────────────────────────────────────────

    def groups(self) -> list[str]:
        """The groups of consumers, and those that only commit offsets; sorted."""
        found: set[str] = set()
        for broker in self._cluster().brokers:
            response = self._at((broker.host, broker.port), ListGroupsRequest(), ListGroupsResponse)
            if response.error_code:
                raise ApiError(Errors.for_code(response.error_code))
            found.update(each.group_id for each in response.groups if each.protocol_type in ("", "consumer"))
        return sorted(found)

    def group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of a group."""
        return self._groups.offsets(group)

    def group_state(self, group: str) -> str:
        """``Empty``, ``Stable`` …; ``Dead`` if there is no such group."""
        return self._groups.state(group)

    def commit(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Set offsets. UNKNOWN_MEMBER_ID if the group has members."""
        self._groups.commit(group, offsets)

    # ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _cluster(self) -> MetadataResponse:
        try:
            return describe_cluster(self._client)
        except ConnectionError as error:
            raise ConnectError(f"The cluster does not respond: {error}") from error

    def _at_controller(self, request: Request, response_class: type[R]) -> R:
        cluster = self._cluster()
        controller = controller_of(cluster)
        if controller is None:
            raise ConnectError("The cluster has no controller at the moment")
        return self._at(controller, request, response_class)

    def _any(self, request: Request, response_class: type[R]) -> R:
        try:
            return self._client.send_any_node(request, response_class)
        except ConnectionError as error:
            raise ConnectError(f"The cluster does not respond: {error}") from error

    def _at(self, address: tuple[str, int], request: Request, response_class: type[R]) -> R:
        try:
            return self._client.send(address, request, response_class)
        except ConnectionError as error:
            raise ConnectError(f"The cluster does not respond: {error}") from error


def _refused(
    results: Iterable[AlterConfigsResourceResponse | alter_configs.AlterConfigsResourceResponse],
) -> dict[str, str]:
    return {
        each.resource_name: each.error_message or Errors.for_code(each.error_code).name
        for each in results
        if each.error_code
    }


def _entry(described: describe_configs.DescribeConfigsResourceResult) -> ConfigEntry:
    return ConfigEntry(
        described.name, described.value, described.config_source, described.read_only, described.is_sensitive
    )


FORWARDING_ADMIN = NamedClass("forwarding.admin.class", MirrorAdmin, {JAVAS_FORWARDING_ADMIN: MirrorAdmin})


def new_mirror_admin(config: Mapping[str, object]) -> MirrorAdmin:
    """An admin of the class that the settings of a client name. Kafka: MirrorConnectorConfig.forwardingAdmin."""
    name = str(config.get(FORWARDING_ADMIN.key, JAVAS_FORWARDING_ADMIN))
    found: MirrorAdmin = FORWARDING_ADMIN.find(name)(config)
    return found
