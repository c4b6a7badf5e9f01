"""A controller without brokers, sockets and ZooKeeper, for the labs' tests: states in memory, requests in a list.

Its modules are imported when a test makes one, after those that the learner replaces have been installed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.partition_leader_selector import PartitionLeaderSelector
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch

PARTITION = TopicPartition("demo", 0)
EPOCH = 5


class MemoryZooKeeper:
    """The partitions' ``state`` nodes, with their versions. ``interference`` runs once, before the next write."""

    def __init__(self) -> None:
        self.states: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}
        self.interference: Any = None
        self.deleted: list[str] = []
        """Deleted nodes, in order."""
        self.unwatched: list[str] = []
        """Topics that are no longer watched."""

    def put(self, partition: TopicPartition, leader: int, isr: Sequence[int], epoch: int, **fields: int) -> None:
        """Write a state as another one would: the version grows."""
        before = self.states.get(partition)
        version = 0 if before is None else before.leader_and_isr.zk_version + 1
        state = LeaderAndIsr(leader, list(isr), epoch, version)
        self.states[partition] = LeaderIsrAndControllerEpoch(state, fields.get("controller_epoch", EPOCH))

    def get_partition_state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """As in KafkaZkClient."""
        return self.states.get(partition)

    def get_partition_states(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, LeaderIsrAndControllerEpoch]:
        """As in KafkaZkClient."""
        return {partition: self.states[partition] for partition in partitions if partition in self.states}

    def create_partition_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    ) -> set[TopicPartition]:
        """As in KafkaZkClient."""
        refused = {partition for partition in states if partition in self.states}
        self.states.update({partition: state for partition, state in states.items() if partition not in refused})
        return refused

    def update_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """As in KafkaZkClient."""
        interference, self.interference = self.interference, None
        if interference is not None:
            interference()
        found = self.states.get(partition)
        if found is None or found.leader_and_isr.zk_version != state.leader_and_isr.zk_version:
            return None
        version = state.leader_and_isr.zk_version + 1
        written = replace(state, leader_and_isr=replace(state.leader_and_isr, zk_version=version))
        self.states[partition] = written
        return version

    def update_partition_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    ) -> dict[TopicPartition, int]:
        """As in KafkaZkClient."""
        written = {partition: self.update_partition_state(partition, state) for partition, state in states.items()}
        return {partition: version for partition, version in written.items() if version is not None}

    def unwatch_topic(self, topic: str) -> None:
        """As in KafkaZkClient."""
        self.unwatched.append(topic)

    def delete_topic_znode(self, topic: str) -> None:
        """As in KafkaZkClient."""
        self.deleted.append(f"/brokers/topics/{topic}")

    def delete_entity_config(self, entity_path: str) -> None:
        """As in KafkaZkClient."""
        self.deleted.append(f"/config/{entity_path}")

    def delete_delete_topic(self, topic: str) -> None:
        """As in KafkaZkClient."""
        self.deleted.append(f"/admin/delete_topics/{topic}")


class LabController:
    """Both state machines around one context; ``sent`` has the queued requests as (broker, request, callback)."""

    def __init__(
        self,
        assignment: Mapping[TopicPartition, Sequence[int]] | None = None,
        live: Iterable[int] = (1, 2, 3),
        *,
        unclean: bool = False,
    ) -> None:
        self.zookeeper = MemoryZooKeeper()
        self.sent: list[tuple[int, Any, Any]] = []
        self.deleted: set[TopicPartition] = set()
        self.context = ControllerContext()
        self.context.epoch = EPOCH
        self.context.live_brokers = {number: broker(number) for number in live}
        assigned = assignment or {PARTITION: [1, 2, 3]}
        self.context.partition_replica_assignment = {partition: list(each) for partition, each in assigned.items()}
        self.context.all_topics = {partition.topic for partition in assigned}
        zookeeper: Any = self.zookeeper
        selector = PartitionLeaderSelector(self.context, lambda _topic: unclean, lambda: None)
        self.partitions = PartitionStateMachine(1, self.context, zookeeper, self.batch(), selector)
        self.replicas = ReplicaStateMachine(
            1, self.context, zookeeper, self.batch(), self._is_deleted, lambda _topic: unclean
        )

    def batch(self) -> ControllerBrokerRequestBatch:
        """A request batch that queues into ``sent``."""
        return ControllerBrokerRequestBatch(
            1, self.context, lambda *queued: self.sent.append(queued), lambda: self.deleted
        )

    def _is_deleted(self, topic: str) -> bool:
        return any(partition.topic == topic for partition in self.deleted)

    def create(self, *partitions: TopicPartition) -> None:
        """Take new partitions and their replicas through their states, as the controller does."""
        new = partitions or (PARTITION,)
        replicas = self.context.replicas_of(new)
        self.partitions.handle_state_changes(new, PartitionState.NEW)
        self.replicas.handle_state_changes(replicas, ReplicaState.NEW)
        self.partitions.handle_state_changes(new, PartitionState.ONLINE)
        self.replicas.handle_state_changes(replicas, ReplicaState.ONLINE)

    def lead(self, leader: int, isr: Sequence[int], epoch: int = 4, partition: TopicPartition = PARTITION) -> None:
        """A partition that is on line with its replicas, without the learner's code."""
        self.zookeeper.put(partition, leader, isr, epoch)
        self.context.partition_leadership_info[partition] = self.zookeeper.states[partition]
        self.partitions._states[partition] = PartitionState.ONLINE
        for replica in self.context.replicas_of([partition]):
            self.replicas._put(replica, ReplicaState.ONLINE)

    def die(self, *broker_ids: int) -> None:
        """Brokers are no longer registered."""
        for broker_id in broker_ids:
            self.context.live_brokers.pop(broker_id, None)

    def state(self, partition: TopicPartition = PARTITION) -> LeaderAndIsr:
        """The state in ZooKeeper."""
        return self.zookeeper.states[partition].leader_and_isr

    def told(self, kind: str) -> list[tuple[int, Any]]:
        """The requests of a kind (``LeaderAndIsr``), with the brokers that got them."""
        return [(number, request) for number, request, _ in self.sent if type(request).__name__ == f"{kind}Request"]

    def leaders_told(self, partition: TopicPartition = PARTITION) -> dict[int, tuple[int, list[int], int]]:
        """Broker → (leader, ISR, epoch) in the last LeaderAndIsr that it got about a partition."""
        return {
            number: (state.leader, list(state.isr), state.leader_epoch)
            for number, request in self.told("LeaderAndIsr")
            for state in request.partition_states()
            if (state.topic_name, state.partition_index) == tuple(partition)
        }


def broker(number: int) -> Broker:
    """A live broker."""
    return Broker(number, (EndPoint(f"host-{number}", 9092, "PLAINTEXT", SecurityProtocol.PLAINTEXT),))


def replica(number: int, partition: TopicPartition = PARTITION) -> PartitionAndReplica:
    """The replica on a broker."""
    return PartitionAndReplica(partition, number)


def responds(sent: Collection[tuple[int, Any, Any]], response: StopReplicaResponse | None = None) -> None:
    """Let every broker respond to the requests whose sender wants to know."""
    for _, _, callback in list(sent):
        if callback is not None:
            callback(response or StopReplicaResponse())
