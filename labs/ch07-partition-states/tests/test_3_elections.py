"""Task 3: elections."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController
from kafka_lite.controller.partition_leader_selector import Election
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.zookeeper.data import LeaderAndIsr


def watch_the_loop(controller):
    """Say which step a loop leaves out, instead of waiting for its end."""
    write, tried = controller.zookeeper.update_partition_state, []

    def update(partition, state):
        tried.append(state.leader_and_isr)
        assert (
            tried[-1].zk_version not in {each.zk_version for each in tried[:-1]}
            or tried[-1].zk_version == controller.state().zk_version
        ), (
            f"your write failed {len(tried) - 1} times, since it names version {tried[-1].zk_version} and the znode "
            f"has {controller.state().zk_version}: after a failure read the state in ZooKeeper again, and choose again"
        )
        return write(partition, state)

    controller.zookeeper.update_partition_state = update


def elect(controller):
    controller.partitions.handle_state_changes([PARTITION], PartitionState.OFFLINE)
    controller.partitions.handle_state_changes([PARTITION], PartitionState.ONLINE)
    return controller.state()


@pytest.mark.points(6, task=3)
def test_written_and_told():
    """Broker 1 led and is dead; the controller before this one wrote the state"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.zookeeper.put(PARTITION, 1, [1, 2, 3], 4, controller_epoch=4)
    watch_the_loop(controller)
    controller.die(1)
    state = elect(controller)
    assert (state.leader, state.isr, state.leader_epoch) == (2, [2, 3], 5), (
        f"2 leads, ISR [2, 3], epoch 5; ZooKeeper has leader {state.leader}, {state.isr}, {state.leader_epoch}"
    )
    assert controller.zookeeper.states[PARTITION].controller_epoch == 5, (
        "write the epoch of this controller, 5, or an older one could still write; yours is "
        f"{controller.zookeeper.states[PARTITION].controller_epoch}"
    )
    told = controller.leaders_told()
    assert told == {2: (2, [2, 3], 5), 3: (2, [2, 3], 5)}, f"both living replicas are told; yours: {told}"
    states = [state for _, request in controller.told("LeaderAndIsr") for state in request.partition_states()]
    assert not any(state.is_new for state in states), "the partition is not new: is_new is for its first leader"
    assert {state.partition_epoch for state in states} == {2}, (
        "the leader must learn the version that your write returned, 2, or it can never change its ISR; you sent "
        f"{[state.partition_epoch for state in states]}"
    )


@pytest.mark.points(2, task=3)
def test_one_write_and_then_the_context():
    """What the context knows while ZooKeeper is written"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    known, online, write = [], [], controller.zookeeper.update_partition_state

    def noted(partition, state):
        info = controller.context.partition_leadership_info.get(partition)
        known.append(info and info.leader_and_isr.leader)
        online.append(controller.partitions.state(PARTITION).name)
        return write(partition, state)

    controller.zookeeper.update_partition_state = noted
    elect(controller)
    assert len(known) == 1, f"nobody has written in between, so one write is enough; you wrote {len(known)} times"
    assert online == ["OFFLINE"], f"the partition is ONLINE once the write has succeeded; while you wrote: {online}"
    assert known[0] != 2, (
        "the context had the new leader before ZooKeeper: if the write fails, the controller believes in a leader "
        "that nobody has elected"
    )


@pytest.mark.points(2, task=3)
def test_whom_the_selector_names():
    """The selector names brokers 2, 3 and 4; the ISR is broker 2 alone"""
    controller = LabController(live=(2, 3, 4))
    controller.lead(1, [1, 2])

    def select(_partition, current):
        return Election(LeaderAndIsr(2, [2], current.leader_epoch + 1, current.zk_version), [2, 3, 4])

    controller.partitions.handle_state_changes([PARTITION], PartitionState.ONLINE, select)
    told = sorted(controller.leaders_told())
    assert told == [2, 3, 4], f"tell the replicas that the election names, [2, 3, 4], not only the ISR; yours {told}"


@pytest.mark.points(3, task=3)
def test_nothing_in_zookeeper():
    """The partition is OFFLINE, and has no state in ZooKeeper"""
    controller = LabController()
    controller.partitions._states[PARTITION] = PartitionState.OFFLINE
    try:
        controller.partitions.handle_state_changes([PARTITION], PartitionState.ONLINE)
    except (AttributeError, TypeError) as error:
        pytest.fail(f"without a state nobody can be chosen: raise StateChangeFailedError, not {type(error).__name__}")
    found = controller.partitions.state(PARTITION)
    assert found is PartitionState.OFFLINE, f"the election failed: the partition stays OFFLINE, not {found.name}"


@pytest.mark.points(7, task=3)
def test_the_leader_has_written_in_between():
    """While you choose, broker 2 leaves the ISR"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    controller.zookeeper.interference = lambda: controller.zookeeper.put(PARTITION, 1, [1, 3], 4)
    watch_the_loop(controller)
    state = elect(controller)
    assert state.leader == 3, (
        "your write must fail, since the ISR has become [1, 3]; read again, and choose again: "
        f"3 leads, not {state.leader}"
    )
    assert state.isr == [3], f"the ISR is [3], not {state.isr}"


@pytest.mark.points(5, task=3)
def test_a_newer_controller():
    """The znode was written by a controller of epoch 6; yours is 5"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(1)
    controller.zookeeper.put(PARTITION, 3, [3], 5, controller_epoch=6)
    watch_the_loop(controller)
    state = elect(controller)
    assert (state.leader, state.leader_epoch) == (3, 5), "a newer controller is in charge: write nothing"
    assert controller.leaders_told() == {}, "and tell nobody"
    found = controller.partitions.state(PARTITION)
    assert found is PartitionState.OFFLINE, f"the election failed: the partition stays OFFLINE, not {found.name}"


@pytest.mark.points(5, task=3)
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
