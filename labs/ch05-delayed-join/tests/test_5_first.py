"""Task 5: the first rebalance of an empty group."""

import pytest


@pytest.mark.points(3, task=5)
def test_without_a_delay(group):
    """group.initial.rebalance.delay.ms=0: the first member does not wait"""
    ann = group.client("ann").joins()
    assert ann.answer == "generation 1, leads ann", (
        f"with a delay of 0, the first member's generation begins at once; ann: {ann.answer}"
    )
    bob = group.client("bob").joins()
    assert bob.answer is None, f"bob joins a group that has members: ann must join again; bob: {bob.answer}"


@pytest.mark.points(4, task=5)
def test_no_other_member_joins(make_group):
    """A delay of 3 s, and ann is alone"""
    group = make_group(delay_ms=3000)
    ann = group.client("ann").joins()
    assert ann.answer is None, (
        f"ann is the only member that the coordinator knows, but more may join: wait; she got: {ann.answer}"
    )
    group.pass_time(2999)
    assert ann.answer is None, "one millisecond is left"
    group.pass_time(1)
    assert ann.answer == "generation 1, leads ann", (
        f"3 s have passed, and no other member has joined: it begins; ann: {ann.answer}"
    )


@pytest.mark.points(4, task=5)
def test_others_join(make_group):
    """A delay of 3 s; bob joins after 2 s, cid after 5 s"""
    group = make_group(delay_ms=3000)
    ann = group.client("ann").joins()
    group.pass_time(2000)
    bob = group.client("bob").joins()
    group.pass_time(3000)
    assert ann.answer is None, f"bob joined within the first 3 s: wait for 3 s more; ann got: {ann.answer}"
    cid = group.client("cid").joins()
    group.pass_time(3000)
    assert ann.answer is None, f"cid joined within the second 3 s: wait once more; ann got: {ann.answer}"
    group.pass_time(1000)
    answers = [each.answer for each in (ann, bob, cid)]
    assert answers == ["generation 1, leads ann bob cid", "generation 1", "generation 1"], (
        "no member joined within the third 3 s: at 9 s the first generation begins, with all three; "
        f"they got: {answers}. A member that was counted must not be counted again for the next 3 s"
    )


@pytest.mark.points(3, task=5)
def test_the_wait_is_limited(make_group):
    """A member joins every 2 s; rebalance timeouts are 10 s"""
    group = make_group(delay_ms=3000)
    first = group.client("m0", rebalance_timeout_ms=10_000).joins()
    for number in range(1, 5):
        group.pass_time(2000)
        group.client(f"m{number}", rebalance_timeout_ms=10_000).joins()
    group.pass_time(1500)
    assert first.answer is None, "9.5 s, and members kept joining"
    group.pass_time(500)
    assert first.answer == "generation 1, leads m0 m1 m2 m3 m4", (
        "3 + 3 + 3 + 1 = 10 s: the whole wait is not longer than the rebalance timeout, however many "
        f"join; the first one got: {first.answer}"
    )


@pytest.mark.points(1, task=5)
def test_the_groups_lock_is_held(make_group, looked_at):
    """When the timer ends a wait, and another one begins"""
    group = make_group(delay_ms=3000)
    group.client("ann").joins()
    group.client("bob").joins()
    held, watch = [], group.rebalancer.watch_join

    def watched(delayed_join):
        held.append(delayed_join.group.lock.is_held)
        watch(delayed_join)

    group.rebalancer.watch_join = watched
    with looked_at(group.metadata, "new_member_added") as looks:
        group.pass_time(3000)
    held += looks
    assert all(held), (
        "the timer calls on_complete without a lock: look at the group, and wait once more, with group.lock held, or a "
        f"member that joins meanwhile is not counted; held: {held}"
    )
