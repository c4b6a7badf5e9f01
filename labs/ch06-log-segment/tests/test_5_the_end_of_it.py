"""Task 5: where a segment ends, and how to truncate it."""

import pytest

SIZE = 205  # of a batch of three messages in format v2


@pytest.mark.points(3, task=5)
def test_the_next_offset(segment_with, new_segment):
    """read_next_offset, with and without an index"""
    for index in ((), [(25, SIZE)]):
        got = segment_with(3, index=index).read_next_offset()
        assert got != 28, "28 is the last offset; the next one is 29"
        assert got == 29, f"the last batch ends at 28, so the next offset is 29, not {got}"
    empty = new_segment(50).read_next_offset()
    assert empty == 50, f"an empty segment's next offset is its base offset, 50, not {empty}"


@pytest.mark.points(4, task=5)
def test_all_three_files_are_truncated(segment_with):
    """truncate_to removes the end of log and indexes"""
    segment = segment_with(4, index=[(25, SIZE), (31, 3 * SIZE)])
    segment.time_index.maybe_append(1012, 25)
    segment.time_index.maybe_append(1032, 31)
    got = segment.truncate_to(27)
    assert segment.size == 2 * SIZE, (
        f"27 is in the batch 26 to 28, which is removed as a whole: {2 * SIZE} bytes are left"
    )
    assert got == 2 * SIZE, f"{2 * SIZE} bytes were cut off, you returned {got}"
    left = (segment.offset_index.entries, segment.time_index.entries)
    assert left == (1, 1), f"entries for offset 31 point beyond the end: one is left in each index, not {left}"


@pytest.mark.points(1, task=5)
def test_the_largest_timestamp_is_recomputed(segment_with, append):
    """The newest message may be among those removed"""
    segment = segment_with(0)
    for offset, timestamp in ((20, 5000), (23, 9000), (26, 1000)):
        append(segment, offset, timestamp=timestamp)
    segment.truncate_to(23)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (5002, 22), f"the message with 9002 is gone, so the largest timestamp is 5002 at 22 again, not {got}"


@pytest.mark.points(1, task=5)
def test_the_indexes_have_space_again(segment_with):
    """The segment becomes the active one"""
    segment = segment_with(4, index=[(25, SIZE)])
    segment.on_become_inactive_segment()
    segment.truncate_to(26)
    assert not segment.offset_index.is_full, (
        "the index was trimmed when the segment rolled: resize it, for appends continue"
    )


@pytest.mark.points(1, task=5)
def test_truncating_everything(segment_with, time):
    """Nothing is left: the segment is like a new one"""
    segment = segment_with(2)
    assert segment.first_batch_timestamp == 1002
    time.sleep(500)
    segment.truncate_to(20)
    assert segment.size == 0, f"all offsets are at or above 20: nothing is left, not {segment.size} bytes"
    got = segment.first_batch_timestamp
    assert got == -1, f"the first message is gone, but its timestamp {got} would make the next one roll too early"
    assert segment.time_waited_for_roll(time.milliseconds(), 0) == 0, "an emptied segment is as old as a new one: 0 ms"
