"""Task 4: something has changed, so everybody shall join again."""

import pytest


@pytest.fixture
def stable(group):
    """Ann, who can wait for 10 s, and bob, who can wait for 60 s, in generation 4."""
    group.ann = group.member("ann", rebalance_timeout_ms=10_000, session_timeout_ms=100_000)
    group.bob = group.member("bob", session_timeout_ms=100_000)
    group.is_now("STABLE", generation_id=4)
    return group


@pytest.mark.points(4, task=4)
def test_members_come_back(stable):
    """Ann joins again, then bob"""
    stable.ann.joins()
    assert stable.state == "PREPARING_REBALANCE", f"a rebalance is being prepared, and the group is {stable.state}"
    waits_ms = stable.rebalancer.waits_ms
    assert waits_ms == [60_000], (
        f"one DelayedJoin waits, as long as bob can wait, the most patient one: 60000 ms; yours: {waits_ms}"
    )
    assert stable.ann.answer is None, f"ann has to wait for bob; she was told: {stable.ann.answer}"
    stable.bob.joins()
    assert (stable.ann.answer, stable.bob.answer) == ("generation 5, leads ann bob", "generation 5"), (
        f"bob was the last one; ann was told {stable.ann.answer}, bob {stable.bob.answer}"
    )


@pytest.mark.points(3, task=4)
def test_once(stable):
    """Who may begin a rebalance, and when"""
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "once")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "twice")
    begun = len(stable.rebalancer.waits_ms)
    assert begun == 1, f"what has begun need not begin: one DelayedJoin waits, not {begun}"
    stable.is_now("DEAD")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "too late")
    assert stable.state == "DEAD", "a group that is DEAD stays dead"


@pytest.mark.points(3, task=4)
def test_as_patient_as_the_most_patient(stable):
    """Bob does not come"""
    stable.ann.joins()
    stable.pass_time(59_000)
    assert stable.ann.answer is None, "bob's rebalance timeout is 60 s: so long everybody waits, ann too"
    stable.pass_time(1000)
    assert stable.ann.answer == "generation 5, leads ann", f"60 s are over: without bob; ann: {stable.ann.answer}"


@pytest.mark.points(3, task=4)
def test_while_parts_are_waited_for(stable):
    """Generation 4 waits for its leader's assignment, bob's SyncGroup waits, and ann has to ask yet"""
    stable.is_now("AWAITING_SYNC")
    stable.bob.waits_for_its_part()
    stable.bob.metadata.assignment = b"of generation 4"
    stable.metadata.pending_sync_members.add("ann")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "somebody comes")
    assert stable.bob.answer == "REBALANCE_IN_PROGRESS", (
        f"there will be no assignment: whoever waits for one hears of it at once; bob: {stable.bob.answer}"
    )
    assert stable.bob.metadata.assignment == b"", "and what was meant for bob in generation 4 is forgotten"
    assert not stable.metadata.pending_sync_members, "nobody needs to ask for a part of generation 4 any more"


@pytest.mark.points(2, task=4)
def test_alone(group):
    """Ann is the only member of a stable group, and joins again"""
    ann = group.member("ann")
    group.is_now("STABLE", generation_id=4)
    ann.joins()
    assert ann.answer == "generation 5, leads ann", f"nobody else is waited for; she was told: {ann.answer}"
