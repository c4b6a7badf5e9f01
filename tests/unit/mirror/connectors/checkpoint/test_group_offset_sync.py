"""Offsets are committed for idle groups of the target, and never set back."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore
from kafka_lite.mirror.connectors.checkpoint.group_offset_sync import GroupOffsetSync
from kafka_lite.mirror.connectors.mirror_records import Checkpoint
from tests.support.mirror_clusters import FakeCluster

T0, T1 = TopicPartition("west.t", 0), TopicPartition("west.t", 1)


def a_sync(target: FakeCluster, *groups: str) -> GroupOffsetSync:
    """T0 is translated to 5, T1 to 8."""
    checkpoints = CheckpointStore(groups)
    for group in groups:
        checkpoints.update([Checkpoint(group, T0, 50, 5, "note"), Checkpoint(group, T1, 80, 8, "")])
    return GroupOffsetSync(target, checkpoints)


def test_a_group_that_the_target_does_not_know() -> None:
    target = FakeCluster()
    a_sync(target, "g").sync()
    assert target.offsets == {"g": {T0: OffsetAndMetadata(5, "note"), T1: OffsetAndMetadata(8)}}


def test_a_group_that_has_read_in_the_target_is_not_set_back() -> None:
    target = FakeCluster()
    target.offsets = {"g": {T0: OffsetAndMetadata(7), T1: OffsetAndMetadata(2)}}
    a_sync(target, "g").sync()
    assert target.offsets == {"g": {T0: OffsetAndMetadata(7), T1: OffsetAndMetadata(8)}}


@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance", "CompletingRebalance"])
def test_a_group_with_members_has_its_own_offsets(state: str) -> None:
    target = FakeCluster()
    target.offsets, target.states = {"g": {T0: OffsetAndMetadata(1)}}, {"g": state}
    a_sync(target, "g").sync()
    assert target.offsets == {"g": {T0: OffsetAndMetadata(1)}}


def test_a_group_that_gets_a_member_meanwhile_does_not_keep_the_others(caplog: pytest.LogCaptureFixture) -> None:
    class Racing(FakeCluster):
        def group_state(self, group: str) -> str:
            before = super().group_state(group)
            self.states["a"] = "Stable"
            return before

    target = Racing()
    with caplog.at_level(logging.WARNING):
        a_sync(target, "a", "b").sync()
    assert list(target.offsets) == ["b"]
    assert "Unable to sync offsets for consumer group a" in caplog.text


def test_without_checkpoints_nobody_is_asked() -> None:
    target = FakeCluster()
    target.is_down = True
    GroupOffsetSync(target, CheckpointStore(["g"])).sync()
    assert target.offsets == {}
