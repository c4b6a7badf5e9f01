"""The headers of a log file's batches are found, without their records, until the file ends or is corrupt."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.log.files.file_log_input_stream import READ_AHEAD_BYTES
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.record.record import CorruptRecordError
from tests.support.logs import record_set


@pytest.fixture
def log(tmp_path: Path) -> FileMessageSet:
    return FileMessageSet(tmp_path / "0.log")


def sets(*offsets: int, size: int = 10, magic: int = 2) -> list[bytearray]:
    return [record_set(b"x" * size, base_offset=offset, timestamp=100 + offset, magic=magic) for offset in offsets]


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 10, READ_AHEAD_BYTES - 70, 3 * READ_AHEAD_BYTES])
def test_headers_are_found_anywhere_in_the_read_window(log: FileMessageSet, magic: int, size: int) -> None:
    data = sets(*range(50), size=size, magic=magic)
    for records in data:
        log.append(records)
    found = list(log.batches_from())
    assert [(batch.last_offset, batch.magic, batch.size_in_bytes) for batch in found] == [
        (offset, magic, len(data[offset])) for offset in range(50)
    ]
    assert [batch.max_timestamp for batch in found] == [-1 if magic == 0 else 100 + offset for offset in range(50)]
    assert [batch.position for batch in found] == [sum(map(len, data[:offset])) for offset in range(50)]


@pytest.mark.parametrize(
    "garbage",
    [bytes(100), b"\xff" * 100, bytes(8) + (50).to_bytes(4, "big") + bytes(4) + b"\x03" + bytes(50)],
    ids=["zeros", "ones", "magic 3"],
)
def test_garbage_is_corrupt(log: FileMessageSet, garbage: bytes) -> None:
    log.append(sets(0)[0])
    log.append(garbage)
    found = log.batches_from()
    assert next(found).last_offset == 0
    with pytest.raises(CorruptRecordError):
        next(found)


def test_iteration_ends_at_a_torn_last_batch(log: FileMessageSet) -> None:
    a, b = sets(0, 1)
    log.append(a + b[:-1])
    assert [batch.last_offset for batch in log.batches_from()] == [0]
