"""Task 2: what brokers respond."""

import pytest

STORAGE_ERROR = 56


@pytest.mark.points(8, task=2)
def test_one_after_the_other(deleting):
    """Two of three respond"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_STARTED", b2="DELETION_STARTED", b3="DELETION_STARTED")
    deleting.respond(1)
    deleting.respond(2)
    states = deleting.states()
    assert states == {1: "DELETION_SUCCESSFUL", 2: "DELETION_SUCCESSFUL", 3: "DELETION_STARTED"}, f"yours {states}"
    assert deleting.controller.zookeeper.deleted == [], "broker 3 has not responded: nothing is deleted in ZooKeeper"


@pytest.mark.points(8, task=2)
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


@pytest.mark.points(6, task=2)
def test_a_late_response(deleting):
    """A response for a replica that is waiting again"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_INELIGIBLE", b2="DELETION_STARTED", b3="DELETION_STARTED")
    deleting.respond(1)
    found = deleting.states()[1]
    assert found == "DELETION_INELIGIBLE", (
        f"it is not DELETION_STARTED any more, so the response comes too late; {found}"
    )


@pytest.mark.points(8, task=2)
def test_a_broker_dies(deleting):
    """Before its replica was stopped, and a topic that nobody deletes"""
    from kafka_learn.labs.controllers import replica

    deleting.manager.fail_replica_deletion([replica(3)])
    assert deleting.states()[3] == "ONLINE", "demo is not in the queue: its replicas are none of our business"
    deleting.manager._topics.add("demo")
    deleting.manager.fail_replica_deletion([replica(3)])
    found = deleting.states()[3]
    assert found == "DELETION_INELIGIBLE", f"from ONLINE by way of OFFLINE to DELETION_INELIGIBLE; it is {found}"
