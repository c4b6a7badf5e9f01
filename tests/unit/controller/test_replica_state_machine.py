"""The replica state machine, with ZooKeeper and the brokers in memory."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import replica_state_machine
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaRequest,
)
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from tests.support.state_machines import Controller, P


def test_every_state_has_its_row_in_the_table():
    table = replica_state_machine.VALID_PREVIOUS_STATES
    assert set(table) == set(ReplicaState)
    assert set().union(*table.values()) <= set(ReplicaState)


@pytest.mark.parametrize("current", list(ReplicaState))
@pytest.mark.parametrize("target", list(ReplicaState))
def test_only_the_tables_transitions_happen_to_replicas(current, target):
    controller = Controller()
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2, 3]), 5)
    controller.zk.put(P, state)
    controller.context.partition_leadership_info[P] = state
    replica = PartitionAndReplica(P, 2)
    controller.replicas._put(replica, current)
    controller.replicas.handle_state_changes([replica], target)
    allowed = current in replica_state_machine.VALID_PREVIOUS_STATES[target]
    assert controller.replicas.state(replica) is (target if allowed else current)


def test_an_offline_replica_leaves_the_isr_and_the_others_are_notified():
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 2)], ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(1, [1, 3], 1, 1)
    assert controller.states_told() == [(1, 1, [1, 3], 1), (3, 1, [1, 3], 1)]
    ((stopped, request),) = controller.told(StopReplicaRequest)
    assert (stopped, request.delete_partitions) == (2, False)


def test_replicas_of_one_partition_that_go_offline_together_leave_one_state_behind():
    controller = Controller()
    controller.create()
    controller.sent.clear()
    gone = [PartitionAndReplica(P, 2), PartitionAndReplica(P, 3)]
    controller.replicas.handle_state_changes(gone, ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(1, [1], 2, 2)
    told = [state for state in controller.states_told() if state[0] == 1]
    assert told == [(1, 1, [1], 2)], "the leader needs the last state, whose znode version it writes over"


@pytest.mark.parametrize(("unclean", "isr"), [(False, [1]), (True, [])])
def test_the_last_member_stays_in_the_isr_unless_unclean_election_is_enabled(unclean, isr):
    controller = Controller(live=(1,), assignment={P: [1]}, unclean=unclean)
    controller.create()
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 1)], ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(-1, isr, 1, 1)


def test_a_replica_that_is_not_in_the_isr_changes_nothing_in_zookeeper():
    controller = Controller(live=(1, 2))
    controller.create()
    controller.replicas._put(PartitionAndReplica(P, 3), ReplicaState.ONLINE)
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 3)], ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(1, [1, 2], 0, 0)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_newer_controllers_isr_is_not_overwritten(at_once, caplog):
    controller = Controller()
    controller.create()
    newer = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2], 1), 6)
    if at_once:
        controller.zk.put(P, newer, version=1)
    else:
        controller.zk.before_update = lambda: controller.zk.put(P, newer, version=1)
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 2)], ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(1, [1, 2], 1, 1)
    assert controller.replicas.state(PartitionAndReplica(P, 2)) is ReplicaState.ONLINE
    assert "newer controller, of epoch 6" in caplog.text


def test_a_replica_leaves_the_isr_each_time_even_if_the_leader_writes_meanwhile():
    controller = Controller()
    controller.create()
    replica = [PartitionAndReplica(P, 2)]
    controller.replicas.handle_state_changes(replica, ReplicaState.OFFLINE)
    controller.replicas.handle_state_changes(replica, ReplicaState.ONLINE)
    back = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2, 3], 1), 5)
    controller.zk.put(P, back, version=2)
    controller.zk.before_update = lambda: controller.zk.put(P, back, version=3)
    controller.replicas.handle_state_changes(replica, ReplicaState.OFFLINE)
    assert controller.state() == LeaderAndIsr(1, [1, 3], 2, 4)


def test_a_new_replica_follows_and_is_assigned_once_it_is_online():
    controller = Controller(live=(1, 2, 4), assignment={P: [1, 2]})
    controller.create()
    controller.sent.clear()
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 4)], ReplicaState.NEW)
    ((to, request),) = controller.told(LeaderAndIsrRequest)
    (state,) = request.ungrouped_partition_states
    assert (to, state.leader, state.is_new) == (4, 1, True)
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 4)], ReplicaState.ONLINE)
    assert controller.context.partition_replica_assignment[P] == [1, 2, 4]


def test_a_new_replica_cannot_be_the_leader(caplog):
    controller = Controller(live=(1, 4), assignment={P: [1]})
    controller.create()
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(4, [4]), 5)
    controller.context.partition_leadership_info[P] = state
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 4)], ReplicaState.NEW)
    assert controller.replicas.state(PartitionAndReplica(P, 4)) is ReplicaState.NON_EXISTENT
    assert "a new replica cannot be the leader" in caplog.text


def test_a_deleted_replica_is_not_assigned_any_more():
    controller = Controller(assignment={P: [1, 2]})
    controller.create()
    for target in (
        ReplicaState.OFFLINE,
        ReplicaState.DELETION_STARTED,
        ReplicaState.DELETION_SUCCESSFUL,
        ReplicaState.NON_EXISTENT,
    ):
        controller.replicas.handle_state_changes([PartitionAndReplica(P, 2)], target)
    assert controller.context.partition_replica_assignment[P] == [1]


def test_replicas_at_the_start():
    controller = Controller(live=(1, 2))
    controller.replicas.startup()
    states = [controller.replicas.state(PartitionAndReplica(P, broker_id)) for broker_id in (1, 2, 3)]
    assert states == [ReplicaState.ONLINE, ReplicaState.ONLINE, ReplicaState.DELETION_INELIGIBLE]


def test_replicas_of_one_partition_leave_the_isr_one_at_a_time():
    controller = Controller(assignment={P: [1, 2, 3]})
    controller.create()
    replicas = [PartitionAndReplica(P, broker_id) for broker_id in (2, 3)]
    controller.replicas.handle_state_changes(replicas, ReplicaState.OFFLINE)
    assert controller.state().isr == [1]
    assert controller.context.partition_leadership_info[P].leader_and_isr == controller.state()


def test_a_new_controller_takes_dead_brokers_out_of_the_isrs_of_live_leaders():
    """They died with the controller before, which could not do it any more."""
    alone = TopicPartition("t", 1)
    controller = Controller(live=(2, 3), assignment={P: [1, 2, 3], alone: [1]})
    for partition, state in ((P, LeaderAndIsr(2, [1, 2, 3])), (alone, LeaderAndIsr(1, [1]))):
        controller.zk.put(partition, LeaderIsrAndControllerEpoch(state, 4))
        controller.context.partition_leadership_info[partition] = controller.zk.states[partition]
    controller.replicas.startup()
    assert (controller.state().leader, controller.state().isr) == (2, [2, 3])
    assert controller.replicas.state(PartitionAndReplica(P, 1)) is ReplicaState.OFFLINE
    assert controller.state(alone) == LeaderAndIsr(1, [1], 0, 0), "without a live leader, an election decides"
