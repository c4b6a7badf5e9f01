"""The controller's copy of the cluster: who may lead, whose replicas are where, and what a deleted topic leaves."""

from __future__ import annotations

import uuid

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch, TopicAssignment
from tests.support.state_machines import broker

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
def context() -> ControllerContext:
    context = ControllerContext()
    context.live_brokers = {broker_id: broker(broker_id) for broker_id in (1, 2, 3)}
    context.all_topics = {"t", "u"}
    context.add_assignment({T0: [1, 2], T1: [2, 3], U0: [3, 4]})
    for partition, leader in ((T0, 1), (T1, 2), (U0, 3)):
        context.partition_leadership_info[partition] = LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, [leader]), 1)
    return context


def test_a_broker_that_shuts_down_gets_requests_but_leads_nothing(context: ControllerContext) -> None:
    context.shutting_down_broker_ids = {2}
    assert context.live_broker_ids == {1, 3}
    assert context.live_or_shutting_down_broker_ids == {1, 2, 3}
    assert context.live_replicas(T0) == [1]
    assert context.live_replicas(T1) == [3]


def test_a_replica_on_a_failed_disk_may_not_lead(context: ControllerContext) -> None:
    assert context.online_broker_ids(T0) == {1, 2, 3}
    context.set_replicas_on_offline_dirs(1, {T0})
    assert context.online_broker_ids(T0) == {2, 3}
    assert context.online_broker_ids(T1) == {1, 2, 3}
    assert (context.has_log(1, T0), context.has_log(1, T1), context.has_log(2, T0)) == (False, True, True)
    context.set_replicas_on_offline_dirs(1, set())
    assert context.replicas_on_offline_dirs == {}


def test_live_replicas_are_in_the_order_of_the_assignment(context: ControllerContext) -> None:
    context.add_assignment({T0: [3, 1, 2, 9]})
    assert context.live_replicas(T0) == [3, 1, 2]
    assert context.live_replicas(TopicPartition("nowhere", 0)) == []


def test_replicas_are_found_by_broker_topic_and_partition(context: ControllerContext) -> None:
    assert context.replicas_on_brokers([2]) == {PartitionAndReplica(T0, 2), PartitionAndReplica(T1, 2)}
    assert context.replicas_for_topic("u") == {PartitionAndReplica(U0, 3), PartitionAndReplica(U0, 4)}
    assert context.replicas_of([TopicPartition("nowhere", 0)]) == set()
    assert len(context.all_replicas()) == 6
    assert str(PartitionAndReplica(T0, 2)) == "[Topic=t,Partition=0,Replica=2]"


def test_partitions_are_found_by_topic_and_leader(context: ControllerContext) -> None:
    assert context.partitions_for_topic("t") == {T0, T1}
    assert context.partitions_led_by([1, 3]) == {T0, U0}
    assert context.partitions_led_by([]) == set()


def test_a_topic_is_added_with_its_reassignments(context: ControllerContext) -> None:
    added = context.add_topics({"v": TopicAssignment({0: [1, 2, 3], 1: [1]}, None, {0: [3]}, {0: [1]})})
    partition = TopicPartition("v", 0)
    assert added == [partition, TopicPartition("v", 1)]
    assert context.partition_replica_assignment[partition] == [1, 2, 3]
    assert context.partitions_being_reassigned == {partition: ReplicaAssignment([1, 2, 3], [3], [1])}
    assert context.is_being_reassigned("v")
    assert not context.is_being_reassigned("t")


def test_a_topic_made_again_has_another_id(context: ControllerContext) -> None:
    first, second = uuid.UUID(int=7), uuid.UUID(int=8)
    context.add_topics({"v": TopicAssignment({0: [1]}, first)})
    assert (context.topic_ids, context.topic_names) == ({"v": first}, {first: "v"})
    context.add_topics({"v": TopicAssignment({0: [1]}, second)})
    assert (context.topic_ids, context.topic_names) == ({"v": second}, {second: "v"})
    context.remove_topic("v")
    assert (context.topic_ids, context.topic_names) == ({}, {})


def test_two_topics_with_one_id_are_logged(context: ControllerContext, caplog: pytest.LogCaptureFixture) -> None:
    copied = TopicAssignment({0: [1]}, uuid.UUID(int=7))
    context.add_topics({"v": copied, "w": copied})
    assert context.topic_names == {copied.topic_id: "v"}
    assert context.topic_ids == {"v": copied.topic_id}
    assert "Topics v and w have the same id" in caplog.text


def test_a_removed_topic_leaves_nothing(context: ControllerContext) -> None:
    context.partitions_being_reassigned[T0] = ReplicaAssignment([1, 2], [2], [])
    context.remove_topic("t")
    assert context.all_topics == {"u"}
    assert set(context.partition_replica_assignment) == set(context.partition_leadership_info) == {U0}
    assert context.partitions_being_reassigned == {}


def test_a_controller_that_resigns_forgets_the_cluster_but_not_its_epoch(context: ControllerContext) -> None:
    context.epoch, context.epoch_zk_version = 7, 3
    context.reset()
    assert (context.epoch, context.epoch_zk_version) == (7, 3)
    assert context.live_brokers == {}
    assert context.all_replicas() == set()
