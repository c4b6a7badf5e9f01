"""The partition state machine, with ZooKeeper and the brokers in memory."""

import pytest

from kafka_lite.common.state_change_logger import bracketed
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import partition_state_machine
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from tests.support.state_machines import Controller, P, broker


def test_every_state_has_its_row_in_the_table():
    table = partition_state_machine.VALID_PREVIOUS_STATES
    assert set(table) == set(PartitionState)
    assert set().union(*table.values()) <= set(PartitionState)


@pytest.mark.parametrize("current", list(PartitionState))
@pytest.mark.parametrize("target", list(PartitionState))
def test_only_the_tables_transitions_happen_to_partitions(current, target):
    controller = Controller()
    controller.zk.put(P, LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2, 3]), 5))
    if current is PartitionState.NEW:
        controller.zk.states.clear()
    controller.partitions._states[P] = current
    controller.partitions.handle_state_changes([P], target)
    allowed = current in partition_state_machine.VALID_PREVIOUS_STATES[target]
    assert controller.partitions.state(P) is (target if allowed else current)


def test_a_new_partition_is_led_by_its_first_live_replica():
    controller = Controller(live=(2, 3))
    controller.create()
    assert controller.state() == LeaderAndIsr(2, [2, 3], 0, 0)
    assert controller.states_told() == [(2, 2, [2, 3], 0), (3, 2, [2, 3], 0)]
    assert [b for b, _ in controller.told(UpdateMetadataRequest)] == [2, 3]
    kinds = [type(request) for _, request in controller.sent]
    assert kinds == [LeaderAndIsrRequest] * 2 + [UpdateMetadataRequest] * 2
    assert [(leader.broker_id, leader.port) for leader in controller.sent[0][1].live_leaders] == [(2, 9002)]


def test_a_new_partition_without_a_live_replica_waits():
    controller = Controller(live=(9,))
    controller.create()
    assert controller.partitions.state(P) is PartitionState.NEW
    assert not controller.zk.states
    controller.context.live_brokers[3] = broker(3)
    controller.partitions.trigger_online_partition_state_change(lambda topic: False)
    assert controller.partitions.state(P) is PartitionState.ONLINE
    assert controller.state().leader == 3


def test_leaders_of_a_single_topic_can_be_elected():
    other = TopicPartition("other", 0)
    controller = Controller(live=(9,), assignment={P: [1], other: [1]})
    for partition in (P, other):
        controller.create(partition)
    controller.context.live_brokers[1] = broker(1)
    controller.partitions.trigger_online_partition_state_change(lambda topic: False, "other")
    assert controller.partitions.state(P) is PartitionState.NEW
    assert controller.partitions.state(other) is PartitionState.ONLINE


def test_an_existing_state_of_a_partition_is_not_overwritten(caplog):
    controller = Controller()
    controller.zk.put(P, LeaderIsrAndControllerEpoch(LeaderAndIsr(3, [3]), 9))
    controller.create()
    assert controller.state() == LeaderAndIsr(3, [3])
    assert "already in ZooKeeper" in caplog.text


def test_a_dead_leader_is_replaced_and_the_epoch_rises():
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.die(1)
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    controller.partitions.trigger_online_partition_state_change(lambda topic: False)
    assert controller.state() == LeaderAndIsr(2, [2, 3], 1, 1)
    assert controller.states_told() == [(2, 2, [2, 3], 1), (3, 2, [2, 3], 1)]
    sent = controller.told(LeaderAndIsrRequest)[0][1].ungrouped_partition_states[0]
    assert (sent.partition_epoch, sent.controller_epoch, sent.replicas, sent.is_new) == (1, 5, [1, 2, 3], False)


def test_an_election_is_repeated_if_the_leader_wrote_in_the_meantime():
    controller = Controller()
    controller.create()
    controller.die(1)
    shrunk = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 3]), 5)
    controller.zk.before_update = lambda: controller.zk.put(P, shrunk, version=1)
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    controller.partitions.trigger_online_partition_state_change(lambda topic: False)
    assert controller.state() == LeaderAndIsr(3, [3], 1, 2)


def test_the_state_of_a_newer_controller_is_not_overwritten(caplog):
    controller = Controller()
    controller.create()
    controller.zk.put(P, LeaderIsrAndControllerEpoch(LeaderAndIsr(2, [2, 3], 1), 6), version=1)
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    controller.partitions.handle_state_changes([P], PartitionState.ONLINE)
    assert controller.partitions.state(P) is PartitionState.OFFLINE
    assert "newer controller, of epoch 6" in caplog.text


def test_topics_to_be_deleted_are_not_brought_online():
    controller = Controller(live=())
    controller.partitions.handle_state_changes([P], PartitionState.NEW)
    controller.context.live_brokers[1] = broker(1)
    controller.partitions.trigger_online_partition_state_change(lambda topic: True)
    assert controller.partitions.state(P) is PartitionState.NEW


@pytest.mark.parametrize(
    ("leader", "live", "expected"),
    [(1, (1, 2), PartitionState.ONLINE), (9, (1, 2), PartitionState.ONLINE), (1, (9,), PartitionState.OFFLINE)],
)
def test_states_at_the_start(leader, live, expected):
    """A dead leader means OFFLINE first, then an election where one is possible."""
    controller = Controller(live=live)
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, [leader, 2]), 4)
    controller.zk.put(P, state)
    controller.context.partition_leadership_info[P] = state
    controller.partitions.startup(lambda topic: False)
    assert controller.partitions.state(P) is expected
    assert controller.state().leader == (2 if leader == 9 else leader)


def test_a_start_without_live_brokers_elects_no_leader_and_logs_no_error(caplog):
    """This is how a lone broker starts: it becomes the controller first, then it registers."""
    controller = Controller(live=())
    controller.zk.put(P, LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1]), 4))
    controller.context.partition_leadership_info[P] = controller.zk.states[P]
    controller.partitions.startup(lambda topic: False)
    assert controller.partitions.state(P) is PartitionState.OFFLINE
    assert "failed" not in caplog.text
    controller.context.live_brokers[1] = broker(1)
    controller.partitions.trigger_online_partition_state_change(lambda topic: False)
    assert controller.partitions.state(P) is PartitionState.ONLINE


def test_only_unclean_elections_that_happen_are_counted():
    controller = Controller(unclean=True)
    controller.create()
    controller.context.live_brokers.clear()
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    controller.partitions.handle_state_changes([P], PartitionState.ONLINE)
    assert controller.unclean_elections == 0
    controller.context.live_brokers[3] = broker(3)
    controller.zk.put(P, LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1]), 5))
    controller.partitions.handle_state_changes([P], PartitionState.ONLINE)
    assert controller.unclean_elections == 1


def test_an_invalid_transition_is_logged_as_an_error(caplog):
    controller = Controller()
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    assert (
        f"Controller 1 epoch 5 initiated state change for partition {bracketed(P)} "
        "from NonExistentPartition to OfflinePartition failed" in caplog.text
    )


def test_a_replica_on_a_failed_disk_takes_over_no_leadership_of_a_stopping_broker():
    controller = Controller()
    controller.create()
    controller.context.shutting_down_broker_ids.add(1)
    controller.context.set_replicas_on_offline_dirs(2, {P})
    election = controller.partitions.leader_selector.select_controlled_shutdown_leader(P, controller.state())
    assert election.leader_and_isr.leader == 3
