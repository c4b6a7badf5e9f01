"""Task 2: members come and go, one of them leads."""

import pytest


@pytest.mark.points(6, task=2)
def test_the_first_one_leads(group, join):
    """a, b, and c, who was given its id before"""
    group.pending_members.add("c")
    for name in "abc":
        join(name)
    assert group.leader_id == "a", f"the first one leads, and goes on leading: a, not {group.leader_id}"
    assert group.protocol_type == "consumer", (
        f"the first member says what kind of group it is, not {group.protocol_type}"
    )
    assert not group.pending_members, "c has joined: it is pending no more"


@pytest.mark.points(8, task=2)
def test_members_go(group, join):
    """The leader, another one, the last one, and a pending one"""
    for name in "abc":
        join(name)
    group.pending_members.add("d")
    group.pending_sync_members.add("a")
    group.remove("a")
    assert not group.has("a"), "a has gone"
    assert group.leader_id == "b", f"a led and has gone: the next one leads, b, not {group.leader_id}"
    assert not group.pending_sync_members, "nobody waits for a's SyncGroup any more"
    group.remove("c")
    assert group.leader_id == "b", f"c has gone, which does not change who leads: b, not {group.leader_id}"
    group.remove("b")
    assert group.leader_id is None, f"nobody is left, nobody leads; you say {group.leader_id}"
    group.remove("d")
    assert not group.pending_members, "d was to become a member, and is forgotten as well"


@pytest.mark.points(3, task=2)
def test_static_members(group, join):
    """Who has the instance id"""
    join("a", instance="i")
    assert group.static_member_id("i") == "a", "a has the instance id i: that is how it is found when it comes back"
    group.remove("a")
    assert group.static_member_id("i") is None, "a has gone: nobody has the instance id i"


@pytest.mark.points(3, task=2)
def test_a_leader_that_does_not_come(group, join, member):
    """The leader has not joined the next generation"""
    group.add(member("a"))
    assert group.elect_leader_that_has_joined() is False, "nobody's join waits: nobody can lead, so False"
    join("b"), join("c")
    assert group.elect_leader_that_has_joined() is True, "b and c have joined: one of them can lead"
    assert group.leader_id == "b", f"a has not joined: b leads, not {group.leader_id}"
    join("a2")
    assert (group.elect_leader_that_has_joined(), group.leader_id) == (True, "b"), "b leads and has joined: it stays"
