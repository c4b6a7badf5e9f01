"""Task 5: a consumer with your SubscriptionState, with a real broker."""

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.groups import OurMember, TheirMember, poll_until, settle, together
from kafka_lite.common.topic_partition import TopicPartition


@pytest.mark.points(5, task=5)
def test_seek_and_pause(broker):
    """Back to 30, then on to the end, with one partition paused"""
    create_topic(broker, "sought", partitions=2)
    for number in range(2):
        publish(broker, 0, 50, lambda n, number=number: {"value": b"%d" % n, "partition": number}, topic="sought")
    ours, zero, one = OurMember(broker, "sought", ["sought"]), *(TopicPartition("sought", n) for n in range(2))
    with together(ours):
        poll_until([ours], lambda: len(ours.read) >= 100, "100 messages")
        ours.consumer.pause([one])
        ours.consumer.seek(zero, 30)
        ours.consumer.seek_to_beginning([one])
        ours.read.clear()
        poll_until([ours], lambda: len(ours.read) >= 20, "the 20 messages from offset 30 on")
        ours.poll()
        offsets = [(partition, offset) for _, partition, offset in ours.read]
        assert offsets == [(0, n) for n in range(30, 50)], (
            f"30 to 49 of partition 0, since partition 1 is paused: {offsets}"
        )
        ours.consumer.resume([one])
        ours.read.clear()
        poll_until([ours], lambda: len(ours.read) >= 50, "the 50 messages of partition 1, which is resumed")
        offsets = [(partition, offset) for _, partition, offset in ours.read]
        assert offsets == [(1, n) for n in range(50)], f"partition 1 from its beginning, once; yours: {offsets}"


@pytest.mark.points(5, task=5)
def test_a_partition_is_handed_over(broker):
    """You commit and share with confluent-kafka: nothing is read twice"""
    create_topic(broker, "handed", partitions=2)
    ours = OurMember(broker, "handed", ["handed"])
    with together(ours):
        for number in range(2):
            publish(broker, 0, 20, lambda n, number=number: {"value": b"%d" % n, "partition": number}, topic="handed")
        poll_until([ours], lambda: len(ours.read) == 40, "40 messages")
        ours.commit()
        theirs = TheirMember(broker, "handed", ["handed"])
        with together(theirs):
            settle([ours, theirs], [["handed-0"], ["handed-1"]])
            for number in range(2):
                publish(
                    broker, 20, 20, lambda n, number=number: {"value": b"%d" % n, "partition": number}, topic="handed"
                )
            poll_until([ours, theirs], lambda: len(ours.read) + len(theirs.read) >= 80, "40 more messages")
            read = sorted(ours.read + theirs.read)
    assert read == [("handed", number, offset) for number in range(2) for offset in range(40)], "each message once"


@pytest.mark.points(5, task=5)
def test_the_topics_of_the_others(broker):
    """You lead, and confluent-kafka reads a topic that you do not subscribe to"""
    create_topic(broker, "mine")
    create_topic(broker, "yours")
    ours = OurMember(broker, "both", ["mine"])
    with together(ours):
        settle([ours], [["mine-0"]])
        theirs = TheirMember(broker, "both", ["yours"])
        with together(theirs):
            settle([ours, theirs], [["mine-0"], ["yours-0"]])
