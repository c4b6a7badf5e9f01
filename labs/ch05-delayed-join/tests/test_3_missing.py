"""Task 3: the generation begins with those who are there."""

import pytest


@pytest.fixture
def meeting(group):
    """A rebalance after generation 4."""
    group.is_now("PREPARING_REBALANCE", generation_id=4)
    return group


@pytest.mark.points(3, task=3)
def test_nobody_is_missing(meeting):
    """Ann and bob have joined"""
    ann, bob = meeting.member("ann").has_joined(), meeting.member("bob").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert (meeting.generation, meeting.state) == (5, "AWAITING_SYNC"), (
        f"all are there: generation 5 begins, AWAITING_SYNC; yours: {meeting.generation}, {meeting.state}"
    )
    assert (ann.answer, bob.answer) == ("generation 5, leads ann bob", "generation 5"), (
        f"and everybody hears of it; ann: {ann.answer}, bob: {bob.answer}"
    )


@pytest.mark.points(5, task=3)
def test_somebody_is_late(meeting):
    """Bob led, and has not joined again"""
    bob, ann = meeting.member("bob"), meeting.member("ann").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert not meeting.metadata.has("bob"), "bob has not joined in time and must be removed"
    assert ann.answer == "generation 5, leads ann", f"ann is there, and leads alone; she was told: {ann.answer}"
    watched = meeting.heartbeats.delayed
    assert watched == 1, (
        f"only ann's session is watched; you have {watched} operations. The one for bob waits for a heartbeat of nobody"
    )
    assert bob.answer is None, "bob has asked for nothing, so nothing is answered"


@pytest.mark.points(4, task=3)
def test_static_members(meeting):
    """Two static members led and followed, and are on their way; cid has joined"""
    for name in ("ann", "bob"):
        meeting.member(name, f"instance of {name}")
    cid = meeting.member("cid").has_joined()
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert meeting.metadata.has("ann"), "ann is static: she keeps her place until her session ends"
    assert cid.answer == "generation 5, leads ann bob cid", (
        f"ann led, and is not there: of those who have joined one leads, and gives the others a part; cid: {cid.answer}"
    )


@pytest.mark.points(4, task=3)
def test_nobody_can_lead(meeting):
    """Only a static member is left, who has not joined; her rebalance timeout is 0"""
    ann = meeting.member("ann", "instance of ann", rebalance_timeout_ms=0)
    meeting.rebalancer.on_complete_join(meeting.metadata)
    seen = (meeting.generation, meeting.state)
    assert seen == (4, "PREPARING_REBALANCE"), f"nobody is there who could lead: no generation begins; yours: {seen}"
    waits_ms = meeting.rebalancer.waits_ms
    assert waits_ms == [1000], (
        "so another DelayedJoin waits; and for SHORTEST_JOIN_RETRY_MS at least: ann's rebalance timeout is 0, and one "
        f"wait would follow the other without a pause; yours: {waits_ms} ms"
    )
    ann.joins()
    assert ann.answer == "generation 5, leads ann", f"ann is back, which completes it; she was told: {ann.answer}"


@pytest.mark.points(4, task=3)
def test_the_ends(meeting):
    """Nobody is left; the group is dead; and whom _drop_members may meet"""
    meeting.member("bob")
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert (meeting.generation, meeting.state) == (5, "EMPTY"), (
        f"nobody is left: generation 5 is EMPTY; yours: {meeting.generation}, {meeting.state}"
    )
    assert meeting.stored == [(5, {})], f"which is written, for the next coordinator; you wrote {meeting.stored}"
    ann = meeting.member("ann").has_joined()
    meeting.is_now("DEAD")
    meeting.rebalancer.on_complete_join(meeting.metadata)
    assert meeting.generation == 5, "the group is DEAD: another broker has it, begin nothing"
    meeting.rebalancer._drop_members(meeting.metadata, ["nobody", "ann"])
    assert ann.answer == "UNKNOWN_MEMBER_ID", (
        f"ann's JoinGroup waits, and she is let go: she must hear of it, UNKNOWN_MEMBER_ID, not {ann.answer}"
    )
