"""meta.properties: which broker and cluster a log directory belongs to."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from kafka_lite.server.broker_metadata_checkpoint import (
    BrokerMetadata,
    BrokerMetadataCheckpoint,
    InconsistentBrokerMetadataError,
    read_broker_metadata,
)
from tests.support.samples import DATA


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("v0102-meta.properties.txt", BrokerMetadata(1)),
        ("v39-meta.properties.txt", BrokerMetadata(1, "aYb_RMmaRhiK88d1_NouBA")),
    ],
)
def test_files_of_kafka_are_read_and_written_back(tmp_path: Path, sample: str, expected: BrokerMetadata) -> None:
    original = (DATA / sample).read_text()
    checkpoint = BrokerMetadataCheckpoint(tmp_path)
    checkpoint.file.write_text(original)
    assert checkpoint.read() == expected
    checkpoint.write(expected)
    written = checkpoint.file.read_text().splitlines()
    assert written[0] == "#"
    assert written[1].startswith("#")
    assert written[2:] == original.splitlines()[2:]


def test_a_missing_file_is_read_as_none(tmp_path: Path) -> None:
    assert BrokerMetadataCheckpoint(tmp_path).read() is None
    assert read_broker_metadata([tmp_path]) is None


@pytest.mark.parametrize(
    "content", ["", "version=0\n", "broker.id=x\nversion=0\n", "broker.id=1\nversion=7\n", "\\u12"]
)
def test_a_malformed_file_is_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "meta.properties").write_text(content)
    with pytest.raises(InconsistentBrokerMetadataError, match=r"meta\.properties"):
        BrokerMetadataCheckpoint(tmp_path).read()


def test_directories_with_different_ids_are_rejected(tmp_path: Path) -> None:
    dirs = [tmp_path / name for name in "abc"]
    for directory in dirs:
        directory.mkdir()
    BrokerMetadataCheckpoint(dirs[0]).write(BrokerMetadata(1, "c"))
    BrokerMetadataCheckpoint(dirs[1]).write(BrokerMetadata(1, "c"))
    assert read_broker_metadata(dirs) == BrokerMetadata(1, "c")
    BrokerMetadataCheckpoint(dirs[2]).write(BrokerMetadata(2, "c"))
    with pytest.raises(InconsistentBrokerMetadataError, match="move the wrong ones out"):
        read_broker_metadata(dirs)


def test_an_unreadable_directory_is_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    not_a_directory = tmp_path / "file"
    not_a_directory.touch()
    BrokerMetadataCheckpoint(tmp_path).write(BrokerMetadata(4, "c"))
    assert read_broker_metadata([not_a_directory, tmp_path]) == BrokerMetadata(4, "c")
    assert f"log directory {not_a_directory}" in caplog.text


def test_an_unchanged_file_is_not_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    checkpoint = BrokerMetadataCheckpoint(tmp_path)
    checkpoint.write(BrokerMetadata(1, "c"))
    monkeypatch.setattr("os.fsync", no_room)
    checkpoint.ensure(BrokerMetadata(1, "c"))
    with pytest.raises(OSError, match="No space left on device") as raised:
        checkpoint.ensure(BrokerMetadata(2, "c"))
    assert raised.value.filename == str(checkpoint.file)
    assert [path.name for path in tmp_path.iterdir()] == ["meta.properties"]
    assert checkpoint.read() == BrokerMetadata(1, "c")
