"""Task 3: the next generation begins when all known members have joined."""

import pytest


@pytest.mark.points(6, task=3)
def test_all_have_joined(group, join, member):
    """Two of three, then the third"""
    join("a"), join("b")
    third = member("c")
    group.add(third)
    assert not group.has_all_members_joined, "a and b have joined, c has not"
    names = [each.member_id for each in group.not_yet_rejoined_members()]
    assert names == ["c"], f"c has not joined; you return {names}"
    group._set_join_callback(third, lambda _response: None)
    assert group.has_all_members_joined, "all three have joined"
    group.remove("b")
    assert group.has_all_members_joined, "b has left, a and c are all members"
    group._set_join_callback(third, None)
    assert group.num_awaiting_join == 1, f"c got its response, only a waits; you count {group.num_awaiting_join}"
    for name in "ac":
        group.remove(name)
    assert group.has_all_members_joined, "no member is left, so nobody is awaited"


@pytest.mark.points(5, task=3)
def test_joining_twice(group, join, member):
    """A client that sends JoinGroup again"""
    first = join("a")
    group.add(member("b"))
    group._set_join_callback(first, lambda _response: None)
    assert group.num_awaiting_join == 1, (
        f"a second JoinGroup of the same member replaces the first: one waits, not {group.num_awaiting_join}"
    )
    assert not group.has_all_members_joined, "b has not joined"


@pytest.mark.points(4, task=3)
def test_a_pending_member(group, join):
    """A pending member"""
    join("a")
    group.pending_members.add("b")
    assert not group.has_all_members_joined, "b was given an id and will join: wait, or there are two rebalances"
