"""Task 4: a slice, and the four limits that may end it."""

import pytest

SIZE = 205  # of a batch of three messages in format v2

ENOUGH = 10_000


def size_of(found):
    assert found is not None, "None means that all offsets here are smaller; this one is here (perhaps with 0 bytes)"
    return found.size_in_bytes


@pytest.mark.points(3, task=4)
def test_from_the_batch_that_contains_the_offset(segment_with, batch):
    """The slice starts with a whole batch"""
    found = segment_with(4).read(24, ENOUGH)
    got = found.records.to_bytes()
    assert got != batch(24), (
        "a batch cannot be cut at its start: the slice starts with the batch 23 to 25, which contains 24"
    )
    assert len(got) == 3 * SIZE, f"from offset 24 there are three batches, {3 * SIZE} bytes; you returned {len(got)}"
    where = found.fetch_offset_metadata
    place = (where.message_offset, where.segment_base_offset, where.relative_position_in_segment)
    assert place == (24, 20, SIZE), f"its position: offset 24, segment 20, position {SIZE}, not {where}"


@pytest.mark.points(2, task=4)
def test_an_offset_after_the_segment(segment_with):
    """All offsets of the segment are smaller"""
    found = segment_with(4).read(32, ENOUGH)
    assert found is None, f"32 is after the last batch: None, so that the log reads the next segment; not {found}"


@pytest.mark.points(3, task=4)
def test_the_size_limit(segment_with):
    """max_size, which may cut a batch"""
    segment = segment_with(4)
    assert size_of(segment.read(20, 300)) == 300, "the limit is 300 bytes: the slice may end in the middle of a batch"
    found = segment.read(20, 100)
    assert size_of(found) == 100, "without min_one_message the limit applies, even to the first batch"
    assert found.first_entry_incomplete, (
        "100 bytes of 205: the first batch is incomplete, so set first_entry_incomplete"
    )
    assert not segment.read(20, SIZE).first_entry_incomplete, f"{SIZE} bytes are the whole first batch: it is complete"
    found = segment.read(20, 0)
    assert size_of(found) == 0, "the limit is 0 bytes: none of them, but the offset is in this segment"
    assert not found.first_entry_incomplete, (
        "0 bytes are no part of the first batch: nothing is read, and first_entry_incomplete stays false"
    )


@pytest.mark.points(3, task=4)
def test_min_one_message(segment_with):
    """The first batch is complete on request"""
    found = segment_with(4).read(20, 1, min_one_message=True)
    assert size_of(found) == SIZE, f"with min_one_message the first batch is complete: {SIZE} bytes, not {found}"
    assert not found.first_entry_incomplete, "the first batch is complete, since min_one_message raised the limit"
    got = size_of(segment_with(4).read(26, 1, max_offset=26, min_one_message=True))
    assert got == 0, f"the batch at 26 is not committed yet: no promise makes it visible, and {got} bytes are too many"


@pytest.mark.points(2, task=4)
def test_the_visible_end(segment_with):
    """max_position: the log end when the read started"""
    found = segment_with(4).read(20, ENOUGH, max_position=2 * SIZE)
    assert size_of(found) == 2 * SIZE, f"readers may see {2 * SIZE} bytes, whatever has been appended since: {found}"
    found = segment_with(4).read(20, ENOUGH, max_offset=29, max_position=2 * SIZE)
    assert size_of(found) == 2 * SIZE, "the high watermark allows three batches, max_position two: use the smaller"
    got = size_of(segment_with(4).read(20, ENOUGH, max_position=0))
    assert got == 0, f"max_position 0 means that nothing may be seen yet, only None means no limit: not {got} bytes"


@pytest.mark.points(3, task=4)
def test_the_high_watermark(segment_with):
    """max_offset is exclusive"""
    segment = segment_with(4)
    got = size_of(segment.read(20, ENOUGH, max_offset=26))
    assert got != 3 * SIZE, "the high watermark 26 is the first offset that is *not* committed: end before its batch"
    assert got == 2 * SIZE, f"20 to 25 are committed: {2 * SIZE} bytes, not {got}"
    got = size_of(segment.read(20, ENOUGH, max_offset=100))
    assert got == 4 * SIZE, f"a high watermark above the segment: all of it, {4 * SIZE} bytes, not {got}"


@pytest.mark.points(2, task=4)
def test_a_read_above_the_high_watermark(segment_with):
    """A consumer that is ahead of the high watermark"""
    segment = segment_with(4)
    for high_watermark in (26, 20, 0):
        got = size_of(segment.read(26, ENOUGH, max_offset=high_watermark))
        assert got == 0, f"read from 26, high watermark {high_watermark}: there is nothing to read now, not {got} bytes"


@pytest.mark.points(2, task=4)
def test_a_reader_that_knows_the_position(segment_with, begun):
    """starting_position saves the search"""
    segment = segment_with(4)
    begun = begun(segment)
    segment.read(30, ENOUGH, starting_position=3 * SIZE)
    assert begun == [3 * SIZE], (
        f"the reader knows that {3 * SIZE} is not beyond offset 30: pass it to translate_offset; you began at {begun}"
    )
