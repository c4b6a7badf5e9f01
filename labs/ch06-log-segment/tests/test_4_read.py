"""Task 4: a slice, and the four reasons for it to end."""

import pytest

SIZE = 205  # of a batch of three messages in format v2

ENOUGH = 10_000


def size_of(found):
    assert found is not None, "None says that all offsets here are smaller; this one is here (maybe with 0 bytes)"
    return found.size_in_bytes


@pytest.mark.points(4, task=4)
def test_from_the_batch_that_has_the_offset(segment_with, batch):
    """The slice begins with a whole batch"""
    found = segment_with(4).read(24, ENOUGH)
    got = found.records.to_bytes()
    assert got != batch(24), "nobody can cut a batch: it begins with the batch 23 to 25, which has 24"
    assert len(got) == 3 * SIZE, f"from offset 24 there are three batches, {3 * SIZE} bytes; you gave {len(got)}"
    where = found.fetch_offset_metadata
    place = (where.message_offset, where.segment_base_offset, where.relative_position_in_segment)
    assert place == (24, 20, SIZE), f"where it is: offset 24, segment 20, position {SIZE}, not {where}"


@pytest.mark.points(2, task=4)
def test_an_offset_that_is_not_here(segment_with):
    """All offsets of the segment are smaller"""
    found = segment_with(4).read(32, ENOUGH)
    assert found is None, f"32 is behind the last batch: None, so that the log looks into the next segment; not {found}"


@pytest.mark.points(4, task=4)
def test_the_size_limit(segment_with):
    """max_size, which may cut a batch"""
    segment = segment_with(4)
    assert size_of(segment.read(20, 300)) == 300, "the limit is 300 bytes: it may end in the midst of a batch"
    found = segment.read(20, 100)
    assert size_of(found) == 100, "without min_one_message the limit holds, even in the first batch"
    assert found.first_entry_incomplete, "100 bytes of 205: the first batch is cut, say so with first_entry_incomplete"
    assert not segment.read(20, SIZE).first_entry_incomplete, f"{SIZE} bytes are the whole first batch: it is complete"


@pytest.mark.points(3, task=4)
def test_min_one_message(segment_with):
    """The first batch comes whole, if that is asked for"""
    found = segment_with(4).read(20, 1, min_one_message=True)
    assert size_of(found) == SIZE, f"with min_one_message the first batch comes whole: {SIZE} bytes, not {found}"
    assert not found.first_entry_incomplete, "the first batch is complete, since min_one_message raised the limit"


@pytest.mark.points(2, task=4)
def test_what_readers_may_see(segment_with):
    """max_position: the log end when the read began"""
    found = segment_with(4).read(20, ENOUGH, max_position=2 * SIZE)
    assert size_of(found) == 2 * SIZE, f"readers may see {2 * SIZE} bytes, whatever has been appended since: {found}"
    found = segment_with(4).read(20, ENOUGH, max_offset=29, max_position=2 * SIZE)
    assert size_of(found) == 2 * SIZE, "the high watermark allows three batches, max_position two: the smaller"


@pytest.mark.points(3, task=4)
def test_the_high_watermark(segment_with):
    """max_offset is not included"""
    segment = segment_with(4)
    got = size_of(segment.read(20, ENOUGH, max_offset=26))
    assert got != 3 * SIZE, "the high watermark 26 is the first offset that is *not* committed: end before its batch"
    assert got == 2 * SIZE, f"20 to 25 are committed: {2 * SIZE} bytes, not {got}"
    got = size_of(segment.read(20, ENOUGH, max_offset=100))
    assert got == 4 * SIZE, f"a high watermark beyond the segment: all of it, {4 * SIZE} bytes, not {got}"


@pytest.mark.points(2, task=4)
def test_a_high_watermark_before_the_start(segment_with):
    """A consumer that is ahead of the high watermark"""
    segment = segment_with(4)
    for high_watermark in (26, 20):
        got = size_of(segment.read(26, ENOUGH, max_offset=high_watermark))
        assert got == 0, f"read from 26, high watermark {high_watermark}: there is nothing to read now, not {got} bytes"
