"""Task 2: what everybody must know."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition


def partitions_told(collected):
    collected.send()
    told = collected.told("UpdateMetadata")
    assert told, "the brokers get UpdateMetadata"
    return {tp.partition: state.leader for tp, state in told[0][1].partition_states()}


@pytest.mark.points(7, task=2)
def test_some_and_all(collected):
    """One partition of three, then all; a fourth has no leader yet"""
    collected.controller.context.partition_replica_assignment[TopicPartition("demo", 3)] = [1, 2, 3]
    for number in range(3):
        collected.state(leader=number + 1, number=number)
    collected.batch.add_update_metadata([4], [TopicPartition("demo", 1)])
    found = partitions_told(collected)
    assert found == {1: 2}, f"only partition 1, which broker 2 leads; yours {found}"
    try:
        collected.batch.new_batch()
    except RuntimeError:
        pytest.fail("the batch was sent, but is not empty: clear it at the end of send_requests_to_brokers")
    collected.batch.add_update_metadata([4], None)
    found = partitions_told(collected)
    assert found == {0: 1, 1: 2, 2: 3}, f"None means all partitions that have a leader; yours {found}"


@pytest.mark.points(6, task=2)
def test_only_the_brokers(collected):
    """No partition: which brokers are alive; ordered in two calls"""
    collected.state()
    collected.batch.add_update_metadata([1, -1, 0], ())
    collected.batch.add_update_metadata([2], ())
    collected.send()
    told = collected.told("UpdateMetadata")
    numbers = sorted(number for number, _ in told)
    assert numbers == [0, 1, 2], f"the brokers of both calls, 0, 1 and 2, and not -1; you told {numbers}"
    found = [partition.partition for partition, _ in told[0][1].partition_states()]
    assert found == [], f"() is no partition, only None means all; yours has {found}"
    alive = [broker.id for broker in told[0][1].live_brokers]
    assert alive == [1, 2, 3, 4], f"all live brokers are in it; yours {alive}"


@pytest.mark.points(7, task=2)
def test_topics_that_are_deleted(collected):
    """Partitions 0 and 2 are being deleted, partition 1 is not"""
    for number in range(3):
        collected.state(number=number)
    collected.controller.deleted = {TopicPartition("demo", 0), TopicPartition("demo", 2)}
    collected.batch.add_update_metadata([4], None)
    found = partitions_told(collected)
    assert found == {0: -2, 1: 1, 2: -2}, f"leader -2 says that partitions 0 and 2 are being deleted; yours {found}"
