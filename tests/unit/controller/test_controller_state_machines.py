"""Both state machines and topic deletion, with ZooKeeper and the brokers in memory."""

import pytest

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.common.state_change_logger import bracketed
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import partition_state_machine, replica_state_machine
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from tests.support.state_machines import Controller, P, broker

# ----------------------------------------------------------------------------------------------------------- the tables


@pytest.mark.parametrize("module", [partition_state_machine, replica_state_machine])
def test_every_state_has_its_row_in_the_table(module):
    states = next(type(state) for state in module.VALID_PREVIOUS_STATES)
    assert set(module.VALID_PREVIOUS_STATES) == set(states)
    reachable = set().union(*module.VALID_PREVIOUS_STATES.values())
    assert reachable <= set(states)


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


# ---------------------------------------------------------------------------------------------------------- partitions


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


# ------------------------------------------------------------------------------------------------------------ replicas


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


def test_a_replica_on_a_failed_disk_takes_over_no_leadership_of_a_stopping_broker():
    controller = Controller()
    controller.create()
    controller.context.shutting_down_broker_ids.add(1)
    controller.context.set_replicas_on_offline_dirs(2, {P})
    election = controller.partitions.leader_selector.select_controlled_shutdown_leader(P, controller.state())
    assert election.leader_and_isr.leader == 3


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


def test_replicas_at_the_start():
    controller = Controller(live=(1, 2))
    controller.replicas.startup()
    states = [controller.replicas.state(PartitionAndReplica(P, broker_id)) for broker_id in (1, 2, 3)]
    assert states == [ReplicaState.ONLINE, ReplicaState.ONLINE, ReplicaState.DELETION_INELIGIBLE]


# ------------------------------------------------------------------------------------------------------------ deletion


def answer_all(controller, error_code=0):
    while controller.responses:
        replica, response = controller.responses.pop(0)
        response.error_code = error_code
        controller.deletion.stop_replica_responded(replica, response)


def test_deletion_step_by_step():
    other = TopicPartition("u", 0)
    controller = Controller(assignment={P: [1, 2], other: [1]})
    controller.create(P)
    controller.create(other)
    controller.sent.clear()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    first = controller.sent[0][1]
    assert isinstance(first, UpdateMetadataRequest)
    assert [(s.topic_name, s.leader) for s in first.ungrouped_partition_states] == [("t", -2)]
    stops = [(b, r.delete_partitions) for b, r in controller.told(StopReplicaRequest)]
    assert stops == [(1, False), (2, False), (1, True), (2, True)]
    assert controller.told(LeaderAndIsrRequest) == [], "no replica is told that the others leave the ISR"
    assert controller.state().isr == []
    assert controller.zk.deleted == []
    answer_all(controller)
    assert controller.zk.deleted == ["/brokers/topics/t", "/config/topics/t", "/admin/delete_topics/t"]
    assert controller.gone == ["t"]
    assert controller.context.all_topics == {"u"}
    assert set(controller.context.partition_leadership_info) == {other}
    assert controller.partitions.state(P) is PartitionState.NON_EXISTENT
    assert not controller.deletion.partitions_to_be_deleted


def test_a_deletion_in_progress_is_not_started_again():
    controller = Controller(assignment={P: [1, 2]})
    controller.create()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    controller.sent.clear()
    controller.deletion.resume_deletions()
    assert controller.sent == []


def test_a_topic_that_is_being_reassigned_is_deleted_afterwards():
    controller = Controller(assignment={P: [1, 2]})
    controller.create()
    controller.context.partitions_being_reassigned[P] = ReplicaAssignment([1, 2, 3], [3])
    controller.sent.clear()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    assert controller.sent == []
    del controller.context.partitions_being_reassigned[P]
    controller.deletion.resume_deletion_for_topics(["t"])
    answer_all(controller)
    assert controller.gone == ["t"]


def test_a_new_controller_deletes_no_part_of_a_topic_with_a_dead_replica():
    controller = Controller(live=(1,), assignment={P: [1, 2]})
    controller.replicas.startup()
    controller.deletion.init(["t"])
    controller.sent.clear()
    controller.deletion.resume_deletions()
    assert controller.sent == []


def test_a_failed_deletion_is_tried_again_when_resumed():
    controller = Controller(assignment={P: [1, 2]})
    controller.create()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    answer_all(controller, error_code=56)
    controller.deletion.resume_deletions()
    assert controller.zk.deleted == []
    controller.deletion.resume_deletion_for_topics(["t"])
    answer_all(controller)
    assert len(controller.zk.deleted) == 3


def test_a_dead_replica_makes_the_deletion_wait():
    controller = Controller(assignment={P: [1, 2]})
    controller.create()
    controller.die(2)
    controller.replicas.handle_state_changes([PartitionAndReplica(P, 2)], ReplicaState.OFFLINE)
    controller.deletion.enqueue_topics_for_deletion({"t"})
    answer_all(controller)
    assert controller.zk.deleted == []
    assert controller.replicas.state(PartitionAndReplica(P, 1)) is ReplicaState.DELETION_SUCCESSFUL
    controller.context.live_brokers[2] = broker(2)
    controller.deletion.resume_deletion_for_topics(["t"])
    answer_all(controller)
    assert len(controller.zk.deleted) == 3


# ------------------------------------------------------------------------------------------------------------- batches


def test_a_new_batch_after_one_that_was_not_sent_is_an_error():
    controller = Controller()
    batch = controller.batch()
    batch.new_batch()
    batch.add_update_metadata([1], [])
    with pytest.raises(RuntimeError, match="not empty"):
        batch.new_batch()
    batch.new_batch()


def test_the_metadata_of_a_partition_is_that_of_its_last_change():
    """Its replicas may change one after another in one batch."""
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.die(2)
    controller.die(3)
    gone = [PartitionAndReplica(P, 2), PartitionAndReplica(P, 3)]
    controller.replicas.handle_state_changes(gone, ReplicaState.OFFLINE)
    ((to, request),) = controller.told(UpdateMetadataRequest)
    (state,) = request.ungrouped_partition_states
    assert (to, state.isr, state.zk_version) == (1, [1], controller.state().zk_version)


def test_a_partition_that_has_no_leader_yet_is_left_out_of_the_metadata():
    controller = Controller()
    controller.update_metadata([P])
    assert [request.ungrouped_partition_states for _, request in controller.told(UpdateMetadataRequest)] == [[]] * 3


def test_each_broker_gets_one_request_of_each_kind():
    partitions = {TopicPartition("t", number): [1, 2] for number in range(4)}
    controller = Controller(live=(1, 2), assignment=partitions)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.NEW)
    controller.partitions.handle_state_changes(list(partitions), PartitionState.ONLINE)
    assert [(b, len(r.ungrouped_partition_states)) for b, r in controller.told(LeaderAndIsrRequest)] == [(1, 4), (2, 4)]
    assert [len(r.ungrouped_partition_states) for _, r in controller.told(UpdateMetadataRequest)] == [4, 4]


def test_broker_0_gets_its_requests_too():
    controller = Controller(live=(0,), assignment={P: [0]})
    controller.create()
    assert [(b, type(request)) for b, request in controller.sent[:2]] == [
        (0, LeaderAndIsrRequest),
        (0, UpdateMetadataRequest),
    ]


def test_replicas_that_are_only_stopped_come_before_those_that_are_deleted():
    controller = Controller()
    batch = controller.batch()
    batch.new_batch()
    batch.add_stop_replica(PartitionAndReplica(P, 1), delete=True)
    batch.add_stop_replica(PartitionAndReplica(TopicPartition("u", 0), 1), delete=False)
    batch.send_requests_to_brokers()
    assert [request.delete_partitions for _, request in controller.told(StopReplicaRequest)] == [False, True]


def test_the_metadata_says_which_replicas_are_on_failed_disks():
    controller = Controller()
    controller.create()
    controller.sent.clear()
    controller.context.set_replicas_on_offline_dirs(2, {P})
    controller.update_metadata([P])
    assert controller.told(UpdateMetadataRequest)[0][1].ungrouped_partition_states[0].offline_replicas == [2]


# ------------------------------------------------------------------------------------------------- the state-change log


def test_state_changes_of_a_partition_are_logged_as_by_kafka(caplog):
    controller = Controller(live=(1,), assignment={P: [1]})
    with caplog.at_level(TRACE, "state.change.logger"):
        controller.create()
        controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
        controller.partitions.handle_state_changes([P], PartitionState.ONLINE)
    who, name = "Controller 1 epoch 5", bracketed(P)
    state = "(Leader:1,ISR:1,LeaderEpoch:0,ControllerEpoch:5)"
    for line in (
        f"{who} changed partition {name} state from NonExistentPartition to NewPartition with assigned replicas 1",
        f"{who} changed state of replica 1 for partition {name} from NonExistentReplica to NewReplica",
        f"{who} changed partition {name} from NewPartition to OnlinePartition with leader 1",
        f"{who} sending become-leader LeaderAndIsr request {state} to broker 1 for partition {name}",
        f"{who} sending UpdateMetadata request {state} to brokers [1] for partition {P}",
        f"{who} changed state of replica 1 for partition {name} from NewReplica to OnlineReplica",
        f"{who} changed partition {name} state from OnlinePartition to OfflinePartition",
        f"{who} started leader election for partition {name}",
        f"{who} elected leader 1 for Offline partition {name}",
    ):
        assert caplog.messages.count(line) == 1, line


def test_an_invalid_transition_is_logged_as_an_error(caplog):
    controller = Controller()
    controller.partitions.handle_state_changes([P], PartitionState.OFFLINE)
    assert (
        f"Controller 1 epoch 5 initiated state change for partition {bracketed(P)} "
        "from NonExistentPartition to OfflinePartition failed" in caplog.text
    )


def test_one_request_deletes_all_replicas_of_a_broker_and_each_has_its_own_error():
    other = TopicPartition("t", 1)
    controller = Controller(live=(1,), assignment={P: [1], other: [1]})
    controller.create(P)
    controller.create(other)
    controller.sent.clear()
    controller.deletion.enqueue_topics_for_deletion({"t"})
    stops = [request for _, request in controller.told(StopReplicaRequest)]
    assert [(stop.delete_partitions, len(stop.ungrouped_partitions)) for stop in stops] == [(False, 2), (True, 2)]
    ((replicas, response),) = controller.responses
    failed = StopReplicaPartitionError(topic_name="t", partition_index=1, error_code=56)
    done = StopReplicaPartitionError(topic_name="t", partition_index=0, error_code=0)
    response.partition_errors = [done, failed]
    controller.deletion.stop_replica_responded(replicas, response)
    states = {r.partition.partition: controller.replicas.state(r) for r in replicas}
    assert states == {0: ReplicaState.DELETION_SUCCESSFUL, 1: ReplicaState.DELETION_INELIGIBLE}
    assert controller.zk.deleted == []


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
