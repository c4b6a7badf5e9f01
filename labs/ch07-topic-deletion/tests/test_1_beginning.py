"""Task 1: the deletion begins."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition


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


@pytest.mark.points(2, task=1)
def test_every_partition_is_told(deleting_two):
    """A topic with two partitions"""
    deleting = deleting_two(("demo", 0), ("demo", 1))
    start(deleting)
    assert deleting.events[0] == ("forget", ["demo-0", "demo-1"]), (
        f"the brokers forget both partitions of the topic, not only one; yours began with {deleting.events[0]}"
    )
    states = {f"demo-{n}": set(deleting.states(TopicPartition("demo", n)).values()) for n in (0, 1)}
    assert states == {"demo-0": {"DELETION_STARTED"}, "demo-1": {"DELETION_STARTED"}}, (
        f"the replicas of both partitions are deleted; yours are {states}"
    )


@pytest.mark.points(7, task=1)
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


@pytest.mark.points(1, task=1)
def test_two_are_dead(deleting):
    """Brokers 2 and 3 are dead"""
    deleting.controller.die(2)
    deleting.controller.die(3)
    start(deleting)
    assert deleting.deletions() == [1], f"only broker 1 can delete its replica; yours {deleting.deletions()}"
    states = deleting.states()
    assert (states[2], states[3]) == ("DELETION_INELIGIBLE", "DELETION_INELIGIBLE"), (
        f"both dead brokers' replicas wait: DELETION_INELIGIBLE; yours {states}"
    )


@pytest.mark.points(7, task=1)
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
