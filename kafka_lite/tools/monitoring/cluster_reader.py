"""Reads the state of a whole cluster through Kafka's protocol, even while some of its brokers are down.

Kafka has no such tool; the requests are those of kafka-topics.sh and kafka-consumer-groups.sh · book 6.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponseBroker, MetadataResponseTopic
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.command_config import NO_CONFIGS, new_admin_channel
from kafka_lite.tools.admin.log_dir_descriptions import describe_log_dirs
from kafka_lite.tools.admin.partition_offsets import LATEST, Offset, Offsets, ask_leader
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService
from kafka_lite.tools.monitoring.cluster_snapshot import ClusterState, GroupState, PartitionState

TIMEOUT_MS = 3000
SETTLE_MS = 200
T = TypeVar("T")


class ClusterReader:
    """Asks any broker for the metadata, leaders for end offsets, coordinators for groups, all brokers for sizes.

    If a broker does not respond, the data that only it has is missing, and ``ClusterState.problems`` says so.
    """

    def __init__(self, bootstrap_servers: str, configs: Mapping[str, object] = NO_CONFIGS) -> None:
        """``configs``: client properties."""
        self._configs = {"request.timeout.ms": TIMEOUT_MS, **configs}
        self._servers = dict.fromkeys(bootstrap_servers.split(","))
        """Addresses to connect to, in order: first the given ones, then those of brokers that have been alive."""
        self._channel: AdminChannel | None = None
        self._problems: list[str] = []

    def read(self) -> ClusterState:
        """One round of requests. Raises ConnectionError or ToolError if no broker responds."""
        self._problems = []
        channel, topics = self._metadata()
        self._problems += [
            f"topic {topic.name}: {Errors.for_code(topic.error_code).name}" for topic in topics if topic.error_code
        ]
        partitions = [each for topic in topics if topic.name for each in _partitions(topic)]
        ends = self._end_offsets(channel, partitions)
        service = ConsumerGroupService(channel, SETTLE_MS)
        groups = self._try("groups", lambda: _groups(service)) or []
        sizes = {
            each: self._try(f"size of broker {each}", partial(self._size, channel, each)) for each in channel.brokers
        }
        return ClusterState(
            channel.cluster_id or "?",
            channel.controller_id,
            {broker.node_id: _address(broker) for broker in channel.brokers.values()},
            [
                PartitionState(each.partition, each.leader, each.replicas, each.isr, ends.get(each.partition))
                for each in partitions
            ],
            groups,
            {broker_id: size for broker_id, size in sizes.items() if size is not None},
            list(dict.fromkeys(self._problems)),
        )

    def close(self) -> None:
        """Close the connections."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _metadata(self) -> tuple[AdminChannel, Sequence[MetadataResponseTopic]]:
        """The metadata of all topics, from the previous broker, or from another one if that is gone."""
        if self._channel is not None:
            try:
                return self._channel, self._channel.ask_metadata(None)
            except (ConnectionError, ToolError):
                self.close()
        channel = new_admin_channel(",".join(self._servers), self._configs)
        channel.connect()
        self._channel = channel
        topics = channel.ask_metadata(None)
        self._servers |= dict.fromkeys(_address(broker) for broker in channel.brokers.values())
        return channel, topics

    def _end_offsets(self, channel: AdminChannel, partitions: Sequence[PartitionState]) -> Offsets:
        ends: Offsets = {}
        for leader in sorted({each.leader for each in partitions if not each.is_offline}):
            led = [each.partition for each in partitions if each.leader == leader]
            for each in self._try(f"offsets of broker {leader}", partial(_ends_at, channel, leader, led)) or []:
                if each.error is Errors.NONE:
                    ends[each.partition] = each.offset
                else:
                    self._problems.append(f"end offset of {each.partition}: {each.error.name}")
        return ends

    def _size(self, channel: AdminChannel, broker_id: int) -> int:
        """The bytes in all log directories of a broker; those that it cannot read are missing, which is noted."""
        directories = describe_log_dirs(channel, broker_id)
        self._problems += [
            f"log directory {each.log_dir} of broker {broker_id}: {Errors.for_code(each.error_code).name}"
            for each in directories
            if each.error_code != Errors.NONE.code
        ]
        topics = [topic for directory in directories for topic in directory.topics]
        return sum(partition.partition_size for topic in topics for partition in topic.partitions)

    def _try(self, what: str, read: Callable[[], T]) -> T | None:
        """The result, or None after an error, which is noted."""
        try:
            return read()
        except (ConnectionError, ToolError) as error:
            self._problems.append(f"{what}: {error}")
            return None


def _ends_at(channel: AdminChannel, leader: int, partitions: Sequence[TopicPartition]) -> list[Offset]:
    return list(ask_leader(channel, leader, partitions, LATEST))


def _groups(service: ConsumerGroupService) -> list[GroupState]:
    return [
        GroupState(listed.group, listed.state, service.committed_offsets(listed.group))
        for listed in service.list_groups()
    ]


def _address(broker: MetadataResponseBroker) -> str:
    return f"[{broker.host}]:{broker.port}" if ":" in broker.host else f"{broker.host}:{broker.port}"


def _partitions(topic: MetadataResponseTopic) -> list[PartitionState]:
    return [
        PartitionState(
            TopicPartition(topic.name or "", each.partition_index),
            each.leader_id,
            list(each.replica_nodes),
            list(each.isr_nodes),
        )
        for each in sorted(topic.partitions, key=lambda partition: partition.partition_index)
    ]
