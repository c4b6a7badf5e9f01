"""The commits of a group are read from the segments in their order, and a lost one is told from one sent again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from tests.support.commits_in_log import commits_in_log, explained, is_resent

VERSION = ApiVersion.KAFKA_3_9_IV0


def batch(*commits: tuple[str, str, int, int]) -> bytes:
    """One batch of commits: group, topic, partition, offset."""
    records = [
        (
            group_records.offset_commit_key(group, TopicPartition(topic, partition)),
            group_records.offset_commit_value(OffsetAndMetadata(offset, "", 1), VERSION),
        )
        for group, topic, partition, offset in commits
    ]
    return bytes(memory_records(2, CompressionType.NONE, records, timestamp=1))


def test_commits_are_in_the_order_of_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-7"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(batch(("g", "t", 0, 48), ("g", "t", 1, 47)) + batch(("other", "t", 0, 99)))
    tombstone = memory_records(
        2, CompressionType.NONE, [(group_records.offset_commit_key("g", TopicPartition("t", 1)), None)], timestamp=1
    )
    (folder / f"{9:020}.log").write_bytes(batch(("g", "t", 0, 54), ("g", "u", 0, 3)) + bytes(tombstone))
    assert commits_in_log(tmp_path, "g", "t") == {0: [48, 54], 1: [47]}


@pytest.mark.parametrize(
    ("commits", "resent"), [([48, 54, 48], True), ([48, 54], False), ([48], False), ([54, 60, 48], True), ([], False)]
)
def test_a_commit_sent_again_is_after_the_newer_one(commits: list[int], resent: bool) -> None:
    assert is_resent(commits, 54, 48) is resent
    assert explained({0: commits}, {0: 54, 1: 3}, {0: 48, 1: 3}) is resent
