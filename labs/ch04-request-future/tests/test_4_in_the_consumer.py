"""Task 4: every request of a consumer completes one of your futures."""

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.groups import GROUP_BROKER, OurMember, TheirMember, poll_until, settle, together


@pytest.mark.points(5, task=4)
def test_join_and_sync_in_a_group(broker):
    """Your consumer, then one of confluent-kafka joins"""
    create_topic(broker, "joined", partitions=2)
    ours = OurMember(broker, "joined", ["joined"])
    with together(ours):
        settle([ours], [["joined-0", "joined-1"]])
        theirs = TheirMember(broker, "joined", ["joined"])
        with together(theirs):
            settle([ours, theirs], [["joined-0"], ["joined-1"]])


@pytest.mark.points(5, task=4)
def test_commits(broker):
    """commit_async calls back; the next consumer continues at the commit"""
    create_topic(broker, "committed")
    publish(broker, 0, 50, topic="committed")
    first, called = OurMember(broker, "committed", ["committed"], **{"max.poll.records": 10}), []
    with together(first):
        poll_until([first], lambda: len(first.read) >= 30, "30 messages")
        first.consumer.commit_async(callback=lambda offsets, error: called.append((offsets, error)))
        poll_until([first], lambda: called, "the callback of commit_async is called")
    offsets, error = called[0]
    assert error is None, f"the commit has failed: {error}"
    (committed,) = (each.offset for each in offsets.values())
    second = OurMember(broker, "committed", ["committed"])
    with together(second):
        poll_until([second], lambda: second.read, "the second consumer reads")
    start = second.read[0][2]
    assert start == committed, f"{committed} was committed, but the second consumer starts at {start}"


@pytest.mark.points(5, task=4)
def test_failures_are_outcomes_too(start_broker):
    """The broker is killed and restarted; the consumer continues"""
    broker = start_broker(**GROUP_BROKER)
    create_topic(broker)
    publish(broker, 0, 20)
    ours = OurMember(broker, "lab", ["lab"])
    with together(ours):
        poll_until([ours], lambda: len(ours.read) == 20, "20 messages")
        ours.commit()
        broker.kill()
        for _ in range(20):
            ours.poll()
        broker.start()
        publish(broker, 20, 20)
        poll_until([ours], lambda: len(ours.read) >= 40, "the 20 messages after the broker has returned")
        ours.commit()
    offsets = [offset for _, _, offset in ours.read]
    assert offsets == list(range(40)), f"each message once, in order; yours: {offsets}"
