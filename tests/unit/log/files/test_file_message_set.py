"""FileMessageSet: the .log file, its slices, and searches in it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.record.compression import CompressionType
from tests.support.logs import record_set


@pytest.fixture
def log(tmp_path: Path) -> FileMessageSet:
    return FileMessageSet(tmp_path / "0.log")


def sets(*offsets: int, size: int = 10, magic: int = 2) -> list[bytearray]:
    return [record_set(b"x" * size, base_offset=offset, timestamp=100 + offset, magic=magic) for offset in offsets]


def test_append_and_read(log: FileMessageSet) -> None:
    a, b = sets(0, 1)
    assert log.append(a) == len(a)
    assert log.append(memoryview(b)) == len(b)
    assert log.size_in_bytes == len(a) + len(b)
    assert log.read(0, 10_000).to_bytes() == a + b
    assert log.read(len(a), 5).to_bytes() == b[:5]
    assert log.read(10_000, 5).size_in_bytes == 0
    for bad in ((-1, 5), (0, -1)):
        with pytest.raises(ValueError, match="cannot read"):
            log.read(*bad)


def test_search_for_offset(log: FileMessageSet) -> None:
    data = sets(3, 5, 9)
    for records in data:
        log.append(records)
    size = len(data[0])
    assert log.search_for_offset_with_size(0, 0) == (3, 0, size)
    assert log.search_for_offset_with_size(4, 0) == (5, size, size)
    assert log.search_for_offset_with_size(9, size) == (9, 2 * size, size)
    assert log.search_for_offset_with_size(10, 0) is None


def test_search_for_timestamp_decompresses_batches(log: FileMessageSet) -> None:
    log.append(record_set(*[b"x" * 50] * 5, timestamp=100, compression=CompressionType.GZIP))
    log.append(record_set(*[b"x" * 50] * 5, timestamp=103, base_offset=5, leader_epoch=7))
    assert log.search_for_timestamp(0, 0, 0) == (100, 0, -1)
    assert log.search_for_timestamp(103, 0, 0) == (103, 3, -1)
    assert log.search_for_timestamp(103, 0, 4) == (104, 4, -1)
    assert log.search_for_timestamp(105, 0, 0) == (105, 7, 7)
    assert log.search_for_timestamp(108, 0, 0) is None
    assert log.largest_timestamp_after(0) == (107, 9)


def test_truncate(log: FileMessageSet) -> None:
    a, b = sets(0, 1)
    log.append(a + b)
    assert log.truncate_to(len(a)) == len(b)
    assert log.file.stat().st_size == len(a)
    for bad in (len(a) + 1, -1):
        with pytest.raises(ValueError, match="cannot truncate"):
            log.truncate_to(bad)
    log.append(b)
    assert log.read(0, 1000).to_bytes() == a + b


def test_preallocate_and_trim(tmp_path: Path) -> None:
    log = FileMessageSet(tmp_path / "0.log", preallocate_bytes=10_000)
    (a,) = sets(0)
    log.append(a)
    assert (log.size_in_bytes, log.file.stat().st_size) == (len(a), 10_000)
    log.close()
    assert log.file.stat().st_size == len(a)
    assert FileMessageSet(log.file, preallocate_bytes=10_000).size_in_bytes == len(a)


def test_send_writes_to_a_socket_in_pieces(log: FileMessageSet) -> None:
    log.append(b"".join(sets(*range(3000), size=300)))
    part = log.read(100, 1_000_000)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        received = bytearray()
        sent = 0
        blocked = 0
        while sent < part.size_in_bytes:
            try:
                sent += part.send_to(ours, sent, part.size_in_bytes - sent)
            except BlockingIOError:
                blocked += 1
                received += theirs.recv(100_000)
        while len(received) < sent:
            received += theirs.recv(100_000)
    assert blocked
    assert bytes(received) == part.to_bytes()


def test_a_slice_of_a_truncated_file_cannot_be_sent(log: FileMessageSet) -> None:
    log.append(sets(0)[0])
    part = log.read(0, 1000)
    log.truncate_to(0)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(KafkaError, match="truncated"):
        part.send_to(ours, 0, part.size_in_bytes)


def test_the_file_is_closed_with_its_last_slice(tmp_path: Path) -> None:
    log = FileMessageSet(tmp_path / "0.log")
    (a,) = sets(0)
    log.append(a)
    part = log.read(0, 1000)
    fd = log._channel.fd
    log.delete()
    del log
    assert part.to_bytes() == a
    del part
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_close_flushes_only_unflushed_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)

    def flushes_of_close(messages: FileMessageSet) -> int:
        flushed.clear()
        messages.close()
        return len(flushed)

    file = tmp_path / "0.log"
    assert flushes_of_close(FileMessageSet(file)) == 0
    messages = FileMessageSet(file)
    messages.append(record_set(b"a"))
    assert flushes_of_close(messages) == 1
    messages = FileMessageSet(file)  # another process may have written to it
    assert flushes_of_close(messages) == 1
    messages.append(record_set(b"b"))
    messages.flush()
    assert flushes_of_close(messages) == 0
    messages.truncate_to(0)
    assert flushes_of_close(messages) == 1
