"""The operations of the ``topics`` tool, through a broker or directly in ZooKeeper.

Kafka 0.10.2: core/.../admin/TopicCommand.scala (ZooKeeper); 2.2–3.0: TopicService (both) · book 7.1.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from kafka_lite.admin.admin_utils import AdminUtils, RackAwareMode
from kafka_lite.admin.replica_assignment import Assignment
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_lite.protocol.messages.api_37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_answered
from kafka_lite.tools.admin.described_configs import TOPIC_RESOURCE, described_configs
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

UNSET = -1
REQUEST_TIMEOUT_MS = 30_000
DELETE_BY_NAME = 5
"""Last DeleteTopics version that identifies topics by name instead of id."""


@dataclass(frozen=True)
class PartitionDescription:
    """One partition; leader -1 means no leader."""

    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]


@dataclass(frozen=True)
class TopicDescription:
    """One topic. ``configs``: non-default values; ``min_isr``: min.insync.replicas, None if unknown."""

    topic: str
    partitions: list[PartitionDescription]
    configs: Mapping[str, str]
    min_isr: int | None = None
    marked_for_deletion: bool = False
    topic_id: UUID = ZERO_UUID
    """Zero if the brokers know no ids."""

    @property
    def replication_factor(self) -> int:
        """Number of replicas of the first partition, as in Kafka."""
        return len(self.partitions[0].replicas) if self.partitions else 0


@dataclass(frozen=True)
class NewTopic:
    """A topic to create; without an assignment the replicas are placed automatically. -1 means the broker's default."""

    topic: str
    partitions: int = UNSET
    replication_factor: int = UNSET
    assignment: Assignment | None = None
    configs: Mapping[str, str] | None = None
    rack_aware: bool = True


class TopicService(Protocol):
    """Raises ApiError, ToolError and ConnectionError, whose texts are shown to the user."""

    def list_topics(self) -> list[str]:
        """All topic names, sorted."""
        ...

    def marked_for_deletion(self) -> set[str]:
        """The topics that are marked for deletion and still exist, as far as that can be known."""
        ...

    def create(self, topic: NewTopic) -> None:
        """Create a topic."""
        ...

    def describe(self, topics: Sequence[str]) -> list[TopicDescription]:
        """Describe existing topics."""
        ...

    def live_brokers(self) -> set[int]:
        """Ids of the live brokers."""
        ...

    def alter_configs(self, topic: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:
        """Set and remove config overrides."""
        ...

    def add_partitions(self, topic: str, count: int, new_replicas: Sequence[list[int]] | None) -> None:
        """Raise the number of partitions."""
        ...

    def delete(self, topics: Sequence[str]) -> None:
        """Delete topics."""
        ...


def _check(code: int, message: str | None) -> None:
    error = Errors.for_code(code)
    if error is not Errors.NONE:
        raise error.exception(message)


class BrokerTopicService:
    """Sends requests to the brokers."""

    def __init__(self, channel: AdminChannel) -> None:
        self._channel = channel

    def list_topics(self) -> list[str]:
        """All topic names, sorted."""
        return self._channel.topic_names()

    def marked_for_deletion(self) -> set[str]:
        """None: brokers do not show such topics."""
        return set()

    def create(self, topic: NewTopic) -> None:
        """Create a topic through the controller."""
        assignment = topic.assignment or {}
        entry = CreatableTopic(
            name=topic.topic,
            num_partitions=topic.partitions,
            replication_factor=topic.replication_factor,
            assignments=[CreatableReplicaAssignment(partition_index=p, broker_ids=b) for p, b in assignment.items()],
            configs=[CreatableTopicConfig(name=name, value=value) for name, value in (topic.configs or {}).items()],
        )
        request = CreateTopicsRequest(topics=[entry], timeout_ms=REQUEST_TIMEOUT_MS)
        response = self._channel.send_to_controller(request, CreateTopicsResponse, "topics")
        for result in response.topics:
            _check(result.error_code, result.error_message)
        check_answered([topic.topic], (result.name for result in response.topics))

    def describe(self, topics: Sequence[str]) -> list[TopicDescription]:
        """Describe topics from metadata and configurations."""
        configs = self._configs(topics)
        described = []
        for topic in sorted(self._channel.metadata(topics), key=lambda topic: topic.name or ""):
            _check(topic.error_code, None)
            name = topic.name or ""
            values, min_isr = configs[name]
            partitions = [
                PartitionDescription(p.partition_index, p.leader_id, list(p.replica_nodes), list(p.isr_nodes))
                for p in sorted(topic.partitions, key=lambda p: p.partition_index)
            ]
            described.append(TopicDescription(name, partitions, values, min_isr, topic_id=topic.topic_id))
        return described

    def _configs(self, topics: Sequence[str]) -> dict[str, tuple[dict[str, str], int | None]]:
        """Topic -> its non-default configs and min.insync.replicas."""
        resources = [
            DescribeConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=None)
            for topic in topics
        ]
        found = {}
        for result in described_configs(self._channel, DescribeConfigsRequest(resources=resources)):
            values = {
                entry.name: entry.value or ""
                for entry in result.configs
                if entry.config_source != ConfigSource.DEFAULT_CONFIG
            }
            min_isr = [entry.value for entry in result.configs if entry.name == "min.insync.replicas"]
            found[result.resource_name] = (values, int(min_isr[0] or 1) if min_isr else None)
        return found

    def live_brokers(self) -> set[int]:
        """Ids of the live brokers, from metadata."""
        self._channel.refresh()
        return set(self._channel.brokers)

    def alter_configs(self, topic: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:  # noqa: ARG002
        """Never: that is what the tool ``configs`` is for. Raises ApiError."""
        raise Errors.INVALID_REQUEST.exception("configs are altered through a broker by `kafka-lite configs`")

    def add_partitions(self, topic: str, count: int, new_replicas: Sequence[list[int]] | None) -> None:
        """Raise the number of partitions through the controller."""
        assignments = None
        if new_replicas is not None:
            assignments = [CreatePartitionsAssignment(broker_ids=list(replicas)) for replicas in new_replicas]
        entry = CreatePartitionsTopic(name=topic, count=count, assignments=assignments)
        request = CreatePartitionsRequest(topics=[entry], timeout_ms=REQUEST_TIMEOUT_MS)
        response = self._channel.send_to_controller(request, CreatePartitionsResponse, "results")
        for result in response.results:
            _check(result.error_code, result.error_message)
        check_answered([topic], (result.name for result in response.results))

    def delete(self, topics: Sequence[str]) -> None:
        """Delete topics through the controller, and wait until they are gone."""
        request = DeleteTopicsRequest(topic_names=list(topics), timeout_ms=REQUEST_TIMEOUT_MS)
        response = self._channel.send_to_controller(
            request, DeleteTopicsResponse, "responses", max_version=DELETE_BY_NAME
        )
        for result in response.responses:
            _check(result.error_code, result.error_message or f"{result.name}: {_text_of(result.error_code)}")
        check_answered(topics, (result.name for result in response.responses))


def _text_of(code: int) -> str:
    return Errors.for_code(code).message


class ZooKeeperTopicService:
    """Reads and writes the znodes; the controller does the rest. No broker needs to be running."""

    def __init__(self, zk_client: KafkaZkClient) -> None:
        self._zk_client = zk_client
        self._admin_utils = AdminUtils(zk_client)

    def list_topics(self) -> list[str]:
        """All topic names, sorted."""
        return self._zk_client.get_all_topics()

    def marked_for_deletion(self) -> set[str]:
        """The topics below /admin/delete_topics."""
        return set(self._zk_client.get_topics_marked_for_deletion())

    def create(self, topic: NewTopic) -> None:
        """Write the topic's configuration and assignment."""
        if topic.assignment:
            self._admin_utils.create_topic_with_assignment(topic.topic, topic.assignment, topic.configs or {})
            return
        mode = RackAwareMode.ENFORCED if topic.rack_aware else RackAwareMode.DISABLED
        # The brokers' defaults are not available without a broker.
        self._admin_utils.create_topic(topic.topic, topic.partitions, topic.replication_factor, topic.configs, mode)

    def describe(self, topics: Sequence[str]) -> list[TopicDescription]:
        """Describe topics from their assignments, partition states, overrides and deletion marks."""
        marked = self.marked_for_deletion()
        described = []
        for topic in sorted(topics):
            assignment = self._zk_client.get_topic_assignment(topic)
            if assignment is None:
                continue
            partitions = [self._describe_partition(topic, p, r) for p, r in sorted(assignment.partitions.items())]
            configs = self._zk_client.get_entity_config(f"topics/{topic}")
            min_isr = int(configs["min.insync.replicas"]) if "min.insync.replicas" in configs else None
            topic_id = assignment.topic_id or ZERO_UUID
            described.append(TopicDescription(topic, partitions, configs, min_isr, topic in marked, topic_id))
        return described

    def _describe_partition(self, topic: str, partition: int, replicas: list[int]) -> PartitionDescription:
        state = self._zk_client.get_partition_state(TopicPartition(topic, partition))
        if state is None:
            return PartitionDescription(partition, -1, replicas, [])
        return PartitionDescription(partition, state.leader_and_isr.leader, replicas, state.leader_and_isr.isr)

    def live_brokers(self) -> set[int]:
        """Ids of the live brokers, from /brokers/ids."""
        return set(self._zk_client.get_broker_ids())

    def alter_configs(self, topic: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:
        """Write the topic's configuration, and notify the brokers."""
        configs = {**self._zk_client.get_entity_config(f"topics/{topic}"), **added}
        kept = {name: value for name, value in configs.items() if name not in deleted}
        self._admin_utils.change_topic_config(topic, kept)

    def add_partitions(self, topic: str, count: int, new_replicas: Sequence[list[int]] | None) -> None:
        """Write the extended assignment."""
        if topic == GROUP_METADATA_TOPIC_NAME:  # a group would map to another partition
            raise Errors.INVALID_REQUEST.exception("The number of partitions for the offsets topic cannot be changed.")
        self._admin_utils.add_partitions(topic, count, self._admin_utils.get_broker_metadatas(), new_replicas)

    def delete(self, topics: Sequence[str]) -> None:
        """Mark topics for deletion."""
        for topic in topics:
            self._admin_utils.delete_topic(topic)
