"""Task 2: members join and leave, and one of them leads."""

import pytest


@pytest.mark.points(6, task=2)
def test_the_first_member_leads(group, join, member):
    """a, b, and c, which was given its id before"""
    group.pending_members.add("c")
    for name in "abc":
        join(name)
    assert group.leader_id == "a", f"the first member leads, and keeps leading: a, not {group.leader_id}"
    assert group.protocol_type == "consumer", (
        f"the first member determines the protocol type, not {group.protocol_type}"
    )
    assert not group.pending_members, "c has joined: it is not pending any more"
    other = member("d")
    other.protocol_type = "connect"
    group.add(other)
    assert group.protocol_type == "consumer", (
        f"only the first member sets the protocol type; yours: {group.protocol_type}"
    )


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
    for name in "zyx":
        join(name)
    group.remove("z")
    assert group.leader_id == "y", f"z led: the next one to have joined leads, y, not {group.leader_id}"
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
    assert group.elect_leader_that_has_joined() is False, "there is no member, so none can lead: False"
    first = member("a")
    group.add(first)
    assert group.elect_leader_that_has_joined() is False, "no JoinGroup waits, so no member can lead: False"
    assert group.leader_id == "a", f"nobody can take over, so a stays the leader, not {group.leader_id}"
    join("b"), join("c")
    assert group.elect_leader_that_has_joined() is True, "b and c have joined: one of them can lead"
    assert group.leader_id == "b", f"a has not joined: b leads, not {group.leader_id}"
    join("a2")
    assert (group.elect_leader_that_has_joined(), group.leader_id) == (True, "b"), "b leads and has joined: it stays"
    group._set_join_callback(first, lambda _response: None)
    assert (group.elect_leader_that_has_joined(), group.leader_id) == (True, "b"), (
        f"b leads and has joined: it stays, also now that a, the first member, has joined; not {group.leader_id}"
    )
