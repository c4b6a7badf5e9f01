"""The deletion of a topic step by step, with both state machines, ZooKeeper and the brokers in memory."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import PartitionAndReplica
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaRequest,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from tests.support.state_machines import Controller, P, broker


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
