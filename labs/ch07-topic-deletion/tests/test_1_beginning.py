"""Task 1: the deletion begins."""

import pytest


def start(deleting):
    deleting.manager._topics.add("demo")
    deleting.manager._start_deletion("demo")


@pytest.mark.points(8, task=1)
def test_the_brokers_forget_it_first(deleting):
    """UpdateMetadata before StopReplica"""
    start(deleting)
    assert deleting.events, "nothing was sent"
    assert deleting.events[0] == ("forget", ["demo-0"]), (
        "first the brokers forget the topic, or clients write to what is being deleted; "
        f"yours began with {deleting.events[0]}"
    )


@pytest.mark.points(9, task=1)
def test_all_replicas_are_deleted(deleting):
    """Three live brokers"""
    start(deleting)
    assert deleting.deletions() == [1, 2, 3], f"each broker deletes its replica; yours {deleting.deletions()}"
    assert set(deleting.states().values()) == {"DELETION_STARTED"}, (
        f"all are DELETION_STARTED; yours {deleting.states()}"
    )
    callbacks = [
        callback for _, request, callback in deleting.controller.sent if getattr(request, "delete_partitions", 0)
    ]
    assert all(callbacks), "the responses are needed: pass self._on_stop_replica_response"


@pytest.mark.points(8, task=1)
def test_dead_and_done(deleting):
    """Broker 3 is dead; broker 1 has deleted its replica before"""
    deleting.controller.die(3)
    deleting.put(b1="DELETION_SUCCESSFUL")
    start(deleting)
    assert 1 not in deleting.deletions(), "broker 1 has deleted its replica already: not a second time"
    assert deleting.deletions() == [2], f"only broker 2 is left to do it; yours {deleting.deletions()}"
    states = deleting.states()
    assert states[3] == "DELETION_INELIGIBLE", (
        f"the replica on the dead broker waits: DELETION_INELIGIBLE, not {states[3]}"
    )
    deleting.must_be_possible()
