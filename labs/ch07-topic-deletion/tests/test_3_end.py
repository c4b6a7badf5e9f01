"""Task 3: it goes on, and ends."""

import pytest


@pytest.mark.points(8, task=3)
def test_a_broker_is_back(deleting):
    """The topic has waited for broker 3"""
    deleting.manager._topics.add("demo")
    deleting.manager._ineligible.update(("demo", "waits"))
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_INELIGIBLE")
    deleting.manager.resume_deletion_for_topics(["demo", "other"])
    assert "demo" not in deleting.manager._ineligible, "the obstacle is gone: the topic is eligible again"
    assert "waits" in deleting.manager._ineligible, "only the topics that are named resume: waits is still ineligible"
    assert deleting.deletions() == [3], f"broker 3 deletes its replica now; you asked {deleting.deletions()}"


@pytest.mark.points(7, task=3)
def test_it_waits(deleting):
    """The topic is ineligible, or under way"""
    deleting.manager._topics.add("demo")
    deleting.manager._ineligible.add("demo")
    deleting.manager._resume("demo")
    assert deleting.deletions() == [], "an ineligible topic waits"
    deleting.manager._ineligible.clear()
    deleting.put(b1="DELETION_STARTED", b2="DELETION_SUCCESSFUL", b3="DELETION_SUCCESSFUL")
    deleting.manager._resume("demo")
    assert deleting.deletions() == [], "broker 1 is about to respond: do not ask it again"


@pytest.mark.points(8, task=3)
def test_the_order_of_the_end(deleting):
    """All replicas are deleted"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_SUCCESSFUL")
    deleting.manager._resume("demo")
    deleted = deleting.controller.zookeeper.deleted
    assert deleted, "all replicas are gone: the topic leaves ZooKeeper"
    assert deleted == ["/brokers/topics/demo", "/config/topics/demo", "/admin/delete_topics/demo"], (
        f"the mark last, so that a new controller finishes what this one has begun; yours {deleted}"
    )


@pytest.mark.points(7, task=3)
def test_nothing_is_left(deleting):
    """States, context, queue"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_SUCCESSFUL")
    deleting.manager._complete_delete_topic("demo")
    assert set(deleting.states().values()) == {"NON_EXISTENT"}, f"no replica is left; yours {deleting.states()}"
    assert deleting.controller.partitions._states == {}, "no partition is left in the state machine"
    assert "demo" not in deleting.controller.context.all_topics, "the context forgets the topic"
    assert not deleting.manager.is_topic_queued_up_for_deletion("demo"), "it leaves the queue"
    assert deleting.gone == ["demo"], "call on_deleted: clients wait for it"
