"""What is the same in groups of consumers and in share groups: records that can be undone, and states."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.coordinator.group.modern import consumer_group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_state import ConsumerGroupState
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.share import share_group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup, ShareGroupChange
from kafka_lite.coordinator.group.modern.share.share_group_state import ShareGroupState


def test_a_change_of_either_kind_can_be_taken_back() -> None:
    group, share = ConsumerGroup("g"), ShareGroup("s")
    change, share_change = GroupChange(group), ShareGroupChange(share)
    change.add(consumer_group_records.group_epoch("g", 3, 9))
    share_change.add(share_group_records.group_epoch("s", 4, 8))
    assert (group.group_epoch, share.group_epoch, share.metadata_hash) == (3, 4, 8)
    assert group.has_records
    assert share.has_records
    change.undo()
    share_change.undo()
    assert (group.group_epoch, share.group_epoch) == (0, 0)
    assert not group.has_records
    assert not share.has_records


def test_an_unknown_member_is_an_error() -> None:
    with pytest.raises(ApiError, match="Member x is not a member of group s"):
        ShareGroup("s").member("x")


def test_transitions_are_those_of_the_table() -> None:
    share, group = ShareGroup("s"), ConsumerGroup("g")
    share.transition_to(ShareGroupState.STABLE)
    with pytest.raises(RuntimeError, match="Group s cannot go"):
        share.transition_to(ShareGroupState.DEAD)
    group.transition_to(ConsumerGroupState.DEAD)
    with pytest.raises(RuntimeError, match="Group g cannot go"):
        group.transition_to(ConsumerGroupState.STABLE)
