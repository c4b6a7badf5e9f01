"""The steps of a reassignment, with ZooKeeper and the brokers in memory; the tests bring each event themselves."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_reassigner import PartitionReassigner
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch, TopicAssignment
from kafka_lite.zookeeper.zk_errors import NoNodeError
from tests.support.fake_zk import FakeZk
from tests.support.fake_zookeeper import FakeZooKeeper, Tree
from tests.support.state_machines import Controller, P, broker

OTHER = TopicPartition("u", 0)
MOVE = ReplicaAssignment([3, 1, 2], [3], [2])
"""From [1, 2] to [3, 1]."""


class ReassigningZk(FakeZk):
    """Also has the topics' znodes, the requests in /admin, and watches of partition states."""

    def __init__(self):
        super().__init__()
        self.zookeeper = FakeZooKeeper(Tree())
        self.topics = {}
        self.watches = {}
        self.on_watch = None

    def change_topic_assignment(self, topic, change):
        if topic not in self.topics:
            raise NoNodeError(topic)
        self.topics[topic] = change(self.topics[topic])

    def watch_partition_state(self, partition, callback):
        self.watches[partition] = callback
        if self.on_watch is not None:
            self.on_watch()

    def unwatch_partition_state(self, partition):
        self.watches.pop(partition, None)


class Reassigning(Controller):
    """A controller with partitions that have a leader, and a reassigner."""

    zk_class = ReassigningZk

    def __init__(self, assignment=None, live=(1, 2, 3, 4, 5)):
        assignment = assignment or {P: [1, 2]}
        super().__init__(live, assignment)
        for partition, replicas in assignment.items():
            self.zk.topics[partition.topic] = TopicAssignment({partition.partition: list(replicas)})
            self.create(partition)
        self.requests = AdminRequests(self.zk.zookeeper)
        self.isr_changes = []
        self.stopped = []
        self.reassigner = self.new_reassigner()
        self.sent.clear()

    def new_reassigner(self):
        return PartitionReassigner(
            self.context,
            self.zk,
            self.partitions,
            self.replicas,
            self.deletion,
            self.batch(),
            send_update_metadata=self.update_metadata,
            on_isr_change=self.isr_changes.append,
            on_replicas_stopped=lambda *response: self.stopped.append(response),
        )

    def ask(self, targets):
        """Write /admin/reassign_partitions, and process it."""
        self.requests.create_reassignment(targets)
        self.reassigner.process_znode()

    def alter(self, target, partition=P):
        """Returns the error."""
        error = self.reassigner.alter({partition: target})[partition]
        return Errors.NONE if error is None else error.error

    def set_isr(self, *isr, leader=None, partition=P):
        found = self.zk.states[partition]
        now = found.leader_and_isr
        new = LeaderAndIsr(now.leader if leader is None else leader, list(isr), now.leader_epoch)
        self.zk.put(partition, LeaderIsrAndControllerEpoch(new, found.controller_epoch), now.zk_version + 1)

    def catch_up(self, *isr, partition=P):
        """The leader takes new replicas into the ISR, and the controller hears of it."""
        self.set_isr(*isr, partition=partition)
        self.reassigner.isr_changed(partition)

    def respond(self, *brokers):
        """The brokers (none: all that were asked) have stopped their replicas."""
        waiting, self.stopped = self.stopped, []
        for partition, replicas in waiting:
            if not brokers or replicas[0].replica in brokers:
                self.reassigner.replicas_stopped(partition, replicas)
            else:
                self.stopped.append((partition, replicas))

    def replica_state(self, broker_id, partition=P):
        return self.replicas.state(PartitionAndReplica(partition, broker_id))

    def deleted(self):
        return [b for b, request in self.told(StopReplicaRequest) if request.delete_partitions]

    def assigned(self, partition=P):
        """As the topic's znode has it."""
        topic, number = self.zk.topics[partition.topic], partition.partition
        return (
            topic.partitions[number],
            topic.adding_replicas.get(number, []),
            topic.removing_replicas.get(number, []),
        )

    def is_reassigning(self, partition=P):
        return partition in self.context.partitions_being_reassigned


@pytest.fixture
def controller():
    return Reassigning()


def moving(controller, target=(3, 1)):
    """Up to the moment in which the new replicas have caught up."""
    controller.ask({P: list(target)})
    controller.sent.clear()
    return controller


# ----------------------------------------------------------------------------------------------------- U1 to A2: begin


def test_a_reassignment_is_noted_everywhere_before_a_new_replica_starts(controller):
    epoch = controller.state().leader_epoch
    controller.ask({P: [3, 1]})
    assert controller.assigned() == ([3, 1, 2], [3], [2])
    assert controller.context.partition_replica_assignment[P] == [3, 1, 2]
    assert controller.context.partitions_being_reassigned == {P: MOVE}
    assert controller.state() == LeaderAndIsr(1, [1, 2], epoch + 1, controller.state().zk_version)
    told = [
        (to, state.is_new, state.leader_epoch, state.replicas)
        for to, request in controller.told(LeaderAndIsrRequest)
        for state in request.ungrouped_partition_states
    ]
    assert sorted(told) == [
        (1, False, epoch + 1, [3, 1, 2]),
        (2, False, epoch + 1, [3, 1, 2]),
        (3, True, epoch + 1, [3, 1, 2]),
        (3, True, epoch + 1, [3, 1, 2]),
    ]
    assert controller.replica_state(3) is ReplicaState.NEW
    assert controller.deleted() == []
    assert controller.requests.get_reassignment() == {P: [3, 1]}, "it stays until it is done"


def test_a_change_of_the_isr_becomes_an_event(controller):
    moving(controller)
    controller.zk.watches[P]()
    assert controller.isr_changes == [P]


def test_nothing_happens_before_all_new_replicas_have_caught_up(controller):
    moving(controller, (3, 4))
    controller.catch_up(1, 2, 3)
    assert controller.sent == []
    controller.catch_up(1, 2, 3, 4)
    assert controller.replica_state(3) is controller.replica_state(4) is ReplicaState.ONLINE


def test_a_replica_that_catches_up_before_the_watch_is_not_missed(controller):
    controller.zk.on_watch = lambda: controller.set_isr(1, 2, 3)
    controller.ask({P: [3, 1]})
    assert controller.replica_state(3) is ReplicaState.ONLINE
    controller.respond()
    assert controller.assigned() == ([3, 1], [], [])


def test_an_isr_that_changes_without_a_reassignment_changes_nothing(controller):
    controller.catch_up(1)
    assert controller.sent == []
    assert not controller.is_reassigning()


# ---------------------------------------------------------------------------------------------------- B1 to B8: the end


def test_the_leader_stays_if_it_is_among_the_new_replicas(controller):
    moving(controller)
    epoch = controller.state().leader_epoch
    controller.catch_up(1, 2, 3)
    assert controller.context.partition_replica_assignment[P] == [3, 1]
    told = [
        (to, state.leader, state.leader_epoch, state.isr, state.replicas)
        for to, request in controller.told(LeaderAndIsrRequest)
        for state in request.ungrouped_partition_states
    ]
    assert told[:2] == [(to, 1, epoch + 1, [1, 2, 3], [3, 1]) for to in (3, 1)], "before replica 2 leaves the ISR"
    assert (controller.state().leader, controller.state().isr) == (1, [1, 3])
    assert controller.deleted() == [2]
    assert controller.replica_state(2) is ReplicaState.NON_EXISTENT


@pytest.mark.parametrize("why", ["it is removed", "it is dead", "it is shutting down"])
def test_a_new_leader_is_elected_if_the_old_one_cannot_lead(controller, why):
    moving(controller, (3, 2) if why == "it is removed" else (3, 1))
    if why == "it is dead":
        controller.die(1)
    elif why == "it is shutting down":
        controller.context.shutting_down_broker_ids.add(1)
    controller.catch_up(1, 2, 3)
    assert controller.state().leader == 3
    told = [s for _, request in controller.told(LeaderAndIsrRequest) for s in request.ungrouped_partition_states]
    assert {state.leader for state in told} == {3}, "it is elected before others are removed"
    assert 1 not in told[0].replicas or why != "it is removed"


def test_the_znodes_are_written_once_the_removed_replicas_are_stopped(controller):
    moving(controller)
    controller.catch_up(1, 2, 3)
    assert controller.assigned() == ([3, 1, 2], [3], [2]), "the next controller must know of replica 2"
    assert controller.is_reassigning()
    controller.sent.clear()
    controller.respond()
    assert controller.assigned() == ([3, 1], [], [])
    assert not controller.is_reassigning()
    assert controller.zk.watches == {}
    assert controller.zk.zookeeper.children("/admin") == [], "/admin/reassign_partitions is gone"
    assert [to for to, _ in controller.told(UpdateMetadataRequest)] == [1, 2, 3, 4, 5]
    for _, request in controller.sent:
        assert [state.replicas for state in request.ungrouped_partition_states] == [[3, 1]]


def test_every_removed_replica_is_waited_for(controller):
    moving(controller, (3, 4))
    controller.catch_up(1, 2, 3, 4)
    assert controller.deleted() == [1, 2]
    controller.respond(2)
    assert controller.is_reassigning()
    controller.reassigner.isr_changed(P)
    controller.reassigner.on_broker_startup([3])
    assert controller.deleted() == [1, 2], "it is not done again meanwhile"
    controller.respond(1)
    assert controller.assigned() == ([3, 4], [], [])


def test_a_broker_that_is_shutting_down_still_responds(controller):
    moving(controller)
    controller.context.shutting_down_broker_ids.add(2)
    controller.catch_up(1, 2, 3)
    assert controller.is_reassigning()


def test_a_dead_broker_is_not_waited_for(controller):
    moving(controller)
    controller.die(2)
    controller.catch_up(1, 3)
    assert controller.assigned() == ([3, 1], [], [])


def test_a_broker_that_dies_before_it_responds_is_not_waited_for(controller):
    moving(controller, (3, 4))
    controller.catch_up(1, 2, 3, 4)
    controller.reassigner.on_broker_failure([1, 5])
    assert controller.is_reassigning()
    controller.reassigner.on_broker_failure([2])
    assert not controller.is_reassigning()


def test_a_response_after_the_topic_was_deleted_is_ignored(controller):
    moving(controller)
    controller.catch_up(1, 2, 3)
    controller.context.remove_topic("t")
    del controller.zk.topics["t"]
    controller.respond()
    controller.reassigner.on_broker_failure([2])
    assert controller.zk.topics == {}


def test_a_topic_that_was_to_be_deleted_is_deleted_after_its_reassignment(controller):
    moving(controller)
    controller.deletion.enqueue_topics_for_deletion(["t"])
    controller.catch_up(1, 2, 3)
    assert controller.responses == []
    controller.respond()
    assert {replicas[0].replica for replicas, _ in controller.responses} == {1, 3}, "those that are left"


def test_without_a_leader_the_first_step_fails_and_the_reassignment_remains(controller):
    del controller.context.partition_leadership_info[P]
    del controller.zk.states[P]
    assert controller.alter([3, 1]) is Errors.UNKNOWN_SERVER_ERROR
    assert controller.is_reassigning()


def test_only_the_order_of_the_replicas_may_change(controller):
    controller.ask({P: [2, 1]})
    assert not controller.is_reassigning()
    assert controller.assigned() == ([2, 1], [], [])
    assert controller.deleted() == []
    assert controller.requests.get_reassignment() == {}


def test_the_order_may_change_while_a_replica_lags_behind(controller):
    controller.set_isr(1)
    controller.ask({P: [2, 1]})
    assert controller.assigned() == ([2, 1], [], [])
    assert not controller.is_reassigning()


def test_the_order_may_change_before_there_is_a_leader(controller):
    del controller.context.partition_leadership_info[P]
    del controller.zk.states[P]
    controller.ask({P: [2, 1]})
    assert controller.assigned() == ([2, 1], [], [])
    assert not controller.is_reassigning()


def test_new_replicas_may_only_be_added_or_removed(controller):
    controller.ask({P: [1, 2, 3]})
    controller.catch_up(1, 2, 3)
    assert controller.assigned() == ([1, 2, 3], [], [])
    controller.ask({P: [1]})
    assert controller.deleted() == [2, 3]
    controller.respond()
    assert controller.assigned() == ([1], [], [])


# ── brokers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reassignment_waits_for_a_live_replica(controller):
    moving(controller, (3, 4))
    controller.die(3)
    controller.die(4)
    controller.catch_up(1, 2, 3, 4)
    assert controller.sent == []
    controller.context.live_brokers[3] = broker(3)
    controller.reassigner.on_broker_startup([3])
    assert controller.state().leader == 3
    assert controller.replica_state(4) is ReplicaState.NEW, "its broker is dead"


def test_a_new_replica_starts_when_its_broker_does():
    controller = Reassigning(live=(1, 2, 4))
    controller.ask({P: [3, 1]})
    controller.sent.clear()
    controller.reassigner.on_broker_startup([2, 4])
    assert controller.sent == [], "neither is among the new replicas"
    controller.context.live_brokers[3] = broker(3)
    controller.reassigner.on_broker_startup([3, 4])
    assert {to for to, _ in controller.told(LeaderAndIsrRequest)} == {1, 2, 3}


# ------------------------------------------------------------------------------------- what is refused, and what is not


@pytest.mark.parametrize("target", [[], [3, 3], [3, -1]])
def test_impossible_targets_are_refused_and_leave_the_znode(controller, target):
    assert controller.alter(target) is Errors.INVALID_REPLICA_ASSIGNMENT
    controller.ask({P: target})
    assert controller.requests.get_reassignment() == {}
    assert not controller.is_reassigning()


def test_an_impossible_target_leaves_the_znode_during_a_reassignment_as_well(controller):
    moving(controller)
    controller.zk.zookeeper.delete(paths.REASSIGN_PARTITIONS)
    controller.ask({P: [3, 3]})
    assert controller.requests.get_reassignment() == {}
    assert controller.is_reassigning()


def test_the_api_refuses_new_replicas_on_dead_brokers_and_the_znode_does_not(controller):
    controller.context.shutting_down_broker_ids.add(4)
    for target in ([1, 9], [1, 4]):
        assert controller.alter(target) is Errors.INVALID_REPLICA_ASSIGNMENT
    assert not controller.is_reassigning()
    controller.ask({P: [1, 9]})
    assert controller.is_reassigning()


@pytest.mark.parametrize("target", [[3], [1, 2, 3]])
def test_a_request_may_forbid_another_number_of_replicas(controller, target):
    error = controller.reassigner.alter({P: target}, may_resize=False)[P]
    assert error.error is Errors.INVALID_REPLICATION_FACTOR
    assert str(error) == f"The replication factor is changed from 2 to {len(target)}"
    assert not controller.is_reassigning()
    assert controller.reassigner.alter({P: [3, 1]}, may_resize=False)[P] is None
    error = controller.reassigner.alter({P: target}, may_resize=False)[P]
    assert error.error is Errors.INVALID_REPLICATION_FACTOR, "during a reassignment that of its target counts"


def test_the_api_accepts_an_old_replica_on_a_dead_broker(controller):
    controller.die(2)
    assert controller.alter([2, 3]) is Errors.NONE


@pytest.mark.parametrize("target", [[3, 1], None])
def test_an_unknown_partition_is_not_reassigned(controller, target):
    assert controller.alter(target, TopicPartition("t", 7)) is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_partition_that_is_being_deleted_is_not_reassigned(controller):
    controller.deletion.enqueue_topics_for_deletion(["t"])
    assert controller.alter([3, 1]) is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert not controller.is_reassigning()


def test_a_target_without_a_replica_in_sync_is_refused(controller):
    moving(controller)
    controller.set_isr(3, leader=3)
    assert controller.alter(None) is Errors.INVALID_REPLICA_ASSIGNMENT
    assert controller.reassigner.list_reassignments(None) == {P: MOVE}


def test_a_target_that_is_assigned_already_is_done(controller):
    controller.ask({P: [1, 2]})
    assert controller.sent == []
    assert controller.requests.get_reassignment() == {}


def test_the_same_target_again_changes_nothing(controller):
    moving(controller)
    assert controller.alter([3, 1]) is Errors.NONE
    assert controller.sent == []
    assert controller.is_reassigning()


def test_a_topic_that_vanishes_does_not_stop_the_others():
    controller = Reassigning({P: [1, 2], OTHER: [1, 2]})
    del controller.zk.topics["t"]
    controller.ask({P: [3, 1], OTHER: [3, 1]})
    assert controller.is_reassigning(OTHER)
    assert controller.requests.get_reassignment() == {OTHER: [3, 1]}


def test_a_request_that_cannot_be_read_is_deleted(controller):
    controller.zk.zookeeper.create_recursive(paths.REASSIGN_PARTITIONS, b"{")
    controller.reassigner.process_znode()
    assert controller.zk.zookeeper.children("/admin") == []


# ------------------------------------------------------------------------------------------------ other targets, cancel


def test_another_target_stops_replicas_that_only_the_first_one_needed(controller):
    moving(controller)
    assert controller.alter([4, 1]) is Errors.NONE
    assert controller.assigned() == ([4, 1, 2], [4], [2])
    assert controller.deleted() == [3]
    assert controller.replica_state(3) is ReplicaState.NON_EXISTENT
    assert controller.replica_state(4) is ReplicaState.NEW
    assert controller.requests.get_reassignment() == {}, "the last request wins"
    controller.catch_up(1, 2, 4)
    controller.respond()
    assert controller.assigned() == ([4, 1], [], [])


def test_the_end_of_a_reassignment_leaves_another_target_in_the_znode(controller):
    moving(controller)
    controller.zk.zookeeper.set(paths.REASSIGN_PARTITIONS, b'{"version":1,"partitions":[{"topic":"t","partition":0,'
                                b'"replicas":[5,1]}]}', 0)  # fmt: skip
    controller.catch_up(1, 2, 3)
    controller.respond()
    assert controller.requests.get_reassignment() == {P: [5, 1]}


def test_the_end_of_a_reassignment_leaves_those_of_other_partitions_in_the_znode():
    controller = Reassigning({P: [1, 2], OTHER: [1, 2]})
    controller.ask({P: [3, 1], OTHER: [3, 1]})
    controller.catch_up(1, 2, 3)
    controller.respond()
    assert controller.requests.get_reassignment() == {OTHER: [3, 1]}


def test_a_reassignment_is_cancelled(controller):
    moving(controller)
    assert controller.alter(None) is Errors.NONE
    assert controller.deleted() == [3]
    assert sorted(controller.assigned()[0]) == [1, 2]
    assert controller.assigned()[1:] == ([], [])
    assert not controller.is_reassigning()
    assert controller.zk.watches == {}
    assert controller.alter(None) is Errors.NO_REASSIGNMENT_IN_PROGRESS


def test_a_reassignment_that_waits_for_its_removed_replicas_is_completed_before_the_next_one(controller):
    moving(controller)
    controller.catch_up(1, 2, 3)
    assert controller.alter([4, 1]) is Errors.NONE
    assert controller.assigned() == ([4, 1, 3], [4], [3])
    controller.respond(2)
    assert controller.assigned() == ([4, 1, 3], [4], [3]), "the response belongs to the first one"


def test_only_accepted_partitions_leave_the_znode():
    controller = Reassigning({P: [1, 2], OTHER: [1, 2]})
    controller.ask({P: [3, 1], OTHER: [3, 1]})
    results = controller.reassigner.alter({P: [4, 1], OTHER: []})
    assert results[P] is None
    assert results[OTHER].error is Errors.INVALID_REPLICA_ASSIGNMENT
    assert controller.requests.get_reassignment() == {OTHER: [3, 1]}


def test_reassignments_are_listed():
    controller = Reassigning({P: [1, 2], OTHER: [1, 2]})
    controller.ask({P: [3, 1]})
    reassigner = controller.reassigner
    assert reassigner.list_reassignments(None) == reassigner.list_reassignments([P, OTHER]) == {P: MOVE}
    assert reassigner.list_reassignments([OTHER]) == {}


# -------------------------------------------------------------------------------------------------- the next controller


def test_the_next_controller_goes_on(controller):
    moving(controller)
    controller.set_isr(1, 2, 3)
    controller.reassigner = controller.new_reassigner()
    controller.replicas.shutdown()
    controller.replicas.startup()
    controller.sent.clear()
    controller.reassigner.resume()
    assert controller.deleted() == [2]
    controller.respond()
    assert controller.assigned() == ([3, 1], [], [])


def test_the_next_controller_knows_new_replicas_that_were_started(controller, caplog):
    moving(controller)
    controller.replicas.shutdown()
    controller.replicas.startup()
    controller.reassigner.resume()
    assert controller.replica_state(3) is ReplicaState.ONLINE
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_the_next_controller_starts_what_the_znode_asks_for_instead(controller):
    moving(controller)
    controller.zk.zookeeper.set(paths.REASSIGN_PARTITIONS, b'{"version":1,"partitions":[{"topic":"t","partition":0,'
                                b'"replicas":[4,1]}]}', 0)  # fmt: skip
    controller.reassigner = controller.new_reassigner()
    controller.reassigner.resume()
    assert controller.deleted() == [3]
    assert controller.assigned() == ([4, 1, 2], [4], [2])
    new = [to for to, r in controller.told(LeaderAndIsrRequest) if r.ungrouped_partition_states[0].is_new]
    assert new.count(4) == 2, "once with the new epoch, once as a new replica; not resumed a second time"


def test_a_controller_that_resigns_watches_no_more(controller):
    moving(controller)
    controller.catch_up(1, 2, 3)
    controller.reassigner.shutdown()
    assert controller.zk.watches == {}
    controller.respond()
    assert controller.assigned() == ([3, 1, 2], [3], [2]), "it is the next controller's now"
