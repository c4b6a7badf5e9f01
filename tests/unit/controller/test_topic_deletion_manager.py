"""How far the deletion of a topic has come after each event, with ZooKeeper and the brokers in memory."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from tests.support.state_machines import Controller, P, broker

SECOND, OTHER = TopicPartition("t", 1), TopicPartition("u", 0)
LEADER_DURING_DELETE = -2


class Deleting(Controller):
    """Topic t has two partitions and u one, all on the brokers 1, 2 and 3."""

    def __init__(self, live=(1, 2, 3)):
        super().__init__(live, {P: [1, 2, 3], SECOND: [2, 3, 1], OTHER: [3, 1, 2]})
        for partition in (P, SECOND, OTHER):
            self.create(partition)
        self.sent.clear()

    def mark(self, *topics):
        self.deletion.enqueue_topics_for_deletion(topics or ("t",))

    def answer(self, broker_id, error=Errors.NONE, whole=Errors.NONE, partitions=(P, SECOND), refused=None):
        """A broker answers StopReplica; ``refused``: only these partitions have the error."""
        errors = [
            StopReplicaPartitionError(
                topic_name=each.topic,
                partition_index=each.partition,
                error_code=error.code if refused is None or each in refused else Errors.NONE.code,
            )
            for each in partitions
        ]
        response = StopReplicaResponse(error_code=whole.code, partition_errors=errors)
        self.deletion.stop_replica_responded([PartitionAndReplica(each, broker_id) for each in partitions], response)

    def answer_all(self, *brokers, partitions=(P, SECOND)):
        for broker_id in brokers:
            self.answer(broker_id, partitions=partitions)

    def deletions(self):
        """Who was told to delete, how many times."""
        return sorted(to for to, request in self.told(StopReplicaRequest) if request.delete_partitions)

    def states(self, partition=P):
        return [self.replicas.state(PartitionAndReplica(partition, each)).name for each in (1, 2, 3)]

    def join(self, broker_id):
        self.context.live_brokers[broker_id] = broker(broker_id)
        self.deletion.resume_deletion_for_topics(["t"])


@pytest.fixture
def controller():
    return Deleting()


def test_brokers_forget_a_topic_stop_its_replicas_and_delete_them(controller):
    controller.mark()
    _, first = controller.sent[0]
    assert {(each.topic_name, each.leader) for each in first.ungrouped_partition_states} == {
        ("t", LEADER_DURING_DELETE)
    }
    assert [type(request) for _, request in controller.sent[:3]] == [UpdateMetadataRequest] * 3
    assert controller.deletions() == [1, 2, 3]
    assert controller.states() == controller.states(SECOND) == ["DELETION_STARTED"] * 3
    assert controller.states(OTHER) == ["ONLINE"] * 3


def test_a_topic_is_gone_when_the_last_broker_has_deleted_its_last_replica(controller):
    controller.mark()
    controller.answer_all(1, 2)
    assert (controller.gone, controller.zk.deleted) == ([], [])
    assert controller.deletion.partitions_to_be_deleted == {P, SECOND}
    controller.answer(3)
    assert controller.gone == ["t"]
    assert controller.zk.deleted == ["/brokers/topics/t", "/config/topics/t", "/admin/delete_topics/t"]
    assert controller.context.all_topics == {"u"}
    assert controller.deletion.partitions_to_be_deleted == set()
    assert not controller.deletion.is_topic_queued_up_for_deletion("t")
    assert controller.partitions.state(P) is PartitionState.NON_EXISTENT
    assert controller.states() == ["NON_EXISTENT"] * 3


def test_only_topics_that_are_completely_gone_leave_the_queue(controller):
    controller.mark("t", "u")
    controller.answer_all(1, 2, 3, partitions=(OTHER,))
    assert controller.gone == ["u"]
    assert controller.deletion.partitions_to_be_deleted == {P, SECOND}


@pytest.mark.parametrize(
    ("error", "whole"), [(Errors.KAFKA_STORAGE_ERROR, Errors.NONE), (Errors.NONE, Errors.UNKNOWN_SERVER_ERROR)]
)
def test_a_broker_that_cannot_delete_is_asked_again_once_it_is_back(controller, error, whole):
    controller.mark()
    controller.answer(1, error, whole)
    controller.answer_all(2, 3)
    assert controller.gone == []
    assert controller.states() == ["DELETION_INELIGIBLE", "DELETION_SUCCESSFUL", "DELETION_SUCCESSFUL"]
    controller.deletion.resume_deletions()
    assert controller.deletions() == [1, 2, 3], "it waits, although something else has happened"
    controller.join(1)
    assert controller.deletions() == [1, 1, 2, 3], "the others have nothing left"
    controller.answer(1)
    assert controller.gone == ["t"]


def test_each_replica_has_its_own_error(controller):
    controller.mark()
    controller.answer(1, Errors.KAFKA_STORAGE_ERROR, refused=[SECOND])
    assert controller.states()[0] == "DELETION_SUCCESSFUL"
    assert controller.states(SECOND)[0] == "DELETION_INELIGIBLE"


def test_a_late_answer_changes_nothing(controller):
    controller.mark()
    controller.answer(1, Errors.KAFKA_STORAGE_ERROR)
    controller.answer(1)
    assert controller.states()[0] == "DELETION_INELIGIBLE"


def test_a_topic_with_a_dead_replica_waits_for_its_broker(controller):
    controller.die(2)
    controller.mark()
    assert controller.deletions() == [1, 3]
    assert controller.states() == ["DELETION_STARTED", "DELETION_INELIGIBLE", "DELETION_STARTED"]
    controller.answer_all(1, 3)
    assert controller.gone == []
    controller.join(2)
    controller.answer(2)
    assert controller.gone == ["t"]


def test_a_broker_that_dies_meanwhile_makes_its_topics_wait(controller):
    controller.mark()
    controller.die(2)
    controller.deletion.fail_replica_deletion([PartitionAndReplica(each, 2) for each in (P, SECOND, OTHER)])
    assert controller.states()[1] == "DELETION_INELIGIBLE"
    assert controller.states(OTHER)[1] == "ONLINE", "nobody deletes this one"
    controller.answer_all(1, 3)
    assert controller.gone == []


def test_a_deletion_neither_starts_twice_nor_during_a_reassignment(controller):
    controller.mark()
    controller.mark()
    assert controller.deletions() == [1, 2, 3]
    controller.context.partitions_being_reassigned[OTHER] = ReplicaAssignment([3, 1, 2], [], [2])
    controller.mark("u")
    assert controller.deletions() == [1, 2, 3]
    del controller.context.partitions_being_reassigned[OTHER]
    controller.deletion.resume_deletion_for_topics(["u"])
    assert controller.deletions() == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("live", "asked"), [((1, 2, 3), [1, 2, 3]), ((1, 3), [])])
def test_a_new_controller_goes_on_unless_a_broker_is_dead(live, asked):
    controller = Deleting()
    for broker_id in {1, 2, 3} - set(live):
        controller.die(broker_id)
    controller.deletion.init(["t"])
    assert controller.deletions() == [], "nothing is sent before the state machines know the replicas"
    controller.deletion.resume_deletions()
    assert controller.deletions() == asked
    controller.deletion.shutdown()
    assert controller.deletion.partitions_to_be_deleted == set()
    assert not controller.deletion.is_topic_queued_up_for_deletion("t")


def test_where_deleting_is_disabled_the_mark_is_removed(controller):
    controller.deletion.enabled = False
    controller.mark()
    controller.deletion.init(["u"])
    assert controller.zk.deleted == ["/admin/delete_topics/t", "/admin/delete_topics/u"]
    assert controller.sent == []
    assert not controller.deletion.is_topic_queued_up_for_deletion("t")


def test_topics_that_nobody_deletes_are_not_resumed(controller):
    controller.deletion.resume_deletion_for_topics(["u"])
    assert controller.sent == []
