"""How much a batch can expand to, read off its header and its blocks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.record.codec_libraries import zstandard
from kafka_lite.record.compression import CompressionType, compress, decompress
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.quick_batches import MAX_QUICK_EXPANDED_BYTES, ZSTD_BLOCK_BYTES, quick_cost, zstd_bound

NOISE = random.Random(3).randbytes(1 << 20)
ZSTD = CompressionType.ZSTD
CODECS = [codec for codec in CompressionType if codec is not CompressionType.NONE]


def batch(codec: CompressionType, *values: bytes) -> bytes:
    builder = MemoryRecordsBuilder(MAGIC_V2, codec)
    for value in values:
        builder.append(0, None, value)
    return builder.build()


@pytest.mark.parametrize("records", [None, b"", b"x" * 60, memoryview(b"x" * 60)])
def test_what_is_no_batch_costs_nothing(records: bytes | None) -> None:
    assert quick_cost(records) == (0, 0)


def test_without_a_codec_only_the_records_count() -> None:
    assert quick_cost(memoryview(batch(CompressionType.NONE, b"a", b"b"))) == (2, 0)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("value", [b"", b"x" * 100, bytes(1 << 20), NOISE[:70_000]], ids=len)
def test_no_batch_expands_to_more_than_its_bound(codec: CompressionType, value: bytes) -> None:
    compressed = compress(codec, value, MAGIC_V2)
    count, bound = quick_cost(bytes(57) + (7).to_bytes(4, "big") + compressed)
    assert (count, bound) == (7, 0), "no codec in the attributes"
    header = bytearray(61)
    header[22] = codec.code
    assert quick_cost(bytes(header) + compressed)[1] >= len(decompress(codec, compressed, MAGIC_V2))


@pytest.mark.parametrize("codec", CODECS)
def test_bombs_exceed_the_bound(codec: CompressionType) -> None:
    assert quick_cost(batch(codec, bytes(8 << 20)))[1] > MAX_QUICK_EXPANDED_BYTES


@pytest.mark.parametrize("codec", CODECS)
def test_usual_batches_do_not(codec: CompressionType) -> None:
    usual = batch(codec, *(b'{"user": %d, "page": "/a/b/%d", "ms": %d}' % (n, n % 7, n * n % 1000) for n in range(60)))
    assert quick_cost(usual)[1] <= MAX_QUICK_EXPANDED_BYTES


@given(st.binary(max_size=2000), st.integers(1, 300), st.booleans(), st.booleans())
def test_the_bound_of_a_zstd_frame_holds(piece: bytes, times: int, has_size: bool, has_checksum: bool) -> None:
    data = piece * times
    compressor = zstandard.ZstdCompressor(write_content_size=has_size, write_checksum=has_checksum)
    frame = compressor.compress(data)
    bound = zstd_bound(frame, 0)
    assert len(data) <= bound <= len(data) + ZSTD_BLOCK_BYTES


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"no zstd at all",
        compress(ZSTD, b"x" * 1000, MAGIC_V2)[:-3],
        compress(ZSTD, b"x" * 1000, MAGIC_V2) * 2,
        compress(ZSTD, b"x" * 1000, MAGIC_V2)[:6],
    ],
    ids=["nothing", "garbage", "cut off", "two frames", "no block"],
)
def test_what_is_no_single_frame_has_no_bound(frame: bytes) -> None:
    assert zstd_bound(frame, 0) > MAX_QUICK_EXPANDED_BYTES


def test_the_walk_ends_where_the_bound_is_exceeded() -> None:
    frame = zstandard.ZstdCompressor().compress(bytes(100 << 20))
    assert MAX_QUICK_EXPANDED_BYTES < zstd_bound(frame, 0) <= MAX_QUICK_EXPANDED_BYTES + ZSTD_BLOCK_BYTES
