"""Task 2: a new partition."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController
from kafka_lite.controller.partition_state_machine import PartitionState


@pytest.mark.points(10, task=2)
def test_the_first_living_replica():
    """Assigned to 1, 2, 3; broker 1 is down"""
    controller = LabController(live=(2, 3))
    controller.create()
    assert PARTITION in controller.zookeeper.states, "the state must be written to ZooKeeper"
    state = controller.state()
    assert state.leader == 2, f"the first living replica of the assignment leads: 2, not {state.leader}"
    assert state.isr == [2, 3], f"there is nothing to copy yet, so all living replicas are in sync; yours {state.isr}"


@pytest.mark.points(8, task=2)
def test_the_brokers_are_told():
    """LeaderAndIsr to the ISR, marked as new"""
    controller = LabController(live=(1, 2, 3, 4))
    controller.create()
    told = controller.leaders_told()
    assert sorted(told) == [1, 2, 3], f"the replicas get LeaderAndIsr, and nobody else: [1, 2, 3], not {sorted(told)}"
    assert set(map(str, told.values())) == {"(1, [1, 2, 3], 0)"}, f"leader 1, ISR [1, 2, 3], epoch 0; yours: {told}"
    states = [state for _, request in controller.told("LeaderAndIsr") for state in request.partition_states()]
    assert all(state.is_new for state in states), (
        "is_new: a broker may make a log for it even if one of its disks has failed"
    )


@pytest.mark.points(7, task=2)
def test_the_context():
    """What the controller remembers"""
    controller = LabController()
    controller.create()
    info = controller.context.partition_leadership_info.get(PARTITION)
    assert info is not None, "the context must remember the leader, or UpdateMetadata tells nobody of it"
    assert info.controller_epoch == 5, f"written by the controller of epoch 5, not {info.controller_epoch}"
    metadata = controller.told("UpdateMetadata")
    assert metadata, "all brokers get UpdateMetadata"


@pytest.mark.points(5, task=2)
def test_it_is_there_already():
    """Another controller has written the state before"""
    controller = LabController()
    controller.zookeeper.put(PARTITION, 3, [3], 9)
    controller.create()
    state = controller.state()
    assert (state.leader, state.isr) == (3, [3]), "a state that exists is not overwritten"
    found = controller.partitions.state(PARTITION)
    assert found is PartitionState.NEW, f"the change failed, so the partition stays NEW, not {found.name}"
