"""Task 2: a new partition."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_state_machine import PartitionState


@pytest.mark.points(8, task=2)
def test_the_first_living_replica():
    """Assigned to 1, 2, 3; broker 1 is down"""
    controller = LabController(live=(2, 3))
    controller.create()
    assert PARTITION in controller.zookeeper.states, "the state must be written to ZooKeeper"
    state = controller.state()
    assert state.leader == 2, f"the first living replica of the assignment leads: 2, not {state.leader}"
    assert state.isr == [2, 3], f"there is nothing to copy yet, so all living replicas are in sync; yours {state.isr}"


@pytest.mark.points(5, task=2)
def test_the_brokers_are_told():
    """LeaderAndIsr to the ISR, marked as new"""
    controller = LabController(live=(1, 2, 3, 4))
    controller.create()
    told = controller.leaders_told()
    assert told, "the replicas get LeaderAndIsr: none was sent"
    assert sorted(told) == [1, 2, 3], f"the replicas get LeaderAndIsr, and nobody else: [1, 2, 3], not {sorted(told)}"
    assert set(map(str, told.values())) == {"(1, [1, 2, 3], 0)"}, f"leader 1, ISR [1, 2, 3], epoch 0; yours: {told}"
    states = [state for _, request in controller.told("LeaderAndIsr") for state in request.partition_states()]
    assert all(state.is_new for state in states), (
        "is_new: a broker may make a log for it even if one of its disks has failed"
    )


@pytest.mark.points(4, task=2)
def test_a_replica_that_is_down():
    """Assigned to 1, 2, 3; broker 3 is down"""
    controller = LabController(live=(1, 2))
    controller.create()
    told = controller.leaders_told()
    assert sorted(told) == [1, 2], f"the ISR is [1, 2], and only it gets LeaderAndIsr; yours went to {sorted(told)}"
    (state,) = controller.told("LeaderAndIsr")[0][1].partition_states()
    assert list(state.replicas) == [1, 2, 3], (
        f"the replicas of the partition are all assigned ones, [1, 2, 3], though 3 is down; "
        f"yours {list(state.replicas)}"
    )


@pytest.mark.points(4, task=2)
def test_only_new_partitions():
    """Partition 0 is ONLINE already, partition 1 is NEW"""
    other = TopicPartition("demo", 1)
    controller = LabController({PARTITION: [1, 2, 3], other: [2, 3]})
    controller.lead(1, [1, 2, 3])
    controller.partitions.handle_state_changes([other], PartitionState.NEW)
    tried = []
    create = controller.zookeeper.create_partition_states
    controller.zookeeper.create_partition_states = lambda states: (
        tried.append(sorted(map(str, states))) or create(states)
    )
    controller.partitions._create_first_states([PARTITION, other])
    assert tried == [["demo-1"]], (
        f"only demo-1 is NEW and has no leader yet: write its state, all of them in one call; you wrote {tried}"
    )


@pytest.mark.points(2, task=2)
def test_two_new_partitions():
    """Both are written in one call, once, and before the context changes"""
    other = TopicPartition("demo", 1)
    controller = LabController({PARTITION: [1, 2, 3], other: [2, 3]})
    calls, known = [], []
    create = controller.zookeeper.create_partition_states

    def noted(states):
        calls.append(sorted(map(str, states)))
        known.append(dict(controller.context.partition_leadership_info))
        return create(states)

    controller.zookeeper.create_partition_states = noted
    controller.partitions.handle_state_changes([PARTITION, other], PartitionState.NEW)
    controller.partitions.handle_state_changes([PARTITION, other], PartitionState.ONLINE)
    found = {str(each): controller.partitions.state(each).name for each in (PARTITION, other)}
    assert found == {"demo-0": "ONLINE", "demo-1": "ONLINE"}, f"both partitions go on line; yours: {found}"
    assert calls == [["demo-0", "demo-1"]], f"one write for both partitions, not tried again; yours: {calls}"
    assert known == [{}], "first ZooKeeper, then the context: a write that fails must leave no leader in the context"


@pytest.mark.points(3, task=2)
def test_the_context():
    """What the controller remembers"""
    controller = LabController()
    controller.create()
    info = controller.context.partition_leadership_info.get(PARTITION)
    assert info is not None, "the context must remember the leader, or UpdateMetadata tells nobody of it"
    assert info.controller_epoch == 5, f"written by the controller of epoch 5, not {info.controller_epoch}"
    metadata = controller.told("UpdateMetadata")
    assert metadata, "all brokers get UpdateMetadata"


@pytest.mark.points(4, task=2)
def test_it_is_there_already():
    """Another controller has written the state before"""
    controller = LabController()
    controller.zookeeper.put(PARTITION, 3, [3], 9)
    calls, create = [], controller.zookeeper.create_partition_states
    controller.zookeeper.create_partition_states = lambda states: calls.append(states) or create(states)
    controller.create()
    assert len(calls) == 1, (
        f"a write that is refused is not tried again: the state exists; you wrote {len(calls)} times"
    )
    state = controller.state()
    assert (state.leader, state.isr) == (3, [3]), "a state that exists is not overwritten"
    found = controller.partitions.state(PARTITION)
    assert found is PartitionState.NEW, f"the change failed, so the partition stays NEW, not {found.name}"
    assert PARTITION not in controller.context.partition_leadership_info, (
        "the change failed, so the context must not have an entry for the partition"
    )
