"""Names of a log's files and directories are Kafka's, and are read back from what lies on a disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log import log_file_utils as files

DIRECTORY = Path("logs/topic-0")


@pytest.mark.parametrize(
    ("name_of", "suffix"),
    [
        (files.log_file, ".log"),
        (files.offset_index_file, ".index"),
        (files.time_index_file, ".timeindex"),
        (files.transaction_index_file, ".txnindex"),
        (files.producer_snapshot_file, ".snapshot"),
    ],
)
def test_a_file_is_named_by_its_offset_in_twenty_digits(name_of: object, suffix: str) -> None:
    assert name_of(DIRECTORY, 45) == DIRECTORY / f"00000000000000000045{suffix}"  # type: ignore[operator]


def test_the_files_of_a_compaction_have_one_more_suffix() -> None:
    cleaned = files.log_file(DIRECTORY, 45, files.CLEANED_FILE_SUFFIX)
    assert cleaned.name == "00000000000000000045.log.cleaned"
    assert files.without_suffix(cleaned, ".cleaned") == files.log_file(DIRECTORY, 45)


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("00000000000000000045.log", 45),
        ("09223372036854775807.index", 2**63 - 1),
        ("00000000000000000045.timeindex.deleted", 45),
        ("00000000000000000045.txnindex.swap", 45),
        ("00000000000000000045.snapshot", None),
        ("45.log", None),
        ("00000000000000000045.log.bak", None),
        ("leader-epoch-checkpoint", None),
        ("0000000000000000004x.log", None),
    ],
)
def test_the_offset_of_a_segments_file_is_in_its_name(name: str, offset: int | None) -> None:
    assert files.offset_from_file(DIRECTORY / name) == offset


@pytest.mark.parametrize(("name", "offset"), [("00000000000000000045.snapshot", 45), ("45.snapshot", None)])
def test_the_offset_of_a_snapshot_is_in_its_name(name: str, offset: int | None) -> None:
    assert files.offset_from_snapshot_file(DIRECTORY / name) == offset


@pytest.mark.parametrize("partition", [TopicPartition("topic", 0), TopicPartition("a-b.c_d", 12)])
def test_a_directory_is_named_after_its_partition(partition: TopicPartition) -> None:
    for name in (
        files.log_dir_name(partition),
        files.log_delete_dir_name(partition),
        files.log_future_dir_name(partition),
    ):
        assert files.parse_topic_partition_name(Path("logs") / name) == partition
    assert re.fullmatch(r"topic-0\.[0-9a-f]{32}-delete", files.log_delete_dir_name(TopicPartition("topic", 0)))


def test_two_deletions_of_a_partition_have_different_directories() -> None:
    assert files.log_delete_dir_name(TopicPartition("t", 0)) != files.log_delete_dir_name(TopicPartition("t", 0))


@pytest.mark.parametrize("name", ["lost+found", "topic", "-0", "topic-", "topic-x", "topic-0-delete", "topic-٣"])
def test_other_directories_are_left_alone(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(KafkaError, match="whose name is not of the form topic-partition"):
        files.parse_topic_partition_name(Path("logs") / name)
    assert not files.is_log_dir(Path("logs") / name)
    assert "Ignoring a directory" in caplog.text


def test_files_and_directories_can_be_forced_to_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    files.flush_file_or_directory(tmp_path / "file")
    files.flush_file_or_directory(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        files.flush_file_or_directory(tmp_path / "nothing")
