"""Compressed data whose headers and trailers lie about sizes: one kind of error, in little time and memory."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import cramjam
import lz4.frame
import pytest
import xxhash
import zstandard

from kafka_lite.common.crc32c import crc32c
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.compression import CompressionType, compress, decompress
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import CorruptRecordError

DATA = b"hello kafka " * 500
LITTLE_BYTES = 4 << 20
"""More than the pieces in which data is decompressed, and much less than what the headers claim."""
CLAIMS = [1, len(DATA) - 1, len(DATA) + 1, 120 << 20, 1 << 28, 1 << 40, (1 << 64) - 2]


def varint(number: int) -> bytes:
    digits = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(digit | 0x80 for digit in digits[:-1]), digits[-1]])


def gzip_claims(claim: int) -> bytes:
    return compress(CompressionType.GZIP, DATA, 2)[:-4] + struct.pack("<I", claim & 0xFFFFFFFF)


def snappy_claims(claim: int) -> bytes:
    return varint(claim) + bytes(cramjam.snappy.compress_raw(DATA))[len(varint(len(DATA))) :]


def framed_snappy_claims(claim: int) -> bytes:
    block = snappy_claims(claim)
    header = compress(CompressionType.SNAPPY, b"", 2)
    return header + (struct.pack(">i", len(block)) + block) * 100


def lz4_claims(claim: int) -> bytes:
    frame = bytearray(lz4.frame.compress(DATA, store_size=True))
    frame[6:14] = struct.pack("<Q", claim)
    frame[14] = xxhash.xxh32_intdigest(bytes(frame[4:14])) >> 8 & 0xFF
    return bytes(frame)


def zstd_claims(claim: int, descriptor: bytes = b"\xc0\x58") -> bytes:
    """A frame with a content size of eight bytes."""
    plain = zstandard.ZstdCompressor(write_content_size=False).compress(DATA)
    return plain[:4] + descriptor + struct.pack("<Q", claim) + plain[6:]


def zstd_window_claims(claim: int) -> bytes:
    """A single segment: the window is as large as the content."""
    return zstd_claims(claim, b"\xe0")


LIARS = {
    "gzip": (CompressionType.GZIP, gzip_claims),
    "snappy": (CompressionType.SNAPPY, snappy_claims),
    "framed snappy": (CompressionType.SNAPPY, framed_snappy_claims),
    "lz4": (CompressionType.LZ4, lz4_claims),
    "zstd": (CompressionType.ZSTD, zstd_claims),
    "zstd, single segment": (CompressionType.ZSTD, zstd_window_claims),
}
LIES = [
    pytest.param(codec, lie(claim), id=f"{name} claims {claim}")
    for name, (codec, lie) in LIARS.items()
    for claim in CLAIMS
]


@pytest.mark.parametrize("name", LIARS)
def test_the_same_headers_are_read_if_they_tell_the_truth(name: str) -> None:
    codec, lie = LIARS[name]
    assert decompress(codec, lie(len(DATA)), 2) == DATA * (100 if name == "framed snappy" else 1)


@pytest.mark.parametrize(("codec", "data"), LIES)
def test_a_lie_about_the_size_is_corrupt_and_takes_no_memory(codec: CompressionType, data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordError):
            decompress(codec, data, 2)
        assert tracemalloc.get_traced_memory()[1] < LITTLE_BYTES
    finally:
        tracemalloc.stop()


def test_a_snappy_block_is_not_believed_before_the_library_reserves_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "kafka_lite.record.compression.cramjam.snappy.decompress_raw", lambda _: pytest.fail("reserved")
    )
    with pytest.raises(CorruptRecordError, match="claims to hold 125829120"):
        decompress(CompressionType.SNAPPY, snappy_claims(120 << 20), 2)


def test_the_densest_snappy_is_believed() -> None:
    zeros = bytes(16 << 20)
    assert decompress(CompressionType.SNAPPY, bytes(cramjam.snappy.compress_raw(zeros)), 2) == zeros


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 8, 9])
def test_a_gzip_trailer_that_is_cut_short_is_corrupt(cut: int) -> None:
    with pytest.raises(CorruptRecordError, match="Truncated gzip data"):
        decompress(CompressionType.GZIP, compress(CompressionType.GZIP, DATA, 2)[:-cut], 2)


def test_many_gzip_members_do_not_copy_the_rest_of_the_data_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member without content takes 20 bytes. What zlib is given and leaves, it copies."""
    given: list[int] = []

    class Counting:
        def __init__(self, wbits: int) -> None:
            self._stream = decompressobj(wbits)

        def decompress(self, data: bytes, max_length: int) -> bytes:
            given.append(len(data))
            return self._stream.decompress(data, max_length)

        def __getattr__(self, name: str) -> object:
            return getattr(self._stream, name)

    decompressobj = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    members = 2000
    data = gzip.compress(b"") * members + gzip.compress(DATA * 20)
    assert decompress(CompressionType.GZIP, data, 2) == DATA * 20
    assert sum(given) < len(data) + members * 300


@pytest.mark.parametrize("sizes", [[0, 1, 255, 256, 257], [5_000_000, 3], [300_000, 70_000, 0, 1_200_000]], ids=str)
def test_members_of_any_size_are_joined(sizes: list[int]) -> None:
    members = [bytes((number + i * i) % 251 for i in range(size)) for number, size in enumerate(sizes)]
    data = b"".join(gzip.compress(member, 0) for member in members)
    assert decompress(CompressionType.GZIP, data, 2) == b"".join(members)
    with pytest.raises(CorruptRecordError):
        decompress(CompressionType.GZIP, data[:-1], 2)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    time = MockTime()
    made = Log(tmp_path / "orders-0", LogConfig({}), 0, MockScheduler(time), time)
    yield made
    made.close()


@pytest.mark.parametrize(("codec", "data"), LIES)
def test_a_batch_that_lies_is_refused_as_corrupt(log: Log, codec: CompressionType, data: bytes) -> None:
    plain = memory_records(2, codec, [(None, b"x")], timestamp=1)
    batch = bytearray(plain[:61] + data)
    batch[8:12] = struct.pack(">i", len(batch) - 12)
    batch[17:21] = struct.pack(">I", crc32c(batch[21:]))
    with pytest.raises(CorruptRecordError):
        log.append_as_leader(batch, 0)
    assert log.log_end_offset == 0
