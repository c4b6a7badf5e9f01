"""Task 2: everything that happens when a generation begins."""

import pytest


@pytest.fixture
def begun(group):
    """Ann and bob have joined, ann is new, and generation 5 has just begun; no member knows yet."""
    group.ann, group.bob = group.member("ann").has_joined(), group.member("bob").has_joined()
    group.ann.metadata.is_new = True
    group.is_now("PREPARING_REBALANCE", generation_id=4)
    group.metadata.init_next_generation()
    return group


@pytest.mark.points(5, task=2)
def test_every_member_gets_its_response(begun):
    """The leader, and a follower"""
    begun.rebalancer._announce_generation(begun.metadata)
    assert begun.bob.answer == "generation 5", f"bob follows: generation 5, and no list; he got {begun.bob.answer}"
    assert begun.ann.answer == "generation 5, leads ann bob", (
        f"ann leads, and needs the list of all members for the assignment; she got: {begun.ann.answer}"
    )
    assert begun.metadata.num_awaiting_join == 0, "both have their responses: no JoinGroup waits any more"


@pytest.mark.points(5, task=2)
def test_sessions_start_again(begun):
    """A member that got its response must send requests again"""
    for member in (begun.ann, begun.bob):
        member.metadata.heartbeat_satisfied = True
    begun.rebalancer._announce_generation(begun.metadata)
    watched = begun.heartbeats.delayed
    assert watched == 2, (
        f"no JoinGroup waits now, so the sessions of both are watched; you watch {watched}. A member "
        "whose response is still pending needs no session, so its operation would complete at once"
    )
    assert not begun.ann.metadata.is_new, "ann has seen her first generation: she is not new any more"
    for member in (begun.ann, begun.bob):
        assert not member.metadata.heartbeat_satisfied, (
            "a new session begins with the response (schedule_next_heartbeat_expiration): no request of "
            f"{member.metadata.member_id} has arrived in it yet"
        )


@pytest.mark.points(5, task=2)
def test_members_must_sync(begun):
    """Ann sends SyncGroup, then bob"""
    delays, watch = [], begun.rebalances.try_complete_else_watch

    def noted(operation, keys):
        delays.append(operation.delay_ms)
        return watch(operation, keys)

    begun.rebalances.try_complete_else_watch = noted
    begun.rebalancer._announce_generation(begun.metadata)
    pending = sorted(begun.metadata.pending_sync_members)
    assert pending == ["ann", "bob"], f"neither has sent SyncGroup yet; you wait for {pending}"
    assert begun.rebalances.delayed == 1, (
        "a DelayedSync waits until they sync, or a member that never does would keep its partitions "
        "for ever; did you check it before its members were recorded?"
    )
    assert delays == [60_000], (
        f"one DelayedSync waits, for as long as the rebalance timeout of the group, 60000 ms; yours: {delays}"
    )
    begun.rebalancer.remove_pending_sync_member(begun.metadata, "ann")
    assert begun.rebalances.delayed == 1, "bob has not sent SyncGroup yet: it keeps waiting"
    begun.rebalancer.remove_pending_sync_member(begun.metadata, "bob")
    assert begun.rebalances.delayed == 0, "both have sent SyncGroup: under which key does it wait?"
