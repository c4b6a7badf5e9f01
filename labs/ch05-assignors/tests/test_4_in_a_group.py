"""Task 4: groups of our consumers and confluent-kafka's, with a real broker; the first member leads."""

import pytest

from kafka_learn.labs.clients import create_topic, publish
from kafka_learn.labs.groups import OurMember, TheirMember, poll_until, settle, together


@pytest.mark.points(5, task=4)
@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_you_lead_two_of_confluent(broker, strategy):
    """Seven partitions, three members, your assignor"""
    topic = f"seven-{strategy}"
    create_topic(broker, topic, partitions=7)
    everything = [f"{topic}-{number}" for number in range(7)]
    settings = {"partition.assignment.strategy": strategy}
    first = OurMember(broker, topic, [topic], **settings)
    with together(first):
        settle([first], [everything])
        runs = [everything[:3], everything[3:5], everything[5:]]
        turns = [everything[number::3] for number in range(3)]
        others = [TheirMember(broker, topic, [topic], **settings) for _ in range(2)]
        with together(*others):
            settle([first, *others], runs if strategy == "range" else turns)


@pytest.mark.points(5, task=4)
def test_a_member_joins_and_leaves(broker):
    """Every message is read, by whichever member"""
    create_topic(broker, "shared", partitions=4)
    for number in range(4):
        publish(broker, 0, 25, lambda n, number=number: {"value": b"%d" % n, "partition": number}, topic="shared")
    settings = {"partition.assignment.strategy": "roundrobin"}
    ours = OurMember(broker, "shared", ["shared"], **settings)
    with together(ours):
        settle([ours], [[f"shared-{number}" for number in range(4)]])
        theirs = TheirMember(broker, "shared", ["shared"], **settings)
        with together(theirs):
            settle([ours, theirs], [["shared-0", "shared-2"], ["shared-1", "shared-3"]])
        settle([ours], [[f"shared-{number}" for number in range(4)]])
        wanted = {("shared", partition, offset) for partition in range(4) for offset in range(25)}
        poll_until([ours], lambda: wanted <= {*ours.read, *theirs.read}, "all 100 messages are read by one of them")
