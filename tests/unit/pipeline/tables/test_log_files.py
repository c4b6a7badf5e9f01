"""The broker's files as rows: batches and index entries. Without Spark and without a broker."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from pipeline.tables.log_files import (
    BATCH_SCHEMA,
    HEADER,
    INDEX_SCHEMA,
    OldFormatError,
    _batches_of_files,
    _columns,
    _entries_of_files,
    parse_header,
    parse_index,
    read_headers,
    segment_files,
)


@pytest.fixture
def batch() -> Callable[..., bytes]:
    """``batch(base_offset, count)``: a batch as the producer's own encoder writes it."""

    def build(base_offset: int, count: int = 3, codec: str = "none") -> bytes:
        builder = MemoryRecordsBuilder(2, CompressionType[codec.upper()], base_offset=base_offset)
        for offset in range(base_offset, base_offset + count):
            builder.append(1_000_000 + offset, b"key", b"value " * 10, offset=offset)
        return bytes(builder.build())

    return build


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_header_gives_offsets_size_and_codec(batch: Callable[..., bytes], codec: str) -> None:
    data = batch(500, 7, codec)
    header = parse_header(data[: HEADER.size], 4096)
    assert (header.position, header.size_bytes) == (4096, len(data))
    assert (header.base_offset, header.last_offset, header.record_count) == (500, 506, 7)
    assert (header.codec, header.max_timestamp_ms, header.producer_id) == (codec, 1_000_506, -1)


def test_a_header_of_an_older_format_is_rejected(batch: Callable[..., bytes]) -> None:
    data = bytearray(batch(0)[: HEADER.size])
    data[16] = 1
    with pytest.raises(OldFormatError, match="magic 1 at byte 77"):
        parse_header(bytes(data), 77)


@pytest.mark.parametrize("rest", [b"", bytes(5000), "half a header", "half a batch"])
def test_the_walk_ends_where_complete_batches_end(batch: Callable[..., bytes], rest: bytes | str) -> None:
    whole = batch(0, 4) + batch(4, 2, "lz4")
    torn = {"half a header": batch(6)[:30], "half a batch": batch(6)[:90]}
    data = whole + (torn[rest] if isinstance(rest, str) else rest)
    found = list(read_headers(io.BytesIO(data), len(data)))
    assert [(each.base_offset, each.position) for each in found] == [(0, 0), (4, len(batch(0, 4)))]


def test_index_entries_are_absolute_and_unused_room_is_none() -> None:
    stored = struct.pack(">ii", 12, 4200) + struct.pack(">ii", 25, 8500)
    assert parse_index(stored + bytes(80) + b"\x00\x00\x00", 5000) == [(5012, 4200), (5025, 8500)]
    assert parse_index(b"", 5000) == []


def test_segments_are_found_in_the_folders_of_partitions_only(tmp_path: Path) -> None:
    for name in ("delays-by-hour-11/00000000000000000007.log", "flights-0/00000000000000001834.log",
                 "flights-0/00000000000000000000.log", "flights-0/00000000000000000000.index",
                 "flights-0/00000000000000000900.log.deleted", "lost+found/00000000000000000000.log",
                 "gone-1.a1b2-delete/00000000000000000000.log", "flights-0/notes.log"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = segment_files(tmp_path)
    assert [row[:3] for row in found] == [("delays-by-hour", 11, 7), ("flights", 0, 0), ("flights", 0, 1834)]
    assert found[1][3] == str(tmp_path / "flights-0" / "00000000000000000000.log")


def test_files_become_rows_of_their_schemas(batch: Callable[..., bytes], tmp_path: Path) -> None:
    folder = tmp_path / "flights-2"
    folder.mkdir()
    log = folder / "00000000000000000100.log"
    log.write_bytes(batch(100, 4) + batch(104, 1))
    log.with_suffix(".index").write_bytes(struct.pack(">ii", 4, 0))
    empty = folder / "00000000000000000200.log"  # without an index
    empty.touch()
    files = pd.DataFrame(segment_files(tmp_path))
    (batches,), (entries,) = list(_batches_of_files([files])), list(_entries_of_files([files]))
    assert list(batches.columns) == _columns(BATCH_SCHEMA)
    assert list(entries.columns) == _columns(INDEX_SCHEMA)
    place = ["topic", "partition", "segment", "base_offset", "record_count"]
    assert batches[place].to_numpy().tolist() == [["flights", 2, 100, 100, 4], ["flights", 2, 100, 104, 1]]
    assert entries.to_numpy().tolist() == [["flights", 2, 100, 104, 0]]
