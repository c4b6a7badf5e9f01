"""Task 1: what makes a batch valid."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.record.record import CorruptRecordError


def header(segment, number=0):
    return list(segment.log.batches_from())[number]


def must_be_corrupt(segment, number, next_offset, why):
    """_load_valid raises CorruptRecordError."""
    must_raise(CorruptRecordError, why, segment._load_valid, header(segment, number), next_offset)


@pytest.mark.points(3, task=1)
def test_a_valid_batch_is_loaded(write_segment, open_segment):
    """A batch without errors"""
    write_segment(20)
    segment = open_segment()
    loaded = segment._load_valid(header(segment, 1), 23)
    assert loaded is not None, "return the whole batch: recover needs it for the index"
    assert hasattr(loaded, "records"), "return the loaded batch, not its header, which has no records"
    assert [record.offset for record in loaded.records()] == [23, 24, 25], "the second batch has offsets 23, 24, 25"


@pytest.mark.points(3, task=1)
def test_a_wrong_checksum(write_segment, open_segment, damage):
    """A bit has flipped in a message"""
    damage(write_segment(20), 205 + 100)
    must_be_corrupt(
        open_segment(), 1, 23, "a bit has flipped in the batch at 205: only its CRC shows it; ensure_valid?"
    )


@pytest.mark.points(2, task=1)
def test_an_offset_that_goes_backwards(write_segment, open_segment):
    """The offset is not covered by the CRC"""
    write_segment(20)
    why = "the batch 20 to 22 cannot come where 26 is due, though its CRC is right: check the offset yourself"
    must_be_corrupt(open_segment(), 0, 26, why)


@pytest.mark.points(1, task=1)
def test_an_offset_that_is_too_large(open_segment, batch, folder):
    """An offset that no index entry can store"""
    (folder / f"{20:020d}.log").write_bytes(batch(20 + 2**31))
    must_be_corrupt(open_segment(), 0, 20, "2**31 above the base offset cannot belong to this segment")


@pytest.mark.points(1, task=1)
def test_gaps_are_allowed(write_segment, open_segment):
    """Compaction leaves gaps"""
    write_segment(20, 2, offsets=[20, 90])
    segment = open_segment()
    try:
        segment._load_valid(header(segment, 1), 23)
    except CorruptRecordError as error:
        pytest.fail(f"90 after 22 is valid: compaction leaves gaps. You reject it: {error}")
