"""Records that are converted while they are sent have the announced size, whatever the conversion yields."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.files import lazy_down_conversion_records
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.log.files.lazy_down_conversion_records import LazyDownConversionRecords, begins_with_newer
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_batch import MAGIC_POSITION, RecordBatch
from kafka_lite.record.records import batches

NONE, GZIP, ZSTD = CompressionType.NONE, CompressionType.GZIP, CompressionType.ZSTD
NOW = 1_700_000_000_000


def batch(
    base_offset: int, count: int, codec: CompressionType = NONE, value: bytes = b"value", magic: int = 2
) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=base_offset)
    for _ in range(count):
        builder.append(NOW, b"key", value)
    return builder.build()


def lazily(
    directory: Path, data: bytes, *, first_offset: int = 0, size: int | None = None
) -> LazyDownConversionRecords:
    file = FileMessageSet(directory / "0.log")
    file.append(data)
    return LazyDownConversionRecords(file.read(0, len(data) if size is None else size), 1, first_offset)


def whole(data: bytes) -> bytes:
    """The part of a response that a consumer can decode."""
    return b"".join(bytes(found.view) for found in batches(data))


@pytest.fixture(autouse=True)
def _little_at_once(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Convert only the first batch in advance."""
    if "small" not in request.node.name:
        monkeypatch.setattr(lazy_down_conversion_records, "FIRST_BYTES", 1)


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    pair = socket.socketpair()
    yield pair
    for end in pair:
        end.close()


def test_converted_records_that_grow_are_cut_at_the_announced_size(tmp_path: Path) -> None:
    data = b"".join(batch(10 * index, 10) for index in range(20))  # many small records: smaller in v2
    converted = down_convert(data, 1)
    records = lazily(tmp_path, data)
    assert records.size_in_bytes == len(data) < len(converted)
    sent = records.to_bytes()
    assert sent == converted[: len(data)]


def test_the_first_batch_is_never_cut(tmp_path: Path) -> None:
    data = batch(0, 200)
    converted = down_convert(data, 1)
    records = lazily(tmp_path, data)
    assert records.size_in_bytes == len(converted) > len(data)
    assert records.to_bytes() == converted


def test_missing_bytes_are_filled_with_an_incomplete_message(tmp_path: Path) -> None:
    partly = batch(1, 1, value=b"y" * 300_000)  # the slice contains the beginning of this batch
    missing = set()
    for piece in (*range(60), 200_000):
        (tmp_path / "0.log").unlink(missing_ok=True)
        data = batch(0, 3)  # three records have about the same size in both formats
        converted = down_convert(data, 1)
        records = lazily(tmp_path, data + partly, size=len(data) + piece)
        sent = records.to_bytes()
        assert len(sent) == records.size_in_bytes == max(len(data) + piece, len(converted))
        assert whole(sent) == converted
        missing.add(len(sent) - len(converted))
    assert missing >= set(range(20)), "the filler has, and has not, room for offset and size"


@pytest.mark.parametrize("size", [12, 17, 60, 200])
def test_an_incomplete_first_batch_becomes_the_start_of_a_message_of_a_known_format(tmp_path: Path, size: int) -> None:
    data = batch(7, 1, value=b"x" * 500)
    sent = lazily(tmp_path, data, first_offset=7, size=size).to_bytes()
    if size <= MAGIC_POSITION:
        assert sent == b""
    else:
        assert sent == data[:12] + bytes(size - 12)  # offset, size, and a magic that the consumer knows


@pytest.mark.parametrize(("magic", "newest", "newer"), [(2, 1, True), (2, 2, False), (1, 0, True), (0, 0, False)])
def test_begins_with_newer_needs_the_magic_byte(tmp_path: Path, magic: int, newest: int, newer: bool) -> None:
    file = FileMessageSet(tmp_path / "0.log")
    file.append(batch(0, 1, magic=magic))
    assert begins_with_newer(file.read(0, MAGIC_POSITION + 1), newest) is newer
    assert not begins_with_newer(file.read(0, MAGIC_POSITION), newest), "the magic byte is missing"


def test_records_before_the_fetch_offset_are_left_out(tmp_path: Path) -> None:
    data = batch(0, 3) + batch(3, 3) + batch(6, 3)
    sent = lazily(tmp_path, data, first_offset=4).to_bytes()
    assert whole(sent) == down_convert(data, 1, 4)
    assert next(batches(sent)).last_offset == 4


def test_batches_of_old_formats_are_sent_unchanged(tmp_path: Path) -> None:
    data = batch(0, 3, magic=1) + batch(3, 1, GZIP, magic=1) + batch(4, 2)
    assert whole(lazily(tmp_path, data).to_bytes()) == down_convert(data, 1)[: len(data)]


def test_zstd_cannot_be_down_converted(tmp_path: Path) -> None:
    with pytest.raises(ApiError) as refused:
        lazily(tmp_path, batch(0, 3, ZSTD))
    assert refused.value.error is Errors.UNSUPPORTED_COMPRESSION_TYPE


def test_the_response_ends_before_a_batch_that_cannot_be_converted(tmp_path: Path) -> None:
    good = batch(0, 1, value=b"x" * 500)
    data = good + batch(1, 300, ZSTD, value=b"x" * 500)
    records = lazily(tmp_path, data)
    sent = records.to_bytes()
    assert len(sent) == records.size_in_bytes == len(data)
    assert whole(sent) == down_convert(good, 1)


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_a_small_response_has_its_exact_size(tmp_path: Path, codec: CompressionType) -> None:
    data = batch(0, 3, codec) + batch(3, 30, codec)
    records = lazily(tmp_path, data)
    assert records.size_in_bytes == len(down_convert(data, 1))
    assert records.to_bytes() == down_convert(data, 1)


def test_a_small_response_without_records_is_empty(tmp_path: Path) -> None:
    assert lazily(tmp_path, batch(0, 3), first_offset=3).size_in_bytes == 0


def test_records_are_sent_in_pieces(tmp_path: Path, sockets: tuple[socket.socket, socket.socket]) -> None:
    data = b"".join(batch(10 * index, 10, GZIP) for index in range(50))
    records = lazily(tmp_path, data)
    out, into = sockets
    came = b""
    while len(came) < records.size_in_bytes:
        sent = records.send_to(out, len(came), min(100, records.size_in_bytes - len(came)))
        assert 0 < sent <= 100
        came += into.recv(sent, socket.MSG_WAITALL)
    converted = down_convert(data, 1)
    assert whole(came)
    assert converted.startswith(whole(came))
    with pytest.raises(ValueError, match="cannot continue"):
        records.send_to(out, 0, 10)


def test_a_read_error_closes_the_connection(tmp_path: Path, sockets: tuple[socket.socket, socket.socket]) -> None:
    """The response's size has already been sent; a filler in place of the rest would look like the last records."""
    data = b"".join(batch(10 * index, 10, value=b"x" * 2000) for index in range(20))

    file = FileMessageSet(tmp_path / "0.log")
    file.append(data)

    class FailingDisk:
        size_in_bytes = len(data)

        def batches(self) -> Iterator[RecordBatch]:
            yield from itertools.islice(file.read(0, len(data)).batches(), 10)
            raise OSError("I/O error")

    records = LazyDownConversionRecords(FailingDisk(), 1, 0)  # type: ignore[arg-type]
    out, into = sockets
    sent = 0
    for _ in range(10):
        sent += records.send_to(out, sent, records.size_in_bytes - sent)
        into.recv(1 << 20)
    for _ in range(2):  # as the selector does, which retries in its next poll
        with pytest.raises(OSError, match="I/O error"):
            records.send_to(out, sent, records.size_in_bytes - sent)
