"""Task 3: the generation begins with the members that have joined."""

import pytest


@pytest.fixture
def meeting(group):
    """A rebalance after generation 4."""
    group.is_now("PREPARING_REBALANCE", generation_id=4)
    return group


@pytest.mark.points(3, task=3)
def test_no_member_is_missing(meeting, looked_at):
    """Ann and bob have joined"""
    ann, bob = meeting.member("ann").has_joined(), meeting.member("bob").has_joined()
    held, announce = [], meeting.rebalancer._announce_generation

    def announced(group):
        held.append(group.lock.is_held)
        announce(group)

    meeting.rebalancer._announce_generation = announced
    with looked_at(meeting.metadata, "is_in") as looks:
        meeting.rebalancer.on_complete_join(meeting.metadata)
    assert (meeting.generation, meeting.state) == (5, "AWAITING_SYNC"), (
        f"all have joined: generation 5 begins, AWAITING_SYNC; yours: {meeting.generation}, {meeting.state}"
    )
    assert (ann.answer, bob.answer) == ("generation 5, leads ann bob", "generation 5"), (
        f"and every member gets its response; ann: {ann.answer}, bob: {bob.answer}"
    )
    assert held == [True], "a generation begins with the group's lock held: the timer, which may call this, holds none"
    assert all(looks), "look at the group's state with its lock held: it may die between your look and the lock"


@pytest.mark.points(5, task=3)
def test_a_member_is_late(meeting):
    """Bob was the leader, and has not joined again"""
    bob, ann = meeting.member("bob"), meeting.member("ann").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert not meeting.metadata.has("bob"), "bob has not joined in time and must be removed"
    assert ann.answer == "generation 5, leads ann", f"ann has joined, and leads alone; she got: {ann.answer}"
    watched = meeting.heartbeats.delayed
    assert watched == 1, (
        f"only ann's session is watched; you have {watched} operations. The one for bob waits for the "
        "heartbeat of a removed member"
    )
    assert bob.answer is None, "bob has sent no request, so he gets no response"


@pytest.mark.points(1, task=3)
def test_two_members_are_late(meeting):
    """Bob and cid have not joined again, ann has"""
    meeting.member("bob"), meeting.member("cid")
    ann = meeting.member("ann").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    left = [name for name in ("bob", "cid") if meeting.metadata.has(name)]
    assert not left, f"bob and cid have not joined in time: both must be removed, {', '.join(left)} as well"
    assert ann.answer == "generation 5, leads ann", f"ann has joined, and leads alone; she got: {ann.answer}"


@pytest.mark.points(3, task=3)
def test_static_members(meeting):
    """Two static members, the leader and a follower, are absent; cid has joined"""
    for name in ("ann", "bob"):
        meeting.member(name, f"instance of {name}")
    cid = meeting.member("cid").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert meeting.metadata.has("ann"), "ann is static: she stays a member until her session ends"
    assert cid.answer == "generation 5, leads ann bob cid", (
        "ann was the leader, and is absent: one of those who have joined must lead and make the "
        f"assignment; cid: {cid.answer}"
    )


@pytest.mark.points(4, task=3)
def test_no_member_can_lead(meeting):
    """Only a static member is left, and she has not joined; her rebalance timeout is 0"""
    ann = meeting.member("ann", "instance of ann", rebalance_timeout_ms=0)
    meeting.rebalancer.on_complete_join(meeting.metadata)
    seen = (meeting.generation, meeting.state)
    assert seen == (4, "PREPARING_REBALANCE"), (
        f"no member has joined that could lead: no generation begins; yours: {seen}"
    )
    waits_ms = meeting.rebalancer.waits_ms
    assert waits_ms == [1000], (
        "so another DelayedJoin waits, for at least SHORTEST_JOIN_RETRY_MS: ann's rebalance timeout "
        f"is 0, and one wait would follow the other without a pause; yours: {waits_ms} ms"
    )
    ann.joins()
    assert ann.answer == "generation 5, leads ann", f"ann has returned, which completes it; she got: {ann.answer}"


@pytest.mark.points(4, task=3)
def test_empty_and_dead_groups(meeting):
    """No member is left; the group is dead; and which members _drop_members may meet"""
    meeting.member("bob")
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert (meeting.generation, meeting.state) == (5, "EMPTY"), (
        f"no member is left: generation 5 is EMPTY; yours: {meeting.generation}, {meeting.state}"
    )
    assert meeting.stored == [(5, {})], f"which is stored, for the next coordinator; you stored {meeting.stored}"
    ann = meeting.member("ann").has_joined()
    meeting.is_now("DEAD")
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert meeting.generation == 5, "the group is DEAD: it has moved to another broker, begin nothing"
    meeting.rebalancer._drop_members(meeting.metadata, ["nobody", "ann"])
    assert ann.answer == "UNKNOWN_MEMBER_ID", (
        f"ann's JoinGroup waits, and she is removed: she must get UNKNOWN_MEMBER_ID, not {ann.answer}"
    )
