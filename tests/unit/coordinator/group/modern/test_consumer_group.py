"""A group of KIP-848 follows from its records, and only from them."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord
from kafka_lite.coordinator.group.modern.consumer_group_state import ConsumerGroupState
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from tests.support.modern_groups import EVERY_RECORD as ALL
from tests.support.modern_groups import WHOLE_MEMBER as MEMBER
from tests.support.modern_groups import T


def replayed(*records: GroupRecord) -> ConsumerGroup:
    group = ConsumerGroup("g")
    for record in records:
        group.replay(record)
    return group


def test_a_group_is_what_its_records_say() -> None:
    group = replayed(*ALL)
    assert group.members == {"m": MEMBER}
    assert (group.group_epoch, group.metadata_hash, group.assignment_epoch) == (3, -5, 3)
    assert group.target == {"m": {T: frozenset({0, 1})}}
    assert group.topics_of(MEMBER) == {"a", "b", "xa", "xy"}
    assert [group.epoch_of(T, n) for n in range(4)] == [3, 3, 3, -1]
    assert group.static_member("i") == MEMBER
    assert group.state is ConsumerGroupState.RECONCILING


def test_the_order_of_a_compacted_log_does_not_matter() -> None:
    group = replayed(ALL[4], ALL[1], ALL[3], ALL[0], ALL[2], ALL[5])
    assert (group.members, group.state) == ({"m": MEMBER}, ConsumerGroupState.RECONCILING)


def test_tombstones_delete_everything() -> None:
    group = replayed(*ALL, *group_records.member_tombstones("g", "m"))
    assert (group.members, group.target, group.static_member("i")) == ({}, {}, None)
    assert group.epoch_of(T, 0) == -1
    assert group.state is ConsumerGroupState.EMPTY
    for record in group.tombstones():
        group.replay(record)
    assert not group.has_records
    assert replayed(*group_records.member_tombstones("g", "m")).members == {}


def test_a_change_can_be_taken_back() -> None:
    group, untouched = replayed(*ALL), replayed(*ALL)
    change = GroupChange(group)
    change.extend(group_records.member_tombstones("g", "m"))
    change.add(group_records.group_epoch("g", 4, 0))
    later = GroupChange(group)
    later.add(group_records.target_epoch("g", 4))
    change.absorb(later)
    assert len(change.records) == 5
    change.undo()
    assert group == untouched
    assert change.records == []


def test_a_dead_group_stays_dead() -> None:
    group = replayed(*ALL)
    group.transition_to(ConsumerGroupState.DEAD)
    with pytest.raises(RuntimeError, match="DEAD to EMPTY"):
        group.transition_to(ConsumerGroupState.EMPTY)
