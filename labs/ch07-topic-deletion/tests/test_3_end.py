"""Task 3: it goes on, and ends."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition


@pytest.mark.points(6, task=3)
def test_a_broker_is_back(deleting):
    """The topic has waited for broker 3"""
    deleting.manager._topics.add("demo")
    deleting.manager._ineligible.update(("demo", "waits"))
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_INELIGIBLE")
    deleting.manager.resume_deletion_for_topics(["demo", "other"])
    assert "demo" not in deleting.manager._ineligible, "the obstacle is gone: the topic is eligible again"
    assert "waits" in deleting.manager._ineligible, "only the topics that are named resume: waits is still ineligible"
    assert deleting.deletions() == [3], f"broker 3 deletes its replica now; you asked {deleting.deletions()}"


@pytest.mark.points(3, task=3)
def test_those_that_failed_try_again(deleting):
    """Broker 2 failed and is back; broker 3 is still dead"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_INELIGIBLE", b3="DELETION_INELIGIBLE")
    deleting.controller.die(3)
    deleting.manager._resume("demo")
    assert deleting.deletions() == [2], f"only broker 2 can delete its replica now; you asked {deleting.deletions()}"
    assert (3, "OFFLINE") in deleting.moves, (
        "every attempt begins anew: first all replicas that are ineligible go OFFLINE, that of dead broker 3 as well"
    )
    state = deleting.states()[3]
    assert state == "DELETION_INELIGIBLE", f"and the attempt finds that broker 3 is dead: DELETION_INELIGIBLE; {state}"
    deleting.must_be_possible()


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


@pytest.mark.points(1, task=3)
def test_other_topics_stay(deleting):
    """Two partitions of another topic are queued, too"""
    others = {TopicPartition("other", 0), TopicPartition("other", 1)}
    deleting.manager._topics.add("demo")
    deleting.manager._partitions = {TopicPartition("demo", 0), *others}
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_SUCCESSFUL")
    deleting.manager._complete_delete_topic("demo")
    left = sorted(map(str, deleting.manager._partitions))
    assert left == ["other-0", "other-1"], f"only the partitions of demo are done, those of other still wait; {left}"


@pytest.mark.points(5, task=3)
def test_nothing_is_left(deleting):
    """States, context, queue"""
    deleting.manager._topics.add("demo")
    deleting.put(b1="DELETION_SUCCESSFUL", b2="DELETION_SUCCESSFUL", b3="DELETION_SUCCESSFUL")
    demo, other = TopicPartition("demo", 0), TopicPartition("other", 0)
    deleting.manager._partitions = {demo, other}
    queued = []
    deleting.controller.zookeeper.delete_delete_topic = lambda topic: queued.append(
        deleting.manager.is_topic_queued_up_for_deletion(topic)
    )
    deleting.manager._complete_delete_topic("demo")
    assert deleting.controller.zookeeper.unwatched == ["demo"], "nobody changes demo any more: unwatch_topic"
    left = deleting.manager.partitions_to_be_deleted
    assert left == {other}, (
        f"the partitions of demo leave _partitions, or brokers hear of them for ever, and those of other stay; {left}"
    )
    assert queued == [True], "demo leaves the queue after ZooKeeper has forgotten it: until then it is not gone"
    assert set(deleting.states().values()) == {"NON_EXISTENT"}, f"no replica is left; yours {deleting.states()}"
    assert deleting.controller.partitions._states == {}, "no partition is left in the state machine"
    assert "demo" not in deleting.controller.context.all_topics, "the context forgets the topic"
    assert not deleting.manager.is_topic_queued_up_for_deletion("demo"), "it leaves the queue"
    assert deleting.gone == ["demo"], "call on_deleted: clients wait for it"
