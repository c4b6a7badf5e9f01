"""Task 2: what brokers respond."""

import pytest

from kafka_learn.labs.controllers import replica
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_state_machine import ReplicaState

STARTED = ReplicaState.DELETION_STARTED
STORAGE_ERROR = 56


@pytest.mark.points(7, task=2)
def test_one_after_the_other(deleting):
    """Two of three respond"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_STARTED", b2="DELETION_STARTED", b3="DELETION_STARTED")
    deleting.respond(1)
    deleting.respond(2)
    states = deleting.states()
    assert states == {1: "DELETION_SUCCESSFUL", 2: "DELETION_SUCCESSFUL", 3: "DELETION_STARTED"}, (
        f"1 and 2 have responded, so they are DELETION_SUCCESSFUL, and 3 is still DELETION_STARTED; yours {states}"
    )
    assert deleting.controller.zookeeper.deleted == [], "broker 3 has not responded: nothing is deleted in ZooKeeper"
    try:
        deleting.respond(3, listed=False)
    except KeyError:
        pytest.fail("the response of broker 3 does not list the partition: it has no error, so look it up with get")
    assert deleting.gone == ["demo"], (
        "the last replica is gone (a response without the partition has no error for it): call _resume, which "
        f"completes the deletion; on_deleted was called for {deleting.gone}"
    )


@pytest.mark.points(4, task=2)
def test_errors(deleting):
    """A disk that has failed; a request that was refused as a whole"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_STARTED", b2="DELETION_STARTED", b3="DELETION_STARTED")
    deleting.respond(1, error_code=STORAGE_ERROR)
    deleting.respond(2, whole=11)
    states = deleting.states()
    assert states[1] == "DELETION_INELIGIBLE", f"broker 1 has an error for the partition: it waits, not {states[1]}"
    assert states[2] == "DELETION_INELIGIBLE", f"the whole request of broker 2 was refused: it waits, not {states[2]}"
    assert "demo" in deleting.manager._ineligible, "and with them the topic"
    deleting.manager.shutdown()
    deleting.respond(3, error_code=STORAGE_ERROR)
    state = deleting.states()[3]
    assert state != "DELETION_SUCCESSFUL", "broker 3 has failed, whatever the queue contains: it has deleted nothing"


@pytest.mark.points(3, task=2)
def test_one_of_two_fails(deleting_two):
    """Broker 1 responds for two partitions, one of which it could not delete"""
    first, second = ("demo", 0), ("demo", 1)
    deleting = two_partitions_of(deleting_two, first, second)
    deleting.respond(1, STORAGE_ERROR, partitions=[first, second], errors_of=[first])
    states = [deleting.states(TopicPartition(*each))[1] for each in (first, second)]
    assert states == ["DELETION_INELIGIBLE", "DELETION_SUCCESSFUL"], (
        f"an error of one partition says nothing about the other one: demo-0 has failed, demo-1 is deleted; {states}"
    )


@pytest.mark.points(1, task=2)
def test_the_second_of_two_fails(deleting_two):
    """Broker 1 responds for two partitions, and has an error for the second"""
    first, second = ("demo", 0), ("demo", 1)
    deleting = two_partitions_of(deleting_two, first, second)
    deleting.respond(1, STORAGE_ERROR, partitions=[first, second], errors_of=[second])
    states = [deleting.states(TopicPartition(*each))[1] for each in (first, second)]
    assert states == ["DELETION_SUCCESSFUL", "DELETION_INELIGIBLE"], (
        f"each replica has its own error, the second one as well: demo-0 is deleted, demo-1 has failed; {states}"
    )


@pytest.mark.points(2, task=2)
def test_replicas_of_two_topics_fail(deleting_two):
    """Broker 3 dies; it has replicas of two topics that are being deleted"""
    first, second = ("demo", 0), ("other", 0)
    deleting = deleting_two(first, second)
    deleting.manager._topics.update(("demo", "other"))
    deleting.manager.fail_replica_deletion([replica(3, TopicPartition(*each)) for each in (first, second)])
    assert deleting.manager._ineligible == {"demo", "other"}, (
        f"both topics wait for broker 3; yours waits for {sorted(deleting.manager._ineligible)}"
    )
    states = [deleting.states(TopicPartition(*each))[3] for each in (first, second)]
    assert states == ["DELETION_INELIGIBLE"] * 2, (
        f"both replicas of broker 3, which were ONLINE, become DELETION_INELIGIBLE; yours are {states}"
    )
    deleting.must_be_possible()


@pytest.mark.points(2, task=2)
def test_two_topics(deleting_two):
    """The last response of two topics is the same"""
    first, second = ("demo", 0), ("other", 0)
    deleting = two_partitions_of(deleting_two, first, second)
    for number in (1, 2, 3):
        deleting.respond(number, partitions=[first, second])
    assert sorted(deleting.gone) == ["demo", "other"], (
        f"the replicas of demo and of other are all deleted: both topics go on; yours completed {deleting.gone}"
    )


def two_partitions_of(deleting_two, *partitions):
    deleting = deleting_two(*partitions)
    deleting.manager._topics.update(topic for topic, _ in partitions)
    for number in (1, 2, 3):
        for partition in partitions:
            deleting.controller.replicas._put(replica(number, TopicPartition(*partition)), STARTED)
    return deleting


@pytest.mark.points(5, task=2)
def test_a_late_response(deleting):
    """A response for a replica that is waiting again"""
    deleting.manager._topics.add("demo")
    deleting.manager._ineligible.add("demo")
    deleting.put(b1="DELETION_INELIGIBLE", b2="DELETION_STARTED", b3="DELETION_STARTED")
    deleting.respond(1)
    found = deleting.states()[1]
    assert found == "DELETION_INELIGIBLE", (
        f"it is not DELETION_STARTED any more, so the response comes too late; {found}"
    )
    assert deleting.deletions() == [], (
        f"and nothing is sent because of it; you sent deletions to {deleting.deletions()}"
    )
    deleting.must_be_possible()


@pytest.mark.points(4, task=2)
def test_a_broker_dies(deleting):
    """Before its replica was stopped, and a topic that nobody deletes"""
    deleting.manager.fail_replica_deletion([replica(3)])
    assert deleting.states()[3] == "ONLINE", "demo is not in the queue: its replicas are none of our business"
    deleting.manager._topics.add("demo")
    deleting.manager.fail_replica_deletion([replica(3)])
    found = deleting.states()[3]
    assert found == "DELETION_INELIGIBLE", f"from ONLINE by way of OFFLINE to DELETION_INELIGIBLE; it is {found}"
    deleting.put(b1="NEW", b2="DELETION_SUCCESSFUL")
    deleting.manager.fail_replica_deletion([replica(1), replica(2)])
    states = deleting.states()
    assert states[1] == "DELETION_INELIGIBLE", f"a NEW replica goes OFFLINE first, as an ONLINE one; it is {states[1]}"
    assert states[2] == "DELETION_SUCCESSFUL", f"what is deleted stays deleted; broker 2 is {states[2]}"
    deleting.must_be_possible()


@pytest.mark.points(2, task=2)
def test_topics_that_wait_already(deleting):
    """The topic other waits; then broker 3 of demo fails"""
    deleting.manager._topics.update(("demo", "other"))
    deleting.manager._ineligible.add("other")
    deleting.manager.fail_replica_deletion([replica(3)])
    found = sorted(deleting.manager._ineligible)
    assert found == ["demo", "other"], f"both topics wait now: add to _ineligible, do not replace it; yours {found}"
