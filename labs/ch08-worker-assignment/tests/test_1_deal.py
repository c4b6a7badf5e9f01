"""Task 1: connectors and tasks are dealt."""

import pytest

from kafka_lite.connect.runtime.distributed.connect_protocol import CONFIG_MISMATCH
from kafka_lite.connect.runtime.distributed.worker_assignment import assign, max_config_offset


@pytest.mark.points(5, task=1)
def test_the_largest_offset(members):
    """Offsets 7, 9 and -1"""
    found = max_config_offset(members("a", b=9, c=-1))
    assert found == 9, f"some member has read up to 9; yours: {found}"


@pytest.mark.points(12, task=1)
def test_one_round(members, configs, shares):
    """A sink with two tasks, a source with one"""
    group = configs(source=1, sink=2)
    found = shares(assign("b", members("b", "a"), group).by_member)
    assert found == {"a": "sink sink-0 source-0", "b": "source sink-1"}, (
        f"sort the members: a gets sink, b source, a sink-0, b sink-1, a source-0; yours: {found}"
    )
    found = shares(assign("c", members("b", "a", "c"), group).by_member)
    assert found == {"a": "sink sink-1", "b": "source source-0", "c": "sink-0"}, (
        f"one round goes over both: c, which got no connector, gets the first task; yours: {found}"
    )


@pytest.mark.points(8, task=1)
def test_members_without_work(members, configs, shares):
    """More members than work, and an inconsistent connector"""
    found = assign("a", members("a", "b", "c"), configs(x=1)).by_member
    assert shares(found) == {"a": "x", "b": "x-0", "c": ""}, f"c gets an empty assignment; yours: {shares(found)}"
    assert {each.error for each in found.values()} == {0}, "an empty assignment is no error"
    found = assign("a", members("a"), configs()).by_member
    assert shares(found) == {"a": ""}, f"there is nothing to run; yours: {shares(found)}"


@pytest.mark.points(7, task=1)
def test_what_an_assignment_says(members, configs):
    """Leader, URL and offset"""
    found = assign("b", members("a", "b", c=3), configs(x=1, offset=8)).by_member
    errors = {each.error for each in found.values()}
    assert errors == {0}, f"c has read up to 3 only, and catches up before it starts: no error; yours: {errors}"
    assert {each.leader for each in found.values()} == {"b"}, "b leads"
    assert {each.leader_url for each in found.values()} == {"http://b:8083/"}, "all learn where the leader is"
    offsets = {each.offset for each in found.values()}
    assert offsets == {8}, f"the offset of the snapshot, 8, which is newer than those of the members; yours: {offsets}"


@pytest.mark.points(8, task=1)
def test_a_leader_that_is_behind(members, configs, shares):
    """Its snapshot is at 7, a member has read up to 9"""
    found = assign("a", members("a", b=9), configs(x=1)).by_member
    assert {each.error for each in found.values()} == {CONFIG_MISMATCH}, (
        f"the leader lacks something: all get CONFIG_MISMATCH; yours: {[each.error for each in found.values()]}"
    )
    assert shares(found) == {"a": "", "b": ""}, f"and nothing to run; yours: {shares(found)}"
    assert {each.offset for each in found.values()} == {9}, "they have to read up to 9"
