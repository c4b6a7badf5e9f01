"""The controller's copy in memory of the state in ZooKeeper.

Kafka 0.10.2: core/.../controller/KafkaController.scala (ControllerContext, PartitionAndReplica) · book 7.1.2
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment, assignment_of
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch, TopicAssignment

logger = logging.getLogger(__name__)


class PartitionAndReplica(NamedTuple):
    """One replica: a partition, and the broker that holds it."""

    partition: TopicPartition
    replica: int

    def __str__(self) -> str:
        return f"[Topic={self.partition.topic},Partition={self.partition.partition},Replica={self.replica}]"


class ControllerContext:
    """The cluster as the controller sees it. Only the controller's event thread uses it, so it needs no lock.

    ``epoch`` fences controllers that were deposed without noticing; ``epoch_zk_version`` is the version of the znode
    that holds it.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.epoch_zk_version = 0
        self.reset()

    def reset(self) -> None:
        """Forget the cluster, as a controller does when it resigns."""
        self.live_brokers: dict[int, Broker] = {}
        self.broker_epochs: dict[int, int] = {}
        """The zxids of the live brokers' registrations: a broker that was restarted has another one."""
        self.shutting_down_broker_ids: set[int] = set()
        self.replicas_on_offline_dirs: dict[int, set[TopicPartition]] = {}
        """By broker, the replicas on log directories that have failed."""
        self.all_topics: set[str] = set()
        self.topic_ids: dict[str, UUID] = {}
        self.topic_names: dict[UUID, str] = {}
        """The same the other way round."""
        self.partition_replica_assignment: dict[TopicPartition, list[int]] = {}
        """All replicas; of a partition that is being reassigned, the old ones and the new ones."""
        self.partitions_being_reassigned: dict[TopicPartition, ReplicaAssignment] = {}
        self.partition_leadership_info: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}

    # -------------------------------------------------------------------------------------------------------- brokers

    @property
    def live_broker_ids(self) -> set[int]:
        """Brokers that may lead: registered, and not about to shut down."""
        return set(self.live_brokers) - self.shutting_down_broker_ids

    @property
    def live_or_shutting_down_broker_ids(self) -> set[int]:
        """Brokers that can be sent requests."""
        return set(self.live_brokers)

    def set_replicas_on_offline_dirs(self, broker_id: int, partitions: set[TopicPartition]) -> None:
        """Note which replicas of a broker are on failed log directories."""
        if partitions:
            self.replicas_on_offline_dirs[broker_id] = partitions
        else:
            self.replicas_on_offline_dirs.pop(broker_id, None)

    def has_log(self, broker_id: int, partition: TopicPartition) -> bool:
        """Whether the replica's log directory has not failed, as far as is known."""
        return partition not in self.replicas_on_offline_dirs.get(broker_id, ())

    def online_broker_ids(self, partition: TopicPartition) -> set[int]:
        """Brokers that may lead the partition: live, and its log directory there has not failed."""
        if not self.replicas_on_offline_dirs:
            return self.live_broker_ids
        return {broker_id for broker_id in self.live_broker_ids if self.has_log(broker_id, partition)}

    def replicas_on_brokers(self, broker_ids: Collection[int]) -> set[PartitionAndReplica]:
        """Every replica that one of these brokers holds."""
        return {replica for replica in self.all_replicas() if replica.replica in broker_ids}

    # --------------------------------------------------------------------------------------------- topics, partitions

    def all_replicas(self) -> set[PartitionAndReplica]:
        """Every replica of the cluster."""
        return self.replicas_of(self.partition_replica_assignment)

    def replicas_of(self, partitions: Iterable[TopicPartition]) -> set[PartitionAndReplica]:
        """Every replica of these partitions; unknown partitions have none."""
        return {
            PartitionAndReplica(partition, replica)
            for partition in partitions
            for replica in self.partition_replica_assignment.get(partition, ())
        }

    def partitions_for_topic(self, topic: str) -> set[TopicPartition]:
        """All partitions of a topic."""
        return {partition for partition in self.partition_replica_assignment if partition.topic == topic}

    def replicas_for_topic(self, topic: str) -> set[PartitionAndReplica]:
        """Every replica of a topic."""
        return self.replicas_of(self.partitions_for_topic(topic))

    def live_replicas(self, partition: TopicPartition) -> list[int]:
        """The assigned replicas that may lead, in the order of the assignment."""
        live = self.online_broker_ids(partition)
        return [replica for replica in self.partition_replica_assignment.get(partition, ()) if replica in live]

    def partitions_led_by(self, broker_ids: Collection[int]) -> set[TopicPartition]:
        """The partitions whose leader is one of these brokers."""
        return {
            partition
            for partition, info in self.partition_leadership_info.items()
            if info.leader_and_isr.leader in broker_ids
        }

    def add_assignment(self, assignment: Mapping[TopicPartition, list[int]]) -> None:
        """Note the assigned replicas of these partitions."""
        self.partition_replica_assignment.update(assignment)

    def add_topics(self, assignments: Mapping[str, TopicAssignment]) -> list[TopicPartition]:
        """Note ids, replicas and reassignments of these topics; returns their partitions."""
        added = []
        for topic, assignment in assignments.items():
            self._add_topic_id(topic, assignment.topic_id)
            for number in assignment.partitions:
                partition, replicas = TopicPartition(topic, number), assignment_of(assignment, number)
                self.partition_replica_assignment[partition] = replicas.replicas
                if replicas.is_being_reassigned:
                    self.partitions_being_reassigned[partition] = replicas
                added.append(partition)
        return added

    def _add_topic_id(self, topic: str, topic_id: UUID | None) -> None:
        """Note a topic's id. One that another topic has, after a node was copied by hand, is worth no controller."""
        other = self.topic_names.get(topic_id) if topic_id is not None else None
        if other is not None and other != topic:
            logger.error("Topics %s and %s have the same id %s: the latter is served without", other, topic, topic_id)
        elif topic_id is not None:
            self._forget_topic_id(topic)
            self.topic_ids[topic], self.topic_names[topic_id] = topic_id, topic

    def _forget_topic_id(self, topic: str) -> None:
        topic_id = self.topic_ids.pop(topic, None)
        if topic_id is not None:
            del self.topic_names[topic_id]

    def is_being_reassigned(self, topic: str) -> bool:
        """Whether a partition of the topic is being reassigned."""
        return any(partition.topic == topic for partition in self.partitions_being_reassigned)

    def remove_topic(self, topic: str) -> None:
        """Forget a topic."""
        self.all_topics.discard(topic)
        self._forget_topic_id(topic)
        for partition in self.partitions_for_topic(topic):
            del self.partition_replica_assignment[partition]
            self.partitions_being_reassigned.pop(partition, None)
        for partition in [p for p in self.partition_leadership_info if p.topic == topic]:
            del self.partition_leadership_info[partition]
