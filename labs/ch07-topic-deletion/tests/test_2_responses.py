"""Task 2: what brokers respond."""

import pytest

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


@pytest.mark.points(7, task=2)
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


@pytest.mark.points(7, task=2)
def test_a_broker_dies(deleting):
    """Before its replica was stopped, and a topic that nobody deletes"""
    from kafka_learn.labs.controllers import replica

    deleting.manager.fail_replica_deletion([replica(3)])
    assert deleting.states()[3] == "ONLINE", "demo is not in the queue: its replicas are none of our business"
    deleting.manager._topics.add("demo")
    deleting.manager.fail_replica_deletion([replica(3)])
    found = deleting.states()[3]
    assert found == "DELETION_INELIGIBLE", f"from ONLINE by way of OFFLINE to DELETION_INELIGIBLE; it is {found}"


@pytest.mark.points(4, task=2)
def test_topics_that_wait_already(deleting):
    """The topic other waits; then broker 3 of demo fails"""
    from kafka_learn.labs.controllers import replica

    deleting.manager._topics.update(("demo", "other"))
    deleting.manager._ineligible.add("other")
    deleting.manager.fail_replica_deletion([replica(3)])
    found = sorted(deleting.manager._ineligible)
    assert found == ["demo", "other"], f"both topics wait now: add to _ineligible, do not replace it; yours {found}"
