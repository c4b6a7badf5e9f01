"""Task 3: replicas that go off line."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica
from kafka_lite.controller.replica_state_machine import ReplicaState


def off_line(controller, number):
    controller.replicas.handle_state_changes([replica(number)], ReplicaState.OFFLINE)
    return controller.state()


@pytest.mark.points(9, task=3)
def test_a_follower():
    """Broker 3 dies; broker 1 leads"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.die(3)
    state = off_line(controller, 3)
    assert (state.leader, state.isr) == (1, [1, 2]), (
        f"it leaves the ISR, the leader stays: leader 1, ISR [1, 2]; ZooKeeper has {state.leader}, {state.isr}"
    )
    assert state.leader_epoch == 5, f"the next leader epoch, 5, so that the brokers accept it; not {state.leader_epoch}"
    told = controller.leaders_told()
    assert told == {1: (1, [1, 2], 5), 2: (1, [1, 2], 5)}, f"the others learn of the smaller ISR; you told {told}"


@pytest.mark.points(6, task=3)
def test_its_broker_must_stop():
    """Broker 3 is alive: a controlled shutdown"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    off_line(controller, 3)
    stops = controller.told("StopReplica")
    assert [number for number, _ in stops] == [3], (
        "its broker gets StopReplica, or it would fetch itself into the ISR again"
    )
    assert not stops[0][1].delete_partitions, "off line is not deleted: StopReplica without deletion"


@pytest.mark.points(6, task=3)
def test_the_leader():
    """The replica that goes off line leads"""
    controller = LabController()
    controller.lead(2, [1, 2])
    controller.die(2)
    state = off_line(controller, 2)
    assert state.leader == -1, f"the partition has no leader until the next election: -1, not {state.leader}"
    assert state.isr == [1], f"ISR [1], not {state.isr}"
    told = sorted(controller.leaders_told())
    assert told == [1, 3], (
        f"3 is not in the ISR, but must not follow broker 2 any longer: tell all others, [1, 3], not {told}"
    )
    (state,) = controller.told("LeaderAndIsr")[0][1].partition_states()
    assert list(state.replicas) == [1, 2, 3], (
        f"a replica that is off line stays assigned: replicas [1, 2, 3], not {list(state.replicas)}"
    )


@pytest.mark.points(8, task=3)
def test_the_last_member():
    """Broker 3 is the whole ISR"""
    controller = LabController()
    controller.lead(3, [3])
    controller.die(3)
    state = off_line(controller, 3)
    assert state.isr == [3], (
        f"only broker 3 has all committed records: it stays, or no replica could ever lead again; ISR {state.isr}"
    )
    assert state.leader == -1, f"but it is off line and cannot lead: leader -1, not {state.leader}"
    unclean = LabController(unclean=True)
    unclean.lead(3, [3])
    unclean.die(3)
    state = off_line(unclean, 3)
    assert state.isr == [], (
        f"with unclean elections any replica may lead, so the ISR can be empty; yours is {state.isr}"
    )


@pytest.mark.points(6, task=3)
def test_a_topic_that_is_deleted():
    """Its replicas go off line; one of its partitions never had a leader"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.deleted = {PARTITION}
    off_line(controller, 3)
    assert controller.leaders_told() == {}, "the topic is being deleted: nobody needs to know its new ISR"
    assert controller.state().isr == [1, 2], f"it leaves the ISR even so: [1, 2], not {controller.state().isr}"
    for number in (1, 2):
        off_line(controller, number)
    assert controller.state().isr == [], (
        f"nobody will ever lead it again, so the last member need not stay; the ISR is {controller.state().isr}"
    )
    leaderless = LabController()
    leaderless.replicas._put(replica(1), ReplicaState.NEW)
    leaderless.replicas.handle_state_changes([replica(1)], ReplicaState.OFFLINE)
    found = leaderless.replicas.state(replica(1))
    assert found is ReplicaState.NEW, (
        f"no leader and ISR, and no deletion: that fails, and it stays NEW, not {found.name}"
    )
    leaderless.deleted = {PARTITION}
    leaderless.replicas.handle_state_changes([replica(1)], ReplicaState.OFFLINE)
    found = leaderless.replicas.state(replica(1))
    assert found is ReplicaState.OFFLINE, f"but if the topic is being deleted it must go off line; it is {found.name}"
