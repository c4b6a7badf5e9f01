"""The replicas of a partition during a reassignment."""

from kafka_lite.common.ids.uuids import decode_uuid
from kafka_lite.controller.replica_assignment import ReplicaAssignment, assignment_of, with_assignment
from kafka_lite.zookeeper.data import TopicAssignment


def test_a_reassignment_has_old_and_new_replicas_with_the_target_first():
    moving = ReplicaAssignment([1, 2, 3]).reassign_to([4, 5, 1])
    assert moving == ReplicaAssignment([4, 5, 1, 2, 3], [4, 5], [2, 3])
    assert moving.target_replicas == [4, 5, 1]
    assert moving.origin_replicas == [1, 2, 3]
    assert moving.is_being_reassigned


def test_another_target_replaces_the_first_one_and_keeps_the_old_replicas():
    moving = ReplicaAssignment([1, 2]).reassign_to([3, 4]).reassign_to([4, 5])
    assert moving == ReplicaAssignment([4, 5, 1, 2], [4, 5], [1, 2])


def test_a_cancelled_reassignment_is_the_old_assignment():
    moving = ReplicaAssignment([1, 2]).reassign_to([3, 2])
    assert sorted(moving.reassign_to(moving.origin_replicas).replicas) == [1, 2]
    assert not moving.reassign_to(moving.origin_replicas).is_being_reassigned


def test_another_order_of_the_same_replicas_adds_and_removes_none():
    assert ReplicaAssignment([1, 2]).reassign_to([2, 1]) == ReplicaAssignment([2, 1])


def test_the_topics_znode_keeps_what_is_added_and_removed():
    topic = TopicAssignment({0: [1, 2], 1: [2, 1]})
    moving = ReplicaAssignment([1, 2]).reassign_to([3, 1])
    written = with_assignment(topic, 0, moving)
    assert written.encode() == (
        b'{"version":2,"partitions":{"0":[3,1,2],"1":[2,1]},"adding_replicas":{"0":[3]},"removing_replicas":{"0":[2]}}'
    )
    read = TopicAssignment.decode(written.encode())
    assert assignment_of(read, 0) == moving
    assert assignment_of(read, 1) == ReplicaAssignment([2, 1])
    done = with_assignment(read, 0, ReplicaAssignment([3, 1]))
    assert done.encode() == b'{"version":1,"partitions":{"0":[3,1],"1":[2,1]}}'


def test_a_topic_id_survives_a_reassignment():
    topic = TopicAssignment({0: [1]}, decode_uuid("AAAAAAAAAAAAAAAAAAAAAQ"))
    assert with_assignment(topic, 0, ReplicaAssignment([2])).topic_id == topic.topic_id
