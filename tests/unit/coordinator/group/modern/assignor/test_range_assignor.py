"""The range assignor: neighbours, and the same numbers of all topics."""

from __future__ import annotations

from uuid import UUID

from kafka_lite.coordinator.group.modern.assignor.group_spec import GroupSpec, MemberSpec
from kafka_lite.coordinator.group.modern.assignor.range_assignor import RangeAssignor

T, U = UUID(int=1), UUID(int=2)


def test_the_first_members_get_one_more_of_each_topic() -> None:
    members = {name: MemberSpec(frozenset({T, U})) for name in "cab"}
    target = RangeAssignor().assign(GroupSpec(members, {T: 5, U: 3}))
    assert target == {
        "a": {T: frozenset({0, 1}), U: frozenset({0})},
        "b": {T: frozenset({2, 3}), U: frozenset({1})},
        "c": {T: frozenset({4}), U: frozenset({2})},
    }


def test_static_members_come_first_by_their_names() -> None:
    members = {
        "a": MemberSpec(frozenset({T})),
        "z": MemberSpec(frozenset({T}), instance_id="1"),
        "y": MemberSpec(frozenset({T}), instance_id="2"),
    }
    target = RangeAssignor().assign(GroupSpec(members, {T: 2}))
    assert target == {"z": {T: frozenset({0})}, "y": {T: frozenset({1})}, "a": {}}


def test_each_topic_is_divided_among_its_own_subscribers() -> None:
    members = {"a": MemberSpec(frozenset({T})), "b": MemberSpec(frozenset({T, U}))}
    target = RangeAssignor().assign(GroupSpec(members, {T: 3, U: 2}))
    assert target == {"a": {T: frozenset({0, 1})}, "b": {T: frozenset({2}), U: frozenset({0, 1})}}
