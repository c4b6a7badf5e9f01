"""Task 2: all that happens when a generation begins."""

import pytest


@pytest.fixture
def begun(group):
    """Ann and bob have joined, ann is new, and generation 5 has just begun; nobody knows yet."""
    group.ann, group.bob = group.member("ann").has_joined(), group.member("bob").has_joined()
    group.ann.metadata.is_new = True
    group.is_now("PREPARING_REBALANCE", generation_id=4)
    group.metadata.init_next_generation()
    return group


@pytest.mark.points(5, task=2)
def test_everybody_is_answered(begun):
    """The leader, and a follower"""
    begun.rebalancer._announce_generation(begun.metadata)
    assert begun.bob.answer == "generation 5", f"bob follows: generation 5, and no list; he was told {begun.bob.answer}"
    assert begun.ann.answer == "generation 5, leads ann bob", (
        f"ann leads, and needs to know of everybody whom she has to give a part; she was told: {begun.ann.answer}"
    )
    assert begun.metadata.num_awaiting_join == 0, "both are answered: nobody's JoinGroup waits any more"


@pytest.mark.points(5, task=2)
def test_sessions_begin_anew(begun):
    """Who was answered has to be heard of again"""
    begun.rebalancer._announce_generation(begun.metadata)
    watched = begun.heartbeats.delayed
    assert watched == 2, (
        f"nobody's JoinGroup waits now, so the sessions of both are watched; you watch {watched}. Who is watched while "
        f"an answer is still owed to him needs no watching, and the operation completes at once"
    )
    assert not begun.ann.metadata.is_new, "ann has seen her first generation: she is not new any more"
    assert not begun.ann.metadata.has_satisfied_heartbeat, "a new session: nothing was heard of ann in it yet"


@pytest.mark.points(5, task=2)
def test_they_have_to_ask(begun):
    """Ann asks for her part, then bob"""
    begun.rebalancer._announce_generation(begun.metadata)
    pending = sorted(begun.metadata.pending_sync_members)
    assert pending == ["ann", "bob"], f"both have yet to ask for their parts; you wait for {pending}"
    assert begun.rebalances.delayed == 1, (
        "a DelayedSync waits until they ask, or a member that never does would keep its partitions for ever; did yours "
        "look before it was noted whom it waits for?"
    )
    begun.rebalancer.remove_pending_sync_member(begun.metadata, "ann")
    assert begun.rebalances.delayed == 1, "bob has not asked yet: it goes on waiting"
    begun.rebalancer.remove_pending_sync_member(begun.metadata, "bob")
    assert begun.rebalances.delayed == 0, "both have asked: under which key does it wait?"
