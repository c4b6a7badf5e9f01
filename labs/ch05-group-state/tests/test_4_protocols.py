"""Task 4: all members follow the same protocol."""

import pytest

from kafka_lite.coordinator.group.group_state import GroupState


@pytest.mark.points(5, task=4)
def test_an_empty_group(group):
    """Anything, but not nothing"""
    assert group.supports_protocols("consumer", ["range"]), "nobody is there to disagree"
    assert not group.supports_protocols("consumer", []), "without any protocol there is nothing to elect"
    assert not group.supports_protocols("", ["range"]), "without a protocol type it is no group of any kind"


@pytest.mark.points(7, task=4)
def test_who_can_be_a_member(group, join):
    """Two members, who have roundrobin in common"""
    join("a", "range roundrobin"), join("b", "roundrobin")
    group.state = GroupState.STABLE
    assert group.supports_protocols("consumer", ["sticky", "roundrobin"]), "all can follow roundrobin"
    assert not group.supports_protocols("consumer", ["range"]), "range: not all members can follow it, b cannot"
    assert not group.supports_protocols("connect", ["roundrobin"]), "a worker of Connect in a group of consumers"
    group.remove("b")
    assert group.supports_protocols("consumer", ["range"]), "b has gone, and what it could not follow counts no more"


@pytest.mark.points(8, task=4)
def test_the_vote(group, join):
    """Three members: two like sticky best, which c does not know; of the rest two prefer range"""
    join("a", "sticky range roundrobin"), join("b", "sticky range roundrobin"), join("c", "roundrobin range")
    elected = group.select_protocol()
    assert elected != "sticky", "c cannot follow sticky: only what all can follow is a candidate"
    assert elected == "range", f"of range and roundrobin a and b like range better: two votes to one, not {elected}"
