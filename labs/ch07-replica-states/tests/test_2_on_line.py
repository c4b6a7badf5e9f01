"""Task 2: new replicas, and brokers that are back."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica
from kafka_lite.controller.replica_state_machine import ReplicaState


@pytest.mark.points(7, task=2)
def test_new_without_a_leader():
    """A new topic: the partition has no leader yet"""
    controller = LabController()
    controller.replicas.handle_state_changes([replica(1)], ReplicaState.NEW)
    assert controller.told("LeaderAndIsr") == [], "there is no leader to tell of: nothing is sent yet"
    assert controller.replicas.state(replica(1)) is ReplicaState.NEW


@pytest.mark.points(8, task=2)
def test_new_of_a_reassignment():
    """Broker 4 gets a replica of a partition that broker 1 leads"""
    controller = LabController(live=(1, 2, 3, 4))
    controller.lead(1, [1, 2, 3])
    controller.replicas.handle_state_changes([replica(4)], ReplicaState.NEW)
    told = controller.leaders_told()
    assert told == {4: (1, [1, 2, 3], 4)}, f"broker 4 must follow broker 1: only it gets LeaderAndIsr; yours: {told}"
    states = [state for _, request in controller.told("LeaderAndIsr") for state in request.partition_states()]
    assert states[0].is_new, "is_new: its broker makes a log for it even if one of its disks has failed"
    del controller.sent[:]
    controller.replicas.handle_state_changes([replica(4)], ReplicaState.ONLINE)
    assert controller.told("LeaderAndIsr") == [], "it was told when it was NEW: nothing more to send"
    assigned = controller.context.partition_replica_assignment[PARTITION]
    assert assigned == [1, 2, 3, 4], f"replica 4 belongs to the assignment now; yours is {assigned}"


@pytest.mark.points(10, task=2)
def test_a_broker_is_back():
    """Broker 3 was off line"""
    controller = LabController()
    controller.lead(2, [1, 2])
    controller.replicas._put(replica(3), ReplicaState.OFFLINE)
    controller.replicas.handle_state_changes([replica(3)], ReplicaState.ONLINE)
    told = controller.leaders_told()
    assert told == {3: (2, [1, 2], 4)}, f"broker 3 must learn whom to follow, the others know; you told {told}"
