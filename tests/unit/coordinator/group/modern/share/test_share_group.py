"""A share group is what its records say, and undoing them restores it."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup, ShareGroupChange
from kafka_lite.coordinator.group.modern.share.share_group_state import ShareGroupState
from tests.support.modern_groups import T
from tests.support.share_groups import EVERY_SHARE_RECORD, WHOLE_SHARE_MEMBER


def whole() -> ShareGroup:
    group = ShareGroup("g")
    for record in EVERY_SHARE_RECORD:
        group.replay(record)
    return group


def test_records_are_the_state() -> None:
    group = whole()
    assert (group.group_epoch, group.assignment_epoch, group.metadata_hash) == (3, 3, -5)
    assert group.members == {"m": WHOLE_SHARE_MEMBER}
    assert group.target == {"m": {T: frozenset({0, 1})}}
    assert group.assigned_partitions() == {T: frozenset({0, 1})}
    assert group.partitions.initialized == {T: frozenset({0, 1})}
    assert group.subscribed_topics() == {"a", "b"}
    assert group.is_subscribed_to_topic("a")
    assert not group.is_subscribed_to_topic("c")
    assert group.is_in(ShareGroupState.STABLE)


def test_tombstones_delete_all_of_it() -> None:
    group = whole()
    for record in group.tombstones():
        group.replay(record)
    assert not group.has_records
    assert group.members == {}
    assert group.partitions.initialized == {}
    assert group.is_in(ShareGroupState.EMPTY)


def test_what_the_log_refuses_is_undone() -> None:
    group = whole()
    change = ShareGroupChange(group)
    change.extend(group_records.member_tombstones("g", "m"))
    change.extend(group.tombstones())
    assert group.is_in(ShareGroupState.EMPTY)
    change.undo()
    assert group == whole()


def test_the_tombstone_of_an_unknown_member_is_nothing() -> None:
    group = ShareGroup("g")
    group.replay(group_records.member_tombstones("g", "m")[0])
    assert group.members == {}


def test_only_an_empty_group_may_lose_its_state() -> None:
    ShareGroup("g").check_empty()
    with pytest.raises(ApiError) as raised:
        whole().check_empty()
    assert raised.value.error is Errors.NON_EMPTY_GROUP
