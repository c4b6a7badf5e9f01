"""The last checkpoints of a task's groups; what is no news is not emitted."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore
from kafka_lite.mirror.connectors.mirror_records import Checkpoint

T0 = TopicPartition("west.t", 0)


def a_checkpoint(upstream: int, downstream: int, group: str = "g") -> Checkpoint:
    return Checkpoint(group, T0, upstream, downstream, "note")


@pytest.mark.parametrize(
    ("upstream", "downstream", "is_news"),
    [
        (10, 5, False),
        (11, 5, False),
        (11, 6, True),
        (9, 5, True),
        (9, 4, True),
        (11, 4, False),
    ],
)
def test_news_is_a_greater_offset_or_a_group_that_went_back(upstream: int, downstream: int, is_news: bool) -> None:
    store = CheckpointStore(["g"])
    assert store.is_news(a_checkpoint(upstream, downstream)), "the first one"
    store.update([a_checkpoint(10, 5)])
    assert store.is_news(a_checkpoint(upstream, downstream)) is is_news


def test_translated_offsets_of_the_tasks_groups() -> None:
    store = CheckpointStore(["g", "quiet"])
    store.update([a_checkpoint(10, 5), a_checkpoint(12, 6), a_checkpoint(1, 1, "of another task")])
    assert store.translated() == {"g": {T0: OffsetAndMetadata(6, "note")}, "quiet": {}}
