"""The codecs: Kafka's framings, and the limit on decompressed data."""

import contextlib
import gzip
import os
import struct
import tracemalloc

import cramjam
import lz4.frame
import pytest
import xxhash
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.record.compression import CompressionType, compress, decompress
from kafka_lite.record.record import CorruptRecordError

REAL_CODECS = [codec for codec in CompressionType if codec is not CompressionType.NONE]


@given(data=st.binary(max_size=2000), codec=st.sampled_from(CompressionType), magic=st.sampled_from([0, 1, 2]))
def test_round_trip(data: bytes, codec: CompressionType, magic: int) -> None:
    assert decompress(codec, memoryview(compress(codec, data, magic)), magic) == data


@pytest.mark.parametrize("codec", CompressionType)
def test_round_trip_of_many_blocks(codec: CompressionType) -> None:
    data = os.urandom(1000) * 300
    assert decompress(codec, compress(codec, data, 1), 1) == data


@pytest.mark.parametrize("codec", CompressionType)
def test_decompression_beyond_max_bytes_fails(codec: CompressionType) -> None:
    compressed = compress(codec, bytes(1000), 2)
    assert decompress(codec, compressed, 2, max_bytes=1000) == bytes(1000)
    with pytest.raises(CorruptRecordError, match="more than 999 bytes"):
        decompress(codec, compressed, 2, max_bytes=999)


@pytest.mark.parametrize("codec", REAL_CODECS)
def test_a_decompression_bomb_does_not_fill_the_memory(codec: CompressionType) -> None:
    bomb = compress(codec, bytes(64 << 20), 2)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordError):
            decompress(codec, bomb, 2, max_bytes=1 << 20)
        assert tracemalloc.get_traced_memory()[1] < (8 << 20) + len(bomb)
    finally:
        tracemalloc.stop()


def test_a_snappy_block_that_claims_four_gigabytes_is_rejected_before_it_is_read() -> None:
    with pytest.raises(CorruptRecordError, match="more than"):
        decompress(CompressionType.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x" * 20, 2)


@pytest.mark.parametrize("codec", REAL_CODECS)
@given(data=st.binary(max_size=100))
def test_garbage_is_corrupt_or_short_but_never_another_error(codec: CompressionType, data: bytes) -> None:
    with contextlib.suppress(CorruptRecordError):
        decompress(codec, data, 2, max_bytes=1 << 16)


@pytest.mark.parametrize("codec", [CompressionType.GZIP, CompressionType.LZ4, CompressionType.SNAPPY])
def test_truncated_data_is_corrupt(codec: CompressionType) -> None:
    compressed = compress(codec, os.urandom(5000), 2)
    with pytest.raises(CorruptRecordError):
        decompress(codec, compressed[:-3], 2)


def test_gzip_is_readable_by_the_standard_library() -> None:
    assert gzip.decompress(compress(CompressionType.GZIP, b"hello", 1)) == b"hello"
    assert decompress(CompressionType.GZIP, gzip.compress(b"one") + gzip.compress(b"two"), 1) == b"onetwo"


def test_snappy_is_framed_in_blocks_of_32_kilobytes() -> None:
    framed = compress(CompressionType.SNAPPY, bytes(40_000), 1)
    assert framed.startswith(b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
    (first_length,) = struct.unpack_from(">i", framed, 16)
    assert bytes(cramjam.snappy.decompress_raw(framed[20 : 20 + first_length])) == bytes(32 * 1024)


def test_raw_snappy_is_read_too() -> None:
    assert decompress(CompressionType.SNAPPY, bytes(cramjam.snappy.compress_raw(b"raw" * 10)), 1) == b"raw" * 10


@pytest.mark.parametrize("length", [-1, 1 << 30])
def test_a_snappy_block_outside_the_data_is_corrupt(length: int) -> None:
    framed = bytearray(compress(CompressionType.SNAPPY, b"hello", 1))
    struct.pack_into(">i", framed, 16, length)
    with pytest.raises(CorruptRecordError, match="Snappy block"):
        decompress(CompressionType.SNAPPY, framed, 1)


def test_lz4_frames_match_kafka() -> None:
    frame = compress(CompressionType.LZ4, bytes(100_000), 1)
    assert frame[:7].hex(" ") == "04 22 4d 18 60 40 82"  # version 01, independent blocks, 64 KB, no checksums
    assert lz4.frame.decompress(frame) == bytes(100_000)


def test_magic_0_keeps_the_broken_header_checksum_and_accepts_both() -> None:
    broken = compress(CompressionType.LZ4, b"old" * 100, 0)
    correct = compress(CompressionType.LZ4, b"old" * 100, 1)
    assert broken[6] == xxhash.xxh32_intdigest(broken[:6]) >> 8 & 0xFF  # hashed with the frame's magic
    assert correct[6] == xxhash.xxh32_intdigest(correct[4:6]) >> 8 & 0xFF
    assert broken[6] != correct[6]
    assert decompress(CompressionType.LZ4, broken, 0) == decompress(CompressionType.LZ4, correct, 0) == b"old" * 100
    with pytest.raises(CorruptRecordError):
        decompress(CompressionType.LZ4, broken, 1)


def test_lz4_header_with_content_size_is_read_in_magic_0() -> None:
    frame = bytearray(lz4.frame.compress(b"sized" * 50, store_size=True))
    frame[14] ^= 0xFF  # the checksum follows eight bytes of size
    assert decompress(CompressionType.LZ4, frame, 0) == b"sized" * 50


def test_several_zstd_frames_are_read() -> None:
    two = zstandard.compress(b"one") + zstandard.compress(b"two")
    assert decompress(CompressionType.ZSTD, two, 2) == b"onetwo"


def test_codes_and_names_of_codecs() -> None:
    assert [CompressionType.from_code(code) for code in range(5)] == list(CompressionType)
    assert CompressionType.from_name("lz4") is CompressionType.LZ4
    assert CompressionType.from_name("uncompressed") is CompressionType.NONE
    with pytest.raises(CorruptRecordError, match="type 5"):
        CompressionType.from_code(5)
    with pytest.raises(ValueError, match="gzip, snappy, lz4, zstd"):
        CompressionType.from_name("brotli")


@pytest.mark.parametrize("codec", [CompressionType.GZIP, CompressionType.LZ4, CompressionType.ZSTD])
def test_the_compression_level_changes_the_size(codec: CompressionType) -> None:
    data = b"".join(b"%d,%d;" % (i, i * i % 97) for i in range(5000))
    assert len(compress(codec, data, 2, level=9)) < len(compress(codec, data, 2, level=1))


@pytest.mark.parametrize("codec", REAL_CODECS)
def test_what_expands_far_is_in_memory_once(codec: CompressionType) -> None:
    size = 48 << 20
    compressed = compress(codec, bytes(size), 2)
    tracemalloc.start()
    try:
        assert len(decompress(codec, compressed, 2)) == size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.35 * size


@pytest.mark.parametrize("size", [(2 << 20) - 1, 2 << 20, (2 << 20) + 1, 4 << 20, 5 << 20])
@pytest.mark.parametrize("codec", REAL_CODECS)
def test_pieces_are_joined_at_their_borders_and_bounded(codec: CompressionType, size: int) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    compressed = compress(codec, data, 2)
    assert decompress(codec, compressed, 2, size) == data
    with pytest.raises(CorruptRecordError, match="expand to more than"):
        decompress(codec, compressed, 2, size - 1)
