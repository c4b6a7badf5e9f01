"""The states of replicas, and the actions on their changes.

Kafka 0.10.2: core/.../controller/ReplicaStateMachine.scala (ReplicaState) · book 7.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from enum import Enum

from kafka_lite.common.state_change_logger import bracketed, state_change_logger
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch, StopReplicaCallback
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError
from kafka_lite.zookeeper.data import NO_LEADER, LeaderAndIsr, LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class ReplicaState(Enum):
    """Where a replica is in its life; the numbers are Kafka's."""

    NEW = 1
    """Created by a new topic or a reassignment; it can only follow. Action: if the partition has a leader, the
    replica's broker is told of it."""
    ONLINE = 2
    """Its broker is alive. Action: the broker is told of leader and ISR (a NEW one has been told already)."""
    OFFLINE = 3
    """Its broker is dead, or it is to be deleted. Action: StopReplica to the broker; out of the ISR; the other
    replicas are told."""
    DELETION_STARTED = 4
    """Action: StopReplica with deletion to the broker."""
    DELETION_SUCCESSFUL = 5
    """The broker responded without an error."""
    DELETION_INELIGIBLE = 6
    """The deletion failed, or the broker is dead: it is tried again when the broker is back."""
    NON_EXISTENT = 7
    """It was never created, or has been deleted. Action: out of the controller's memory."""

    def __str__(self) -> str:
        """Kafka's name: ``OfflineReplica``, ``ReplicaDeletionStarted``."""
        name = self.name.title().replace("_", "")
        return f"Replica{name}" if name.startswith("Deletion") else f"{name}Replica"


VALID_PREVIOUS_STATES: dict[ReplicaState, frozenset[ReplicaState]] = {
    ReplicaState.NEW: frozenset({ReplicaState.NON_EXISTENT}),
    ReplicaState.ONLINE: frozenset(
        {ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE}
    ),
    ReplicaState.OFFLINE: frozenset(
        {ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE}
    ),
    ReplicaState.DELETION_STARTED: frozenset({ReplicaState.OFFLINE}),
    ReplicaState.DELETION_SUCCESSFUL: frozenset({ReplicaState.DELETION_STARTED}),
    # 0.10.2 has DELETION_STARTED only, and logs an error for each replica on a dead broker; Kafka 2.3 added OFFLINE.
    ReplicaState.DELETION_INELIGIBLE: frozenset({ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED}),
    ReplicaState.NON_EXISTENT: frozenset({ReplicaState.DELETION_SUCCESSFUL}),
}


class ReplicaStateMachine:
    """Knows every replica's state, and changes it only along VALID_PREVIOUS_STATES."""

    def __init__(
        self,
        controller_id: int,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        request_batch: ControllerBrokerRequestBatch,
        is_topic_to_be_deleted: Callable[[str], bool],
        unclean_leader_election_enable: Callable[[str], bool],
    ) -> None:
        self._controller_id = controller_id
        self._context = context
        self._zk_client = zk_client
        self._batch = request_batch
        self._is_topic_to_be_deleted = is_topic_to_be_deleted
        self._unclean_leader_election_enable = unclean_leader_election_enable
        # By topic, since deletion asks again and again about all replicas of one.
        self._states: dict[str, dict[PartitionAndReplica, ReplicaState]] = {}
        self._removed: set[PartitionAndReplica] = set()
        self._actions: dict[ReplicaState, Callable[[PartitionAndReplica, ReplicaState], None]] = {
            ReplicaState.NEW: self._become_new,
            ReplicaState.ONLINE: self._become_online,
            ReplicaState.OFFLINE: self._become_offline,
            ReplicaState.NON_EXISTENT: self._become_non_existent,
        }

    # ----------------------------------------------------------------------------------------------------------- life

    def startup(self) -> None:
        """Replicas on live brokers are ONLINE, and their brokers are told; those on dead ones cannot be deleted now.

        A broker that died with the last controller in office is still in the ISRs, where acks=all would wait for it. It
        leaves those whose leader is alive (as since Kafka 2.3); an election takes care of the others.
        """
        live = self._context.live_broker_ids
        for replica in self._context.all_replicas():
            alive = replica.replica in live
            self._put(replica, ReplicaState.ONLINE if alive else ReplicaState.DELETION_INELIGIBLE)
        self.handle_state_changes(self._context.replicas_on_brokers(live), ReplicaState.ONLINE)
        self.handle_state_changes(self._dead_members_of_isrs(), ReplicaState.OFFLINE)
        logger.info("Started the replica state machine with %d replicas", len(self._context.all_replicas()))

    def _dead_members_of_isrs(self) -> set[PartitionAndReplica]:
        live = self._context.live_broker_ids
        return {
            PartitionAndReplica(partition, member)
            for partition, state in self._context.partition_leadership_info.items()
            if state.leader_and_isr.leader in live and not self._is_topic_to_be_deleted(partition.topic)
            for member in state.leader_and_isr.isr
            if member not in live
        }

    def shutdown(self) -> None:
        """Forget all states."""
        self._states.clear()

    def state(self, replica: PartitionAndReplica) -> ReplicaState:
        """The state of a replica."""
        return self._states.get(replica.partition.topic, {}).get(replica, ReplicaState.NON_EXISTENT)

    def _put(self, replica: PartitionAndReplica, state: ReplicaState) -> None:
        self._states.setdefault(replica.partition.topic, {})[replica] = state

    def _forget(self, replica: PartitionAndReplica) -> None:
        replicas = self._states.get(replica.partition.topic, {})
        replicas.pop(replica, None)
        if not replicas:
            self._states.pop(replica.partition.topic, None)

    def replicas_in_state(self, topic: str, state: ReplicaState) -> set[PartitionAndReplica]:
        """The replicas of a topic that are in a state."""
        return {replica for replica, found in self._states.get(topic, {}).items() if found is state}

    def are_all_replicas_in_state(self, topic: str, state: ReplicaState) -> bool:
        """Whether all replicas of a topic are in a state."""
        return all(found is state for found in self._states.get(topic, {}).values())

    def is_any_replica_in_state(self, topic: str, state: ReplicaState) -> bool:
        """Whether a replica of a topic is in a state."""
        return state in self._states.get(topic, {}).values()

    # -------------------------------------------------------------------------------------------------- state changes

    def handle_state_changes(
        self,
        replicas: Collection[PartitionAndReplica],
        target: ReplicaState,
        stop_replica_callback: StopReplicaCallback | None = None,
    ) -> None:
        """Bring replicas into a state, then send the requests that follow from it.

        ``stop_replica_callback`` gets each broker's response to DELETION_STARTED with the replicas it concerns, in the
        thread of the broker's channel.
        """
        if not replicas:
            return
        self._batch.new_batch()
        in_order = sorted(replicas)
        if target is ReplicaState.OFFLINE:
            self._remove_replicas_from_isr(in_order)
        for replica in in_order:
            self._handle_state_change(replica, target, stop_replica_callback)
        self._batch.send_requests_to_brokers()

    def _handle_state_change(
        self, replica: PartitionAndReplica, target: ReplicaState, callback: StopReplicaCallback | None
    ) -> None:
        """Bring one replica into a state, if the table allows it. A failure is logged."""
        current = self.state(replica)
        try:
            if current not in VALID_PREVIOUS_STATES[target]:
                raise StateChangeFailedError(f"{current.name} is not a valid previous state of {target.name}")
            if target is ReplicaState.DELETION_STARTED:
                self._batch.add_stop_replica(replica, delete=True, callback=callback)
            elif target in self._actions:
                self._actions[target](replica, current)
        except StateChangeFailedError as error:
            state_change_logger.error(
                "Controller %d epoch %d initiated state change of replica %d for partition %s from %s to %s failed: %s",
                *self._who_and_what(replica, current, target),
                error,
            )
            return
        if target is ReplicaState.NON_EXISTENT:
            self._forget(replica)
        else:
            self._put(replica, target)
        if state_change_logger.is_tracing():
            state_change_logger.trace(
                "Controller %d epoch %d changed state of replica %d for partition %s from %s to %s",
                *self._who_and_what(replica, current, target),
            )

    def _who_and_what(
        self, replica: PartitionAndReplica, current: ReplicaState, target: ReplicaState
    ) -> tuple[object, ...]:
        controller_id, epoch, partition = self._controller_id, self._context.epoch, bracketed(replica.partition)
        return controller_id, epoch, replica.replica, partition, current, target

    def _become_new(self, replica: PartitionAndReplica, _current: ReplicaState) -> None:
        """Tell the broker of the partition's leader, if there is one. The replica itself cannot lead."""
        state = self._context.partition_leadership_info.get(replica.partition)
        if state is None:
            return  # the replica will be told when its partition gets a leader
        if state.leader_and_isr.leader == replica.replica:
            raise StateChangeFailedError("a new replica cannot be the leader")
        self._tell(replica, state, is_new=True)

    def _become_online(self, replica: PartitionAndReplica, current: ReplicaState) -> None:
        """A NEW replica is assigned now, and has been told before; any other is told of its partition's leader."""
        if current is ReplicaState.NEW:
            assigned = self._context.partition_replica_assignment.setdefault(replica.partition, [])
            if replica.replica not in assigned:
                assigned.append(replica.replica)
            return
        state = self._context.partition_leadership_info.get(replica.partition)
        if state is not None:
            self._tell(replica, state)

    def _tell(self, replica: PartitionAndReplica, state: LeaderIsrAndControllerEpoch, *, is_new: bool = False) -> None:
        """Send LeaderAndIsr to the broker of a replica."""
        assigned = self._context.partition_replica_assignment.get(replica.partition, [])
        self._batch.add_leader_and_isr([replica.replica], replica.partition, state, assigned, is_new=is_new)

    def _become_offline(self, replica: PartitionAndReplica, _current: ReplicaState) -> None:
        """Stop the replica, take it out of the ISR, and tell the others, unless the topic is being deleted.

        Raises StateChangeFailedError if the partition has no leader and ISR, and is not being deleted.
        """
        self._batch.add_stop_replica(replica, delete=False)
        deleting = self._is_topic_to_be_deleted(replica.partition.topic)
        state = self._remove_replica_from_isr(replica) if self._has_leader(replica.partition) else None
        if state is None:
            if not deleting:
                raise StateChangeFailedError("the partition has no leader and ISR in ZooKeeper")
            return
        if not deleting:
            assigned = self._context.partition_replica_assignment.get(replica.partition, [])
            others = [broker_id for broker_id in assigned if broker_id != replica.replica]
            self._batch.add_leader_and_isr(others, replica.partition, state, assigned)

    def _has_leader(self, partition: TopicPartition) -> bool:
        return partition in self._context.partition_leadership_info

    def _become_non_existent(self, replica: PartitionAndReplica, _current: ReplicaState) -> None:
        assigned = self._context.partition_replica_assignment.get(replica.partition, [])
        remaining = [broker_id for broker_id in assigned if broker_id != replica.replica]
        self._context.partition_replica_assignment[replica.partition] = remaining

    def _remove_replica_from_isr(self, replica: PartitionAndReplica) -> LeaderIsrAndControllerEpoch | None:
        """Take a replica out of the ISR in ZooKeeper; returns the new state, None if there is none.

        A leader that is removed is replaced by "no leader". If only members of the ISR may lead, its last member stays;
        otherwise no replica could ever lead again.
        """
        partition = replica.partition
        if replica in self._removed:
            # Another replica of the partition may have left after it: only the last state is of use.
            return self._context.partition_leadership_info.get(partition)
        while True:
            found = self._zk_client.get_partition_state(partition)
            if found is None:
                return None
            if found.controller_epoch > self._context.epoch:
                raise StateChangeFailedError(f"a newer controller, of epoch {found.controller_epoch}, is in charge")
            current = found.leader_and_isr
            if replica.replica not in current.isr:
                state = LeaderIsrAndControllerEpoch(current, self._context.epoch)
                break
            shrunk = self._without(replica, current)
            state = LeaderIsrAndControllerEpoch(shrunk, self._context.epoch)
            version = self._zk_client.update_partition_state(partition, state)
            if version is not None:
                state = LeaderIsrAndControllerEpoch(replace(shrunk, zk_version=version), self._context.epoch)
                break
        self._context.partition_leadership_info[partition] = state
        return state

    def _remove_replicas_from_isr(self, replicas: Collection[PartitionAndReplica]) -> None:
        """Try it for many at once and note in ``_removed`` which are done; the method above does the rest."""
        previous = VALID_PREVIOUS_STATES[ReplicaState.OFFLINE]
        leaving = {
            replica.partition: replica
            for replica in replicas
            if self.state(replica) in previous and self._has_leader(replica.partition)
        }
        shrunk = {}
        for partition, found in self._zk_client.get_partition_states(leaving).items():
            replica, current = leaving[partition], found.leader_and_isr
            if found.controller_epoch <= self._context.epoch and replica.replica in current.isr:
                shrunk[partition] = LeaderIsrAndControllerEpoch(self._without(replica, current), self._context.epoch)
        self._removed.clear()
        for partition, version in self._zk_client.update_partition_states(shrunk).items():
            written = replace(shrunk[partition].leader_and_isr, zk_version=version)
            state = LeaderIsrAndControllerEpoch(written, self._context.epoch)
            self._context.partition_leadership_info[partition] = state
            self._removed.add(leaving[partition])

    def _without(self, replica: PartitionAndReplica, current: LeaderAndIsr) -> LeaderAndIsr:
        """Leader and ISR without a replica, in the next leader epoch; the last member may have to stay."""
        leader = NO_LEADER if current.leader == replica.replica else current.leader
        isr = [member for member in current.isr if member != replica.replica]
        topic = replica.partition.topic
        if not isr and not self._is_topic_to_be_deleted(topic) and not self._unclean_leader_election_enable(topic):
            logger.info("Keeping %s in the ISR, as it is the last member", replica)
            isr = list(current.isr)
        return LeaderAndIsr(leader, isr, current.leader_epoch + 1, current.zk_version)
