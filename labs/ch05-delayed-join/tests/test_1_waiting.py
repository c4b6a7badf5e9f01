"""Task 1: a DelayedJoin waits for all members, or for its time."""

import pytest

from kafka_lite.coordinator.group.delayed_join import DelayedJoin


@pytest.fixture
def meeting(group):
    """A group that prepares a rebalance; ``meeting.rebalancer.begun`` says whose generation would have begun."""
    group.is_now("PREPARING_REBALANCE")
    group.rebalancer.begun = []
    return group


def wait_for_all(group, metadata=None):
    operation = DelayedJoin(group.rebalancer, metadata or group.metadata, 60_000)
    group.rebalancer.watch_join(operation)
    return operation


@pytest.mark.points(4, task=1)
def test_all_are_there(meeting):
    """Ann is the only member, and has joined"""
    meeting.member("ann").has_joined()
    wait_for_all(meeting)
    assert meeting.rebalancer.begun == ["readers"], (
        f"all have joined: the generation begins at once, and once; you began {len(meeting.rebalancer.begun)}"
    )
    assert meeting.rebalances.delayed == 0, "what is complete does not wait"


@pytest.mark.points(6, task=1)
def test_somebody_is_missing(meeting):
    """Ann has joined, bob comes later"""
    meeting.member("ann").has_joined()
    bob = meeting.member("bob")
    wait_for_all(meeting)
    assert meeting.rebalancer.begun == [], "bob has not joined: wait for him"
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == [], "check_join looks, and bob has not joined: go on waiting"
    bob.has_joined()
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == ["readers"], "bob was the last one: now the generation begins"
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == ["readers"], "an operation is completed once, however often one looks"
    assert meeting.rebalances.delayed == 0, "it is complete: the timer forgets it"


@pytest.mark.points(3, task=1)
def test_each_group_for_itself(meeting):
    """In both groups the last one has come, and only one of them is looked at"""
    others = meeting.another("writers")
    others.state = meeting.metadata.state
    late = [meeting.member("bob"), meeting.client("eve")]
    others.add(late[1].metadata)
    wait_for_all(meeting)
    wait_for_all(meeting, others)
    late[0].has_joined()
    others._set_join_callback(late[1].metadata, late[1]._joined)
    meeting.rebalancer.check_join(others)
    assert meeting.rebalancer.begun == ["writers"], (
        "check_join of one group looks at its own operation, under its own key: think of a coordinator with a thousand "
        f"groups; you began {meeting.rebalancer.begun}"
    )


@pytest.mark.points(3, task=1)
def test_the_time_is_up(meeting):
    """Bob does not come within 60 s"""
    meeting.member("ann").has_joined()
    meeting.member("bob", session_timeout_ms=100_000)
    wait_for_all(meeting)
    meeting.pass_time(59_999)
    assert meeting.rebalancer.begun == [], "there is one more millisecond to wait"
    meeting.pass_time(1)
    assert meeting.rebalancer.begun == ["readers"], "the time is up: the generation begins without bob"


@pytest.mark.points(4, task=1)
def test_looking_and_completing(meeting):
    """try_complete_join: under one lock; and in a group that is dead"""
    seen = []

    def force_complete(completed=True):
        seen.append(meeting.metadata.lock.is_held)
        return completed

    meeting.member("ann").has_joined()
    assert meeting.rebalancer.try_complete_join(meeting.metadata, force_complete) is True, "ann has joined: complete it"
    assert seen == [True], "look and complete with the group's lock held, or somebody changes the group in between"
    again = meeting.rebalancer.try_complete_join(meeting.metadata, lambda: force_complete(False))
    assert again is False, "somebody else has completed it: force_complete says so, and it was not this call"
    meeting.member("bob")
    assert not meeting.rebalancer.try_complete_join(meeting.metadata, force_complete), "bob has not joined"
    meeting.is_now("DEAD")
    assert meeting.rebalancer.try_complete_join(meeting.metadata, force_complete), (
        "the group is DEAD, another broker has it now: nobody is waited for here, let the operation go"
    )
