"""Checkpoint files: their text format, and that a write replaces them atomically."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry, LeaderEpochCheckpointFile
from kafka_lite.log.checkpoints.offset_checkpoint_file import OffsetCheckpointFile
from tests.support.samples import DATA, hex_sample


@pytest.mark.parametrize(
    "name",
    [
        "v0102-recovery-point-offset-checkpoint.txt",
        "v0102-replication-offset-checkpoint.txt",
        "v39-recovery-point-offset-checkpoint.txt",
        "v39-replication-offset-checkpoint.txt",
        "v39-log-start-offset-checkpoint.txt",
        "v39-cleaner-offset-checkpoint.txt",
    ],
)
def test_checkpoints_of_kafka_are_read_and_written_back_unchanged(tmp_path: Path, name: str) -> None:
    original = (DATA / name).read_text()
    offsets = OffsetCheckpointFile(DATA / name).read()
    assert len(offsets) == int(original.splitlines()[1])
    copy = OffsetCheckpointFile(tmp_path / name)
    copy.write(offsets)
    assert copy.file.read_text() == original


def test_read_returns_the_offsets_of_a_kafka_checkpoint(tmp_path: Path) -> None:
    offsets = OffsetCheckpointFile(DATA / "v0102-replication-offset-checkpoint.txt").read()
    assert offsets[TopicPartition("t3", 1)] == 34


def test_leader_epoch_checkpoint_of_kafka_is_read(tmp_path: Path) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_bytes(hex_sample("v39-modern-0.leader-epoch-checkpoint.hex"))
    assert LeaderEpochCheckpointFile(tmp_path).read() == [EpochEntry(0, 0)]


def test_missing_and_empty_files_have_no_entries(tmp_path: Path) -> None:
    checkpoint = OffsetCheckpointFile(tmp_path / "c")
    assert checkpoint.read() == {}
    (tmp_path / "c").write_bytes(b"")
    assert checkpoint.read() == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x", "version and the number"),
        (b"0\n", "version and the number"),
        (b"1\n0\n", "version is 1"),
        (b"-1\n0\n", "version is -1"),
        (b"0\n2\nt 0 1\n", "has 1 entries but declares 2"),
        (b"0\n1\nt 0 1\nt 1 1\n", "has 2 entries but declares 1"),
        (b"0\n1\nt 0\n", "not a valid entry"),
        (b"0\n1\nt x 1\n", "not a valid entry"),
        (b"0\n1\nt 0 -1\n", "-1 is out of range"),
        (b"0\n1\nt 0 9223372036854775808\n", "9223372036854775808 is out of range"),
        (b"0\n1\nt 2147483648 1\n", "2147483648 is out of range"),
        (b"\xff\xfe", "not text"),
    ],
)
def test_malformed_files_are_rejected(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(CheckpointFormatError, match=reason):
        OffsetCheckpointFile(tmp_path / "c").read()


def test_leader_epochs_have_32_bits_and_offsets_64(tmp_path: Path) -> None:
    checkpoint = LeaderEpochCheckpointFile(tmp_path)
    entries = [EpochEntry(2**31 - 1, 2**63 - 1)]
    checkpoint.write(entries)
    assert checkpoint.read() == entries
    for line in (f"{2**31} 0", f"0 {2**63}"):
        (tmp_path / "leader-epoch-checkpoint").write_text(f"0\n1\n{line}\n")
        with pytest.raises(CheckpointFormatError, match="out of range"):
            checkpoint.read()


def test_the_whole_content_is_forced_to_disk_before_it_replaces_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = OffsetCheckpointFile(tmp_path / "c")
    checkpoint.write({TopicPartition("t", 0): 1})
    on_disk = []

    def fsync(fd: int) -> None:
        on_disk.append((os.fstat(fd).st_size, checkpoint.file.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    checkpoint.write({TopicPartition("t", 0): 1234567})
    assert on_disk == [(len("0\n1\nt 0 1234567\n"), "0\n1\nt 0 1\n")]


def test_failed_write_keeps_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = OffsetCheckpointFile(tmp_path / "c")
    checkpoint.write({TopicPartition("t", 0): 1})

    def fail(fd: int) -> None:
        raise OSError("disk failed")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk failed"):
        checkpoint.write({TopicPartition("t", 0): 2})
    assert checkpoint.read() == {TopicPartition("t", 0): 1}
    assert [path.name for path in tmp_path.iterdir()] == ["c"]  # the space of the temporary file is freed
