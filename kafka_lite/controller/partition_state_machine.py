"""The states of partitions, and the actions on their changes: above all, the election of leaders.

Kafka 0.10.2: core/.../controller/PartitionStateMachine.scala (PartitionState) · book 7.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from enum import Enum

from kafka_lite.common.state_change_logger import bracketed, state_change_logger
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.partition_leader_selector import (
    Election,
    PartitionLeaderSelector,
    SelectLeader,
    StateChangeFailedError,
    select_same_leader,
)
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

FirstStates = Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
"""The first leader and ISR of each new partition for which they were written."""


class PartitionState(Enum):
    """Where a partition is in its life; the numbers are Kafka's."""

    NEW = 0
    """It has replicas, but neither leader nor ISR. Transition: to ONLINE once a replica is alive."""
    ONLINE = 1
    """It has a leader. Action on entering: the first leader, or a new one, is chosen and written to ZooKeeper, and the
    brokers are told. Transition: to OFFLINE when the leader dies."""
    OFFLINE = 2
    """Its leader is dead. Transition: to ONLINE when another replica can lead, to NON_EXISTENT when it is deleted."""
    NON_EXISTENT = 3
    """It was never created, or has been deleted. Transition: to NEW."""

    def __str__(self) -> str:
        """Kafka's name: ``NonExistentPartition``."""
        return f"{self.name.title().replace('_', '')}Partition"


VALID_PREVIOUS_STATES: dict[PartitionState, frozenset[PartitionState]] = {
    PartitionState.NON_EXISTENT: frozenset({PartitionState.OFFLINE}),
    PartitionState.NEW: frozenset({PartitionState.NON_EXISTENT}),
    PartitionState.ONLINE: frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
    PartitionState.OFFLINE: frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
}


class PartitionStateMachine:
    """Knows every partition's state, and changes it only along VALID_PREVIOUS_STATES.

    A change that fails (no replica is alive, another controller is in charge) is logged. Its partition keeps its state,
    and the other partitions of the batch proceed.
    """

    def __init__(
        self,
        controller_id: int,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        request_batch: ControllerBrokerRequestBatch,
        leader_selector: PartitionLeaderSelector,
    ) -> None:
        self._controller_id = controller_id
        self._context = context
        self._zk_client = zk_client
        self._batch = request_batch
        self.leader_selector = leader_selector
        self._states: dict[TopicPartition, PartitionState] = {}

    # ---------------------------------------------------------------------------------------------------------- life

    def startup(self, is_topic_to_be_deleted: Callable[[str], bool]) -> None:
        """Derive the states from the leaders in ZooKeeper, then try to bring all partitions online.

        Not if no broker is alive: a broker becomes the controller before it registers, and its registration brings them
        online. Kafka 0.10.2 tries all the same, and a single broker logs an ERROR for every partition when it starts.
        """
        for partition in self._context.partition_replica_assignment:
            self._states[partition] = self._initial_state(partition)
        if self._context.live_broker_ids:
            self.trigger_online_partition_state_change(is_topic_to_be_deleted)
        logger.info("Started the partition state machine with %d partitions", len(self._states))

    def _initial_state(self, partition: TopicPartition) -> PartitionState:
        info = self._context.partition_leadership_info.get(partition)
        if info is None:
            return PartitionState.NEW
        alive = info.leader_and_isr.leader in self._context.online_broker_ids(partition)
        return PartitionState.ONLINE if alive else PartitionState.OFFLINE

    def shutdown(self) -> None:
        """Forget all states."""
        self._states.clear()

    def state(self, partition: TopicPartition) -> PartitionState:
        """The state of a partition."""
        return self._states.get(partition, PartitionState.NON_EXISTENT)

    def partitions_in_state(self, state: PartitionState) -> set[TopicPartition]:
        """All partitions in a state."""
        return {partition for partition, found in self._states.items() if found is state}

    def trigger_online_partition_state_change(
        self, is_topic_to_be_deleted: Callable[[str], bool], topic: str | None = None
    ) -> None:
        """Try to find a leader for every partition (or those of ``topic``) without one that is not being deleted."""
        without = self.partitions_in_state(PartitionState.NEW) | self.partitions_in_state(PartitionState.OFFLINE)
        of_topic = {partition for partition in without if topic in (None, partition.topic)}
        wanted = {partition for partition in of_topic if not is_topic_to_be_deleted(partition.topic)}
        self.handle_state_changes(wanted, PartitionState.ONLINE)

    # -------------------------------------------------------------------------------------------------- state changes

    def handle_state_changes(
        self,
        partitions: Collection[TopicPartition],
        target: PartitionState,
        select_leader: SelectLeader | None = None,
    ) -> dict[TopicPartition, StateChangeFailedError]:
        """Bring partitions into a state, then send the requests that follow from it. Returns why some have failed.

        ``select_leader`` chooses the leaders of those that go ONLINE and had one before; by default
        ``PartitionLeaderSelector.select_offline_leader`` does.
        """
        if not partitions:
            return {}
        self._batch.new_batch()
        in_order = sorted(partitions)
        first_states = self._create_first_states(in_order) if target is PartitionState.ONLINE else {}
        select_leader = select_leader or self.leader_selector.select_offline_leader
        failures = {}
        for partition in in_order:
            error = self._handle_state_change(partition, target, select_leader, first_states)
            if error is not None:
                failures[partition] = error
        self._batch.send_requests_to_brokers()
        return failures

    def _handle_state_change(
        self,
        partition: TopicPartition,
        target: PartitionState,
        select_leader: SelectLeader,
        first_states: FirstStates,
    ) -> StateChangeFailedError | None:
        """Bring one partition into a state, if the table allows it. A failure is logged and returned."""
        current = self.state(partition)
        try:
            if current not in VALID_PREVIOUS_STATES[target]:
                raise StateChangeFailedError(f"{current.name} is not a valid previous state of {target.name}")
            if target is PartitionState.ONLINE:
                self._bring_online(partition, current, select_leader, first_states)
        except StateChangeFailedError as error:
            state_change_logger.error(
                "Controller %d epoch %d initiated state change for partition %s from %s to %s failed: %s",
                *self._who_and_what(partition, current, target),
                error,
            )
            return error
        if target is PartitionState.NON_EXISTENT:
            self._states.pop(partition, None)
        else:
            self._states[partition] = target
        if state_change_logger.is_tracing():
            self._trace_state_change(partition, current, target)
        return None

    def _who_and_what(
        self, partition: TopicPartition, current: PartitionState, target: PartitionState
    ) -> tuple[object, ...]:
        return self._controller_id, self._context.epoch, bracketed(partition), current, target

    def _trace_state_change(self, partition: TopicPartition, current: PartitionState, target: PartitionState) -> None:
        who_and_what = self._who_and_what(partition, current, target)
        if target is PartitionState.ONLINE:
            state_change_logger.trace(
                "Controller %d epoch %d changed partition %s from %s to %s with leader %d",
                *who_and_what,
                self._context.partition_leadership_info[partition].leader_and_isr.leader,
            )
            return
        line = "Controller %d epoch %d changed partition %s state from %s to %s"
        if target is PartitionState.NEW:
            replicas = ",".join(map(str, self._context.partition_replica_assignment.get(partition, ())))
            state_change_logger.trace(line + " with assigned replicas %s", *who_and_what, replicas)
        else:
            state_change_logger.trace(line, *who_and_what)

    def _bring_online(
        self,
        partition: TopicPartition,
        current: PartitionState,
        select_leader: SelectLeader,
        first_states: FirstStates,
    ) -> None:
        """The first leader of a NEW partition; for others, the leader that ``select_leader`` chooses."""
        if current is PartitionState.NEW:
            self._initialize_leader_and_isr(partition, first_states)
        else:
            self._elect_leader(partition, select_leader)

    def _create_first_states(self, partitions: Collection[TopicPartition]) -> FirstStates:
        """Write the first leader and ISR of the partitions that have none, all at once. Returns what was written.

        The first live replica leads. All live replicas are in sync, since there is nothing to copy yet.
        """
        states = {}
        for partition in partitions:
            live = self._context.live_replicas(partition)
            if live and self.state(partition) is PartitionState.NEW:
                leader_and_isr = LeaderAndIsr(live[0], list(live))
                states[partition] = LeaderIsrAndControllerEpoch(leader_and_isr, self._context.epoch)
        refused = self._zk_client.create_partition_states(states) if states else ()
        return {partition: state for partition, state in states.items() if partition not in refused}

    def _initialize_leader_and_isr(self, partition: TopicPartition, first_states: FirstStates) -> None:
        """Adopt the state that ``_create_first_states`` has written; raise StateChangeFailedError if there is none."""
        assigned = self._context.partition_replica_assignment.get(partition, [])
        state = first_states.get(partition)
        if state is None:
            if not self._context.live_replicas(partition):
                raise StateChangeFailedError(f"none of the assigned replicas {assigned} is alive")
            found = self._zk_client.get_partition_state(partition)
            raise StateChangeFailedError(f"its leader and ISR are already in ZooKeeper: {found}")
        self._context.partition_leadership_info[partition] = state
        self._batch.add_leader_and_isr(state.leader_and_isr.isr, partition, state, assigned, is_new=True)

    def _elect_leader(self, partition: TopicPartition, select_leader: SelectLeader) -> None:
        """Choose a leader, write it, and tell the replicas."""
        who, name = (self._controller_id, self._context.epoch), bracketed(partition)
        state_change_logger.trace("Controller %d epoch %d started leader election for partition %s", *who, name)
        election, state = self._write_election(partition, select_leader)
        assigned = self._context.partition_replica_assignment.get(partition, [])
        self._batch.add_leader_and_isr(election.replicas_to_tell, partition, state, assigned)
        leader = state.leader_and_isr.leader
        state_change_logger.trace(
            "Controller %d epoch %d elected leader %d for Offline partition %s", *who, leader, name
        )

    def _write_election(
        self, partition: TopicPartition, select_leader: SelectLeader
    ) -> tuple[Election, LeaderIsrAndControllerEpoch]:
        """Write the choice unless the state has changed in the meantime; if it has, choose again."""
        written = None
        while written is None:
            found = self._zk_client.get_partition_state(partition)
            if found is None:
                raise StateChangeFailedError("it has no leader and ISR in ZooKeeper")
            if found.controller_epoch > self._context.epoch:
                raise StateChangeFailedError(f"a newer controller, of epoch {found.controller_epoch}, is in charge")
            election = select_leader(partition, found.leader_and_isr)
            chosen = LeaderIsrAndControllerEpoch(election.leader_and_isr, self._context.epoch)
            written = self._zk_client.update_partition_state(partition, chosen)
        leader_and_isr = chosen.leader_and_isr
        stored = LeaderAndIsr(leader_and_isr.leader, leader_and_isr.isr, leader_and_isr.leader_epoch, written)
        state = LeaderIsrAndControllerEpoch(stored, self._context.epoch)
        self._context.partition_leadership_info[partition] = state
        return election, state

    def update_leader_epoch(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch:
        """Raise the leader epoch in ZooKeeper, with the same leader and ISR; tells nobody.

        Raises StateChangeFailedError.
        """
        _, state = self._write_election(partition, select_same_leader)
        return state
