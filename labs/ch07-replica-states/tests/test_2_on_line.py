"""Task 2: new replicas, and brokers that are back."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica
from kafka_lite.controller.replica_state_machine import ReplicaState


@pytest.mark.points(6, task=2)
def test_new_without_a_leader():
    """A new topic: the partition has no leader yet"""
    controller = LabController()
    controller.replicas.handle_state_changes([replica(1)], ReplicaState.NEW)
    assert controller.told("LeaderAndIsr") == [], "there is no leader to tell of: nothing is sent yet"
    found = controller.replicas.state(replica(1))
    assert found is ReplicaState.NEW, f"that is no failure: it is told later, and becomes NEW now, not {found.name}"
    controller.replicas.handle_state_changes([replica(1)], ReplicaState.ONLINE)
    assigned = controller.context.partition_replica_assignment[PARTITION]
    assert assigned == [1, 2, 3], f"replica 1 was assigned already: it is in the list once; yours is {assigned}"


@pytest.mark.points(3, task=2)
def test_on_line_without_a_leader():
    """Broker 1 is back, and its partition has no leader yet"""
    controller = LabController()
    controller.replicas._put(replica(1), ReplicaState.OFFLINE)
    try:
        controller.replicas.handle_state_changes([replica(1)], ReplicaState.ONLINE)
    except (AttributeError, TypeError) as error:
        pytest.fail(f"the context knows no leader: there is nobody to tell of, and no error; you raised {error!r}")
    found = controller.replicas.state(replica(1))
    assert found is ReplicaState.ONLINE, f"no leader is no failure: the replica is ONLINE, not {found.name}"


@pytest.mark.points(7, task=2)
def test_new_of_a_reassignment():
    """Broker 4 gets a replica of a partition that broker 1 leads, and is in the ISR"""
    controller = LabController(live=(1, 2, 3, 4))
    controller.lead(1, [1, 2, 3, 4])
    controller.replicas.handle_state_changes([replica(4)], ReplicaState.NEW)
    told = controller.leaders_told()
    assert told == {4: (1, [1, 2, 3, 4], 4)}, f"broker 4 must follow broker 1: only it gets LeaderAndIsr; yours: {told}"
    states = [state for _, request in controller.told("LeaderAndIsr") for state in request.partition_states()]
    assert states[0].is_new, "is_new: its broker makes a log for it even if one of its disks has failed"
    del controller.sent[:]
    controller.replicas.handle_state_changes([replica(4)], ReplicaState.ONLINE)
    assert controller.told("LeaderAndIsr") == [], "it was told when it was NEW: nothing more to send"
    assigned = controller.context.partition_replica_assignment[PARTITION]
    assert assigned == [1, 2, 3, 4], f"replica 4 belongs to the assignment now; yours is {assigned}"


@pytest.mark.points(9, task=2)
def test_a_broker_is_back():
    """Broker 3 was off line"""
    controller = LabController()
    controller.lead(2, [1, 2])
    controller.replicas._put(replica(3), ReplicaState.OFFLINE)
    controller.replicas.handle_state_changes([replica(3)], ReplicaState.ONLINE)
    told = controller.leaders_told()
    assert told == {3: (2, [1, 2], 4)}, f"broker 3 must learn whom to follow, the others know; you told {told}"
    (state,) = controller.told("LeaderAndIsr")[0][1].partition_states()
    assert not state.is_new, "broker 3 had the replica before: is_new is only for a NEW one"
