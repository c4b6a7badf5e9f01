"""Task 3: elections."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController
from kafka_lite.controller.partition_state_machine import PartitionState


def elect(controller):
    controller.partitions.handle_state_changes([PARTITION], PartitionState.OFFLINE)
    controller.partitions.handle_state_changes([PARTITION], PartitionState.ONLINE)
    return controller.state()


@pytest.mark.points(9, task=3)
def test_written_and_told():
    """Broker 1 led and is dead"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    state = elect(controller)
    assert (state.leader, state.isr, state.leader_epoch) == (2, [2, 3], 5), (
        f"2 leads, ISR [2, 3], epoch 5; ZooKeeper has leader {state.leader}, {state.isr}, {state.leader_epoch}"
    )
    told = controller.leaders_told()
    assert told == {2: (2, [2, 3], 5), 3: (2, [2, 3], 5)}, f"both living replicas are told; yours: {told}"


@pytest.mark.points(9, task=3)
def test_the_leader_has_written_in_between():
    """While you choose, broker 2 leaves the ISR"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    controller.zookeeper.interference = lambda: controller.zookeeper.put(PARTITION, 1, [1, 3], 4)
    state = elect(controller)
    assert state.leader == 3, (
        "your write must fail, since the ISR has become [1, 3]; read again, and choose again: "
        f"3 leads, not {state.leader}"
    )
    assert state.isr == [3], f"the ISR is [3], not {state.isr}"


@pytest.mark.points(6, task=3)
def test_a_newer_controller():
    """The znode was written by a controller of epoch 6; yours is 5"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    controller.zookeeper.put(PARTITION, 3, [3], 5, controller_epoch=6)
    state = elect(controller)
    assert (state.leader, state.leader_epoch) == (3, 5), "a newer controller is in charge: write nothing"
    assert controller.leaders_told() == {}, "and tell nobody"
    found = controller.partitions.state(PARTITION)
    assert found is PartitionState.OFFLINE, f"the election failed: the partition stays OFFLINE, not {found.name}"


@pytest.mark.points(6, task=3)
def test_the_version_is_remembered():
    """Two elections, one after the other"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    elect(controller)
    info = controller.context.partition_leadership_info[PARTITION].leader_and_isr
    written = controller.state().zk_version
    assert info.zk_version == written, (
        f"the context must have the version that the write returned, {written}, not {info.zk_version}: "
        "the leader writes its ISR over it"
    )
    controller.die(2)
    assert elect(controller).leader == 3, "then 2 dies as well: 3 leads"
