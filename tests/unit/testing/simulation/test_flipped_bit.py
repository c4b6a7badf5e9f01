"""A flipped bit is where a checksum sees it, and is put right unless the file was written anew."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import CRC_BYTES, CRC_POSITION, RECORD_BATCH_OVERHEAD
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.record.records import batches
from kafka_lite.testing.simulation.flipped_bit import FlippedBit, Spot, draw_position


def two_batches() -> bytes:
    written = b""
    for offset in (0, 1):
        builder = MemoryRecordsBuilder(2, CompressionType.NONE, base_offset=offset)
        builder.append(1000, b"key", f"value-{offset}".encode())
        written += bytes(builder.build())
    return written


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(two_batches())
    return path


def second(segment: Path) -> Spot:
    """The second batch of the file."""
    size = len(two_batches()) // 2
    return Spot("t", 0, segment, position=size, size=size)


def test_every_position_is_one_that_the_checksum_covers_and_all_are_drawn(segment: Path) -> None:
    spot = second(segment)
    drawn = {draw_position(Random(seed), spot) - spot.position for seed in range(2000)}
    checksum = set(range(CRC_POSITION, CRC_POSITION + CRC_BYTES))
    assert drawn == checksum | set(range(RECORD_BATCH_OVERHEAD, spot.size))


@pytest.mark.parametrize("seed", range(20))
def test_the_batch_is_corrupt_until_the_bit_is_put_right(segment: Path, seed: int) -> None:
    flipped = FlippedBit(second(segment), draw_position(Random(seed), second(segment)), bit=seed % 8)
    good, bad = batches(segment.read_bytes())
    good.ensure_valid()
    assert [record.offset for record in good.records()] == [0]
    assert (bad.base_offset, bad.next_offset) == (1, 2)
    with pytest.raises(CorruptRecordError):
        bad.ensure_valid()
    assert flipped.put_right()
    assert segment.read_bytes() == two_batches()


def test_a_file_that_was_cut_off_and_written_anew_is_left_as_it_is(segment: Path) -> None:
    spot = second(segment)
    flipped = FlippedBit(second(segment), spot.position + RECORD_BATCH_OVERHEAD + 2, bit=3)
    with open(segment, "r+b") as file:
        file.truncate(spot.position)
        file.seek(spot.position)
        file.write(two_batches()[spot.position :])
    assert not flipped.put_right()
    assert segment.read_bytes() == two_batches()


def test_a_file_that_ends_right_behind_the_bit_is_put_right(segment: Path) -> None:
    position = second(segment).position + RECORD_BATCH_OVERHEAD
    flipped = FlippedBit(second(segment), position, bit=0)
    with open(segment, "r+b") as file:
        file.truncate(position + 1)
    segment = segment.rename(segment.with_suffix(".deleted"))
    assert flipped.put_right()
    assert segment.read_bytes() == two_batches()[: position + 1]
