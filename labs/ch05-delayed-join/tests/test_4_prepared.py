"""Task 4: something has changed, so every member must join again."""

import pytest


@pytest.fixture
def stable(group):
    """Ann, with a rebalance timeout of 10 s, and bob, with 60 s, in generation 4."""
    group.ann = group.member("ann", rebalance_timeout_ms=10_000, session_timeout_ms=100_000)
    group.bob = group.member("bob", session_timeout_ms=100_000)
    group.is_now("STABLE", generation_id=4)
    return group


@pytest.mark.points(4, task=4)
def test_members_join_again(stable):
    """Ann joins again, then bob"""
    stable.ann.joins()
    assert stable.state == "PREPARING_REBALANCE", f"a rebalance is being prepared, but the group is {stable.state}"
    waits_ms = stable.rebalancer.waits_ms
    assert waits_ms == [60_000], (
        f"one DelayedJoin waits, for the longest rebalance timeout, bob's: 60000 ms; yours: {waits_ms}"
    )
    assert stable.ann.answer is None, f"ann must wait for bob; she got: {stable.ann.answer}"
    stable.bob.joins()
    assert (stable.ann.answer, stable.bob.answer) == ("generation 5, leads ann bob", "generation 5"), (
        f"bob was the last one; ann got {stable.ann.answer}, bob {stable.bob.answer}"
    )


@pytest.mark.points(3, task=4)
def test_a_rebalance_begins_once(stable):
    """When a rebalance may begin"""
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "once")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "twice")
    begun = len(stable.rebalancer.waits_ms)
    assert begun == 1, f"a rebalance that has begun must not begin again: one DelayedJoin waits, not {begun}"
    stable.is_now("DEAD")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "too late")
    assert stable.state == "DEAD", "a group that is DEAD stays dead"


@pytest.mark.points(3, task=4)
def test_the_longest_rebalance_timeout_counts(stable):
    """Bob does not join"""
    stable.ann.joins()
    stable.pass_time(59_000)
    assert stable.ann.answer is None, "bob's rebalance timeout is 60 s: every member waits so long, ann too"
    stable.pass_time(1000)
    assert stable.ann.answer == "generation 5, leads ann", f"60 s have passed: without bob; ann: {stable.ann.answer}"


@pytest.mark.points(3, task=4)
def test_while_an_assignment_is_awaited(stable):
    """Generation 4 waits for its leader's assignment, bob's SyncGroup waits, and ann has not synced yet"""
    stable.is_now("AWAITING_SYNC")
    stable.bob.waits_for_its_part()
    stable.bob.metadata.assignment = b"of generation 4"
    stable.metadata.pending_sync_members.add("ann")
    stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "somebody comes")
    assert stable.bob.answer == "REBALANCE_IN_PROGRESS", (
        f"there will be no assignment: a member that waits for one gets the error at once; bob: {stable.bob.answer}"
    )
    assert stable.bob.metadata.assignment == b"", "and bob's assignment of generation 4 is dropped"
    assert not stable.metadata.pending_sync_members, "no member need sync in generation 4 any more"


@pytest.mark.points(1, task=4)
def test_the_groups_lock_is_held(stable, looked_at):
    """From the question whether a rebalance may begin until it has begun"""
    held, prepare = [], stable.rebalancer.prepare_rebalance

    def prepared(group, reason):
        held.append(group.lock.is_held)
        prepare(group, reason)

    stable.rebalancer.prepare_rebalance = prepared
    with looked_at(stable.metadata, "can_rebalance") as looks:
        stable.rebalancer.maybe_prepare_rebalance(stable.metadata, "a member comes")
    assert [*looks, *held] == [True, True], (
        "ask and prepare with the group's lock held (group.lock), or two threads begin the same rebalance"
    )


@pytest.mark.points(1, task=4)
def test_a_single_member(group):
    """Ann is the only member of a stable group, and joins again"""
    ann = group.member("ann")
    group.is_now("STABLE", generation_id=4)
    ann.joins()
    assert ann.answer == "generation 5, leads ann", f"there is no other member to wait for; she got: {ann.answer}"
