"""Task 6: real groups rebalance through your DelayedJoin."""

import pytest

from kafka_learn.labs.clients import create_topic
from kafka_learn.labs.groups import GROUP_BROKER, OurMember, TheirMember, poll_until, settle, together

SLOW = {"max.poll.interval.ms": 6000}
"""The rebalance timeout of the members."""


@pytest.mark.points(5, task=6)
def test_five_members_join_and_two_leave(broker):
    """Two of our consumers and three of confluent-kafka's"""
    create_topic(broker, "crowd", partitions=10)
    kinds = (OurMember, TheirMember, TheirMember, OurMember, TheirMember)
    members = [kind(broker, "crowd", ["crowd"]) for kind in kinds]
    with together(*members):
        settle(members, [[f"crowd-{number}", f"crowd-{number + 1}"] for number in range(0, 10, 2)])
        members[0].close()
        members[1].close()
        rest = members[2:]
        settle(rest, [[f"crowd-{number}" for number in share] for share in (range(4), range(4, 7), range(7, 10))])


@pytest.mark.points(5, task=6)
def test_one_member_does_not_join(broker):
    """A member does not poll, and so does not join again; later it returns"""
    create_topic(broker, "late", partitions=4)
    late, other = OurMember(broker, "late", ["late"], **SLOW), TheirMember(broker, "late", ["late"], **SLOW)
    with together(late, other):
        settle([late, other], [["late-0", "late-1"], ["late-2", "late-3"]])
        third = TheirMember(broker, "late", ["late"], **SLOW)
        with together(third):
            # The late one is not polled, so the others wait for it until it is removed.
            settle([other, third], [["late-0", "late-1"], ["late-2", "late-3"]])
            poll_until(
                [late, other, third], lambda: late.owns and other.owns and third.owns, "the late member has returned"
            )


@pytest.mark.points(5, task=6)
def test_the_broker_is_killed_during_a_rebalance(start_broker):
    """kill -9 while a rebalance is being prepared"""
    broker = start_broker(**GROUP_BROKER)
    create_topic(broker, partitions=3)
    ours, theirs = OurMember(broker, "lab", ["lab"]), TheirMember(broker, "lab", ["lab"])
    with together(ours, theirs):
        settle([ours, theirs], [["lab-0", "lab-1"], ["lab-2"]])
        third = TheirMember(broker, "lab", ["lab"])
        with together(third):
            for _ in range(5):
                third.poll()  # it has joined, and the others do not know yet: they are not polled
            broker.kill()
            broker.start()
            settle([ours, theirs, third], [["lab-0"], ["lab-1"], ["lab-2"]])
