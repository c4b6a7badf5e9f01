"""Task 2: members join and leave, and one of them leads."""

import pytest


@pytest.mark.points(6, task=2)
def test_the_first_member_leads(group, join):
    """a, b, and c, which was given its id before"""
    group.pending_members.add("c")
    for name in "abc":
        join(name)
    assert group.leader_id == "a", f"the first member leads, and keeps leading: a, not {group.leader_id}"
    assert group.protocol_type == "consumer", (
        f"the first member determines the protocol type, not {group.protocol_type}"
    )
    assert not group.pending_members, "c has joined: it is not pending any more"


@pytest.mark.points(8, task=2)
def test_members_leave(group, join):
    """The leader, another one, the last one, and a pending one"""
    for name in "abc":
        join(name)
    group.pending_members.add("d")
    group.pending_sync_members.add("a")
    group.remove("a")
    assert not group.has("a"), "a has left"
    assert group.leader_id == "b", f"a was the leader and has left: the next one leads, b, not {group.leader_id}"
    assert not group.pending_sync_members, "no SyncGroup of a is awaited any more"
    group.remove("c")
    assert group.leader_id == "b", f"c has left, which does not change the leader: b, not {group.leader_id}"
    group.remove("b")
    assert group.leader_id is None, f"no member is left, so none leads; you return {group.leader_id}"
    group.remove("d")
    assert not group.pending_members, "d was pending, and must be removed as well"


@pytest.mark.points(3, task=2)
def test_static_members(group, join):
    """The member of an instance id"""
    join("a", instance="i")
    assert group.static_member_id("i") == "a", "a has the instance id i: this is how it is found when it returns"
    group.remove("a")
    assert group.static_member_id("i") is None, "a has left: no member has the instance id i"


@pytest.mark.points(3, task=2)
def test_a_leader_that_has_not_joined(group, join, member):
    """The leader has not joined the next generation"""
    group.add(member("a"))
    assert group.elect_leader_that_has_joined() is False, "no JoinGroup waits, so no member can lead: False"
    join("b"), join("c")
    assert group.elect_leader_that_has_joined() is True, "b and c have joined: one of them can lead"
    assert group.leader_id == "b", f"a has not joined: b leads, not {group.leader_id}"
    join("a2")
    assert (group.elect_leader_that_has_joined(), group.leader_id) == (True, "b"), "b leads and has joined: it stays"
