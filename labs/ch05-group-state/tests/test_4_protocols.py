"""Task 4: all members use the same protocol."""

import pytest

from kafka_lite.coordinator.group.group_state import GroupState


@pytest.mark.points(5, task=4)
def test_an_empty_group(group):
    """Any protocol, but at least one"""
    assert group.supports_protocols("consumer", ["range"]), "there is no member to disagree"
    assert not group.supports_protocols("consumer", []), "without any protocol none can be elected"
    assert not group.supports_protocols("", ["range"]), "a group needs a protocol type"


@pytest.mark.points(7, task=4)
def test_protocols_in_common(group, join):
    """Two members, which have roundrobin in common"""
    join("a", "range roundrobin"), join("b", "roundrobin")
    group.state = GroupState.STABLE
    assert group.supports_protocols("consumer", ["sticky", "roundrobin"]), "all members support roundrobin"
    assert not group.supports_protocols("consumer", ["range"]), "range: not all members support it, b does not"
    assert not group.supports_protocols("connect", ["roundrobin"]), "a Connect worker in a group of consumers"
    group.remove("b")
    assert group.supports_protocols("consumer", ["range"]), "b has left, so its protocols do not count any more"
    assert group.supports_protocols("consumer", ["roundrobin"]), (
        "a is alone and supports roundrobin: remove takes the protocols of b out of the count"
    )


@pytest.mark.points(8, task=4)
def test_the_vote(group, join):
    """Three members: two prefer sticky, which c does not support; of the rest, two prefer range"""
    join("a", "sticky range roundrobin"), join("b", "sticky range roundrobin"), join("c", "roundrobin range")
    elected = group.select_protocol()
    assert elected != "sticky", "c does not support sticky: only protocols that all support are candidates"
    assert elected == "range", f"of range and roundrobin, a and b prefer range: two votes to one, not {elected}"
    for name in "abc":
        group.remove(name)
    join("a", "range roundrobin"), join("b", "roundrobin range"), join("c", "roundrobin range")
    elected = group.select_protocol()
    assert elected == "roundrobin", f"b and c prefer roundrobin: two votes to one, whoever is first; not {elected}"
