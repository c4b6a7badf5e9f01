"""The file with the id of a log's topic: Kafka's bytes, and what no broker writes."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import UUID

import pytest

from kafka_lite.common.ids.uuids import decode_uuid
from kafka_lite.log.checkpoints.partition_metadata_file import PartitionMetadataFile

ID = decode_uuid("CW1BOIEfT_KcHAaPi9UjXA")


def test_the_file_has_the_bytes_that_kafka_writes(tmp_path: Path) -> None:
    assert PartitionMetadataFile.read(tmp_path) is None
    PartitionMetadataFile.write(tmp_path, ID)
    assert (tmp_path / "partition.metadata").read_bytes() == b"version: 0\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA"
    assert PartitionMetadataFile.read(tmp_path) == ID
    PartitionMetadataFile.write(tmp_path, UUID(int=7))
    assert PartitionMetadataFile.read(tmp_path) == UUID(int=7)
    assert os.listdir(tmp_path) == ["partition.metadata"]


def test_the_file_is_deleted_if_there_is_one(tmp_path: Path) -> None:
    assert PartitionMetadataFile.load(tmp_path, keep=False) is None
    PartitionMetadataFile.write(tmp_path, ID)
    assert PartitionMetadataFile.load(tmp_path, keep=True) == ID
    assert PartitionMetadataFile.load(tmp_path, keep=False) is None
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content", [b"version: 0\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA\n", b"version: 1\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA\nx"]
)
def test_later_versions_may_have_more(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "partition.metadata").write_bytes(content)
    assert PartitionMetadataFile.read(tmp_path) == ID


@pytest.mark.parametrize(
    "content",
    [
        b"version: 0", b"version: 0\ntopic_id:", b"version: -1\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA",
        b"version: x\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA", b"version: 0\ntopic_id: short", b"\xff\xfe",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", b"version: 0 0\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA",
    ],
)  # fmt: skip
def test_a_malformed_file_is_an_error_of_the_disk(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "partition.metadata").write_bytes(content)
    with pytest.raises(OSError, match="malformed"):
        PartitionMetadataFile.read(tmp_path)


@pytest.mark.parametrize("content", [b"", bytes(40)])
def test_a_file_that_a_crash_left_without_content_has_no_id(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "partition.metadata").write_bytes(content)
    assert PartitionMetadataFile.read(tmp_path) is None
    PartitionMetadataFile.write(tmp_path, ID)
    assert PartitionMetadataFile.read(tmp_path) == ID


def test_the_content_is_forced_to_disk_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forced = list[int]()
    monkeypatch.setattr(os, "fsync", lambda fd: forced.append(os.fstat(fd).st_ino))
    PartitionMetadataFile.write(tmp_path, ID)
    assert forced == []
    PartitionMetadataFile.flush(tmp_path)
    assert forced == [(tmp_path / "partition.metadata").stat().st_ino]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PartitionMetadataFile.write(tmp_path, ID)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        PartitionMetadataFile.write(tmp_path, UUID(int=7))
    assert PartitionMetadataFile.read(tmp_path) == ID
    assert os.listdir(tmp_path) == ["partition.metadata"]
