"""The operations of ``consumer-groups --zookeeper``: reads and deletes the groups of old consumers.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala (ZkConsumerGroupService), core/.../admin/AdminUtils.scala
(deleteConsumerGroupInZK and its kind) · book 3.2.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService, Member, PartitionRow
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import BrokerRegistration
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def bootstrap_servers(brokers: Mapping[int, BrokerRegistration]) -> str:
    """``host:port,…``: the PLAINTEXT end points of the brokers registered in ZooKeeper."""
    addresses = (
        BrokerEndPoint(broker_id, each.host, each.port) for broker_id, each in sorted(brokers.items()) if each.host
    )
    return ",".join(each.connection_string for each in addresses)


class ZkConsumerGroupService:
    """Groups under /consumers. Offsets may be in ZooKeeper or, with ``offsets.storage=kafka``, in Kafka.

    Raises ToolError and ConnectionError.
    """

    def __init__(self, zk_client: KafkaZkClient, timeout_ms: float = 5_000) -> None:
        self._zk = zk_client
        self._groups = ConsumerGroups(zk_client)
        self._timeout_ms = timeout_ms

    def list_groups(self) -> list[str]:
        """All groups, with or without members."""
        return self._groups.get_groups()

    def rows(self, group: str) -> list[PartitionRow]:
        """The rows of ``--describe``: all partitions of the group's topics, then members without partitions."""
        if group not in self._groups.get_groups():
            raise ToolError(f"Error: The consumer group '{group}' does not exist.")
        topics = self._groups.get_topics_of_group(group)
        numbers = self._groups.get_partitions_for_topics(topics)
        partitions = [TopicPartition(topic, number) for topic in topics for number in numbers[topic]]
        owners = {partition: self._groups.get_owner(group, partition) for partition in partitions}
        rows = self._rows_of(group, {partition: _member(owner) for partition, owner in owners.items()})
        busy = {member_id(owner) for owner in owners.values() if owner}
        idle = [each for each in self._groups.get_consumers_in_group(group) if each not in busy]
        return rows + [PartitionRow(group, member=_as_member(each)) for each in idle]

    def _rows_of(self, group: str, owners: Mapping[TopicPartition, Member | None]) -> list[PartitionRow]:
        """Rows with committed offsets (the coordinator's take precedence over ZooKeeper's) and log end offsets."""
        in_zookeeper = self._groups.get_offsets(group, owners)
        servers = bootstrap_servers(self._zk.get_brokers())
        if not servers:
            raise ToolError(
                "no broker with a PLAINTEXT listener is registered in ZooKeeper. Is one running? Old consumers, and "
                "what there is about them, need such a listener; groups of the new consumer are shown with "
                "--bootstrap-server and --command-config"
            )
        with AdminChannel(servers) as channel:
            service = ConsumerGroupService(channel, self._timeout_ms)
            return service.rows_of(group, owners, in_zookeeper | service.committed_offsets(group))

    # ── Deletion ──────────────────────────────────────────────────────────────────────────────────────────────────

    def delete_group(self, group: str) -> str:
        """Delete a group and return the message to print. Raises ToolError if it has members or does not exist."""
        self._refuse_if_active(group, f"Delete for group '{group}' failed because")
        self._groups.delete_group(group)
        return f"Deleted all consumer group information for group '{group}' in zookeeper."

    def delete_topic_of_group(self, group: str, topic: str) -> str:
        """Delete a group's data on a topic; deletes the whole group if that is its only topic."""
        self._refuse_if_active(group, f"Delete for group '{group}' topic '{topic}' failed because")
        if self._groups.get_topics_of_group(group) == [topic]:
            self._groups.delete_group(group)
        else:
            for parent in (paths.consumer_owners(group), paths.consumer_offsets(group)):
                self._zk.zookeeper.delete_recursive(f"{parent}/{topic}")
        return f"Deleted consumer group information for group '{group}' topic '{topic}' in zookeeper."

    def delete_topic(self, topic: str) -> str:
        """Delete a topic from all groups without members."""
        for group in self._groups.get_groups():
            if topic in self._groups.get_topics_of_group(group) and not self._groups.get_consumers_in_group(group):
                self.delete_topic_of_group(group, topic)
        return f"Deleted consumer group information for all inactive consumer groups for topic '{topic}' in zookeeper."

    def _refuse_if_active(self, group: str, what: str) -> None:
        if group not in self._groups.get_groups():
            raise ToolError(f"Error: {what} group does not exist.")
        if self._groups.get_consumers_in_group(group):
            raise ToolError(f"Error: {what} its consumers are still active.")


def member_id(thread: str) -> str:
    """The member id of an owner: ``g_host-1795248570284-adab17da-0`` without the thread number."""
    return thread.rpartition("-")[0]


def _member(owner: str | None) -> Member | None:
    return _as_member(member_id(owner)) if owner else None


def _as_member(name: str) -> Member:
    """A member whose id already contains host and client name."""
    return Member(name, "", "", "", ())
