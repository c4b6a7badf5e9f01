"""Task 1: a DelayedJoin waits for all members, or until its timeout."""

import pytest

from kafka_lite.coordinator.group.delayed_join import DelayedJoin


@pytest.fixture
def meeting(group):
    """A group that prepares a rebalance; ``meeting.rebalancer.begun`` has the groups whose generation would begin."""
    group.is_now("PREPARING_REBALANCE")
    group.rebalancer.begun = []
    return group


def wait_for_all(group, metadata=None):
    operation = DelayedJoin(group.rebalancer, metadata or group.metadata, 60_000)
    group.rebalancer.watch_join(operation)
    return operation


@pytest.mark.points(4, task=1)
def test_all_members_have_joined(meeting):
    """Ann is the only member, and has joined"""
    meeting.member("ann").has_joined()
    wait_for_all(meeting)
    assert meeting.rebalancer.begun == ["readers"], (
        f"all have joined: the generation begins at once, and once; you began {len(meeting.rebalancer.begun)}"
    )
    assert meeting.rebalances.delayed == 0, "a completed operation does not wait"


@pytest.mark.points(6, task=1)
def test_a_member_is_missing(meeting):
    """Ann has joined, bob joins later"""
    meeting.member("ann").has_joined()
    bob = meeting.member("bob")
    wait_for_all(meeting)
    assert meeting.rebalancer.begun == [], "bob has not joined: wait for him"
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == [], "check_join checks, but bob has not joined: keep waiting"
    bob.has_joined()
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == ["readers"], "bob was the last one: now the generation begins"
    meeting.rebalancer.check_join(meeting.metadata)
    assert meeting.rebalancer.begun == ["readers"], "an operation completes once, however often it is checked"
    assert meeting.rebalances.delayed == 0, "it has completed: it must not be in the timer"


@pytest.mark.points(3, task=1)
def test_each_group_separately(meeting):
    """The last member of both groups has joined, and only one group is checked"""
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
        "check_join of one group checks its own operation, under its own key: think of a coordinator "
        f"with a thousand groups; you began {meeting.rebalancer.begun}"
    )


@pytest.mark.points(3, task=1)
def test_the_timeout(meeting):
    """Bob does not join within 60 s"""
    meeting.member("ann").has_joined()
    meeting.member("bob", session_timeout_ms=100_000)
    wait_for_all(meeting)
    meeting.pass_time(59_999)
    assert meeting.rebalancer.begun == [], "one millisecond is left"
    meeting.pass_time(1)
    assert meeting.rebalancer.begun == ["readers"], "the timeout has passed: the generation begins without bob"


@pytest.mark.points(4, task=1)
def test_check_and_complete(meeting):
    """try_complete_join: under one lock; and in a dead group"""
    seen = []

    def force_complete(completed=True):
        seen.append(meeting.metadata.lock.is_held)
        return completed

    meeting.member("ann").has_joined()
    assert meeting.rebalancer.try_complete_join(meeting.metadata, force_complete) is True, "ann has joined: complete it"
    assert seen == [True], (
        "check and complete with the group's lock held, or another thread changes the group in between"
    )
    again = meeting.rebalancer.try_complete_join(meeting.metadata, lambda: force_complete(False))
    assert again is False, (
        "another thread has completed it: force_complete returns False, so this call did not complete it"
    )
    meeting.member("bob")
    assert not meeting.rebalancer.try_complete_join(meeting.metadata, force_complete), "bob has not joined"
    meeting.is_now("DEAD")
    assert meeting.rebalancer.try_complete_join(meeting.metadata, force_complete), (
        "the group is DEAD, it has moved to another broker: no member is awaited here, complete the operation"
    )
