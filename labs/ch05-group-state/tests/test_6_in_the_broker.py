"""Task 6: groups of real consumers with a broker that uses your GroupMetadata."""

import pytest

from kafka_learn.labs.clients import create_topic
from kafka_learn.labs.groups import GROUP_BROKER, OurMember, TheirMember, poll_until, settle, together

PROTOCOLS = "partition.assignment.strategy"


@pytest.mark.points(5, task=6)
def test_a_protocol_for_all(broker):
    """One prefers range, one supports only roundrobin, one supports only range"""
    create_topic(broker, "vote", partitions=4)
    ours = OurMember(broker, "vote", ["vote"], **{PROTOCOLS: "range,roundrobin"})
    theirs = TheirMember(broker, "vote", ["vote"], **{PROTOCOLS: "roundrobin"})
    with together(ours, theirs):
        settle([ours, theirs], [["vote-0", "vote-2"], ["vote-1", "vote-3"]])
        third = TheirMember(broker, "vote", ["vote"], **{PROTOCOLS: "range"})
        with together(third):
            poll_until([ours, theirs, third], lambda: third.errors, "the third member is rejected")
            (error, *_) = third.errors
            assert error.name() == "INCONSISTENT_GROUP_PROTOCOL", f"the third is rejected with another error: {error}"


@pytest.mark.points(5, task=6)
def test_the_leader_leaves(broker):
    """Three members, then two"""
    create_topic(broker, "heirs", partitions=4)
    first = OurMember(broker, "heirs", ["heirs"], **{PROTOCOLS: "range"})
    with together(first):
        settle([first], [[f"heirs-{number}" for number in range(4)]])
        others = [TheirMember(broker, "heirs", ["heirs"], **{PROTOCOLS: "range"}) for _ in range(2)]
        with together(*others):
            settle([first, *others], [["heirs-0", "heirs-1"], ["heirs-2"], ["heirs-3"]])
            first.close()
            settle(others, [["heirs-0", "heirs-1"], ["heirs-2", "heirs-3"]])


@pytest.mark.points(5, task=6)
def test_a_group_outlives_its_broker(start_broker):
    """kill -9: the group is loaded from the log, and its members continue in their generation"""
    broker = start_broker(**GROUP_BROKER)
    create_topic(broker, partitions=2)
    ours, theirs = OurMember(broker, "lab", ["lab"]), TheirMember(broker, "lab", ["lab"])
    with together(ours, theirs):
        settle([ours, theirs], [["lab-0"], ["lab-1"]])
        broker.kill()
        broker.start()
        ours.commit()
        assert ours.owns in (["lab-0"], ["lab-1"]), "the member is in the loaded generation, and keeps its assignment"
        settle([ours, theirs], [["lab-0"], ["lab-1"]])
