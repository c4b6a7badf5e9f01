"""Task 1: the table, the action, the new state."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica, responds
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError
from kafka_lite.controller.replica_state_machine import ReplicaState


@pytest.mark.points(9, task=1)
def test_only_what_the_table_allows():
    """A replica that is on line is deleted without going off line first"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    try:
        controller.replicas.handle_state_changes([replica(2)], ReplicaState.DELETION_STARTED)
    except StateChangeFailedError:
        pytest.fail("a change that the table does not allow is logged, not raised: the other replicas go on")
    found = controller.replicas.state(replica(2))
    assert found is ReplicaState.ONLINE, f"DELETION_STARTED does not follow ONLINE: the state stays, not {found.name}"
    assert controller.told("StopReplica") == [], "and its broker must not delete anything"


@pytest.mark.points(8, task=1)
def test_deletion():
    """From off line to non-existent"""
    controller = LabController()
    controller.lead(1, [1, 2, 3])
    controller.deleted = {PARTITION}
    heard = []
    machine = controller.replicas
    machine.handle_state_changes([replica(2)], ReplicaState.OFFLINE)
    del controller.sent[:]
    machine.handle_state_changes([replica(2)], ReplicaState.DELETION_STARTED, lambda *said: heard.append(said))
    stops = controller.told("StopReplica")
    assert [number for number, _ in stops] == [2], "broker 2 gets StopReplica"
    assert stops[0][1].delete_partitions, "DELETION_STARTED means StopReplica with deletion"
    responds(controller.sent)
    assert len(heard) == 1, "the callback must get the broker's response: pass it to add_stop_replica"
    del controller.sent[:]
    for target in (ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT):
        machine.handle_state_changes([replica(2)], target)
    assert controller.sent == [], (
        f"only DELETION_STARTED asks the broker to delete; you also sent "
        f"{[type(request).__name__ for _, request, _ in controller.sent]}"
    )
    assert not machine.is_any_replica_in_state("demo", ReplicaState.NON_EXISTENT), (
        "a replica that does not exist is forgotten, not kept in the state NON_EXISTENT"
    )
    found = machine.state(replica(2))
    assert found is ReplicaState.NON_EXISTENT, (
        f"NON_EXISTENT is reached by forgetting the replica: self._forget; yours is still {found.name}"
    )


@pytest.mark.points(8, task=1)
def test_a_failed_action():
    """A new replica that leads already"""
    controller = LabController()
    controller.lead(1, [1])
    controller.replicas._forget(replica(1))
    try:
        controller.replicas.handle_state_changes([replica(1), replica(2)], ReplicaState.NEW)
    except StateChangeFailedError as error:
        pytest.fail(f"catch the StateChangeFailedError of the action and log it, so that the others go on: {error}")
    found = controller.replicas.state(replica(1))
    assert found is ReplicaState.NON_EXISTENT, f"its action failed, so its state stays; it is {found.name}"
