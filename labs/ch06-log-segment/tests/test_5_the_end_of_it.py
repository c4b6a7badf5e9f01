"""Task 5: where a segment ends, and how to truncate it."""

import pytest

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.record.record import CorruptRecordError

SIZE = 205  # of a batch of three messages in format v2
OF_THE_OLD_END = "an index entry of the old end is still in use: set self._last_index_entry to None"


@pytest.mark.points(1, task=5)
def test_the_next_offset(segment_with, new_segment):
    """read_next_offset, with and without an index"""
    for index in ((), [(25, SIZE)]):
        got = segment_with(3, index=index).read_next_offset()
        assert got != 28, "28 is the last offset; the next one is 29"
        assert got == 29, f"the last batch ends at 28, so the next offset is 29, not {got}"
    empty = new_segment(50).read_next_offset()
    assert empty == 50, f"an empty segment's next offset is its base offset, 50, not {empty}"


@pytest.mark.points(1, task=5)
def test_the_search_for_the_end_begins_at_the_last_entry(segment_with, begun):
    """read_next_offset does not read the whole file"""
    segment = segment_with(3, index=[(25, SIZE)])
    begun = begun(segment)
    segment.read_next_offset()
    assert begun == [SIZE], f"the last index entry is 25 → {SIZE}: begin there, in a file of a gigabyte, not at {begun}"


@pytest.mark.points(2, task=5)
def test_all_three_files_are_truncated(segment_with):
    """truncate_to removes the end of log and indexes"""
    segment = segment_with(4, index=[(25, SIZE), (31, 3 * SIZE)])
    transactions = [AbortedTxn(7, 20, 23, 20), AbortedTxn(7, 26, 29, 26)]
    segment.txn_index.append(transactions)
    segment.time_index.maybe_append(1012, 25)
    segment.time_index.maybe_append(1032, 31)
    got = segment.truncate_to(27)
    assert segment.size == 2 * SIZE, (
        f"27 is in the batch 26 to 28, which is removed as a whole: {2 * SIZE} bytes are left"
    )
    assert got == 2 * SIZE, f"{2 * SIZE} bytes were cut off, you returned {got}"
    left = (segment.offset_index.entries, segment.time_index.entries)
    assert left == (1, 1), f"entries for offset 31 point beyond the end: one is left in each index, not {left}"
    left = list(segment.txn_index.entries)
    assert left == transactions[:1], f"the marker at 29 is gone, and so is its transaction; the index still has {left}"


@pytest.mark.points(1, task=5)
def test_an_offset_behind_the_end(segment_with):
    """Nothing to remove"""
    segment = segment_with(4)
    got = segment.truncate_to(32)
    assert (got, segment.size) == (0, 4 * SIZE), (
        f"all offsets are below 32: nothing is removed, 0 bytes; you returned {got}, and {segment.size} bytes are left"
    )


@pytest.mark.points(1, task=5)
def test_the_largest_timestamp_is_recomputed(segment_with, append):
    """The newest message may be among those removed"""
    segment = segment_with(0)
    for offset, timestamp in ((20, 5000), (23, 9000), (26, 1000)):
        append(segment, offset, timestamp=timestamp)
    segment.truncate_to(23)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (5002, 22), f"the message with 9002 is gone, so the largest timestamp is 5002 at 22 again, not {got}"
    segment = segment_with(0)
    append(segment, 20, count=1, timestamp=0)
    segment.truncate_to(20)
    got, _ = segment.max_timestamp_so_far
    assert got == -1, f"0 is a timestamp, and the only message that had it is gone: -1, none is left, not {got}"


@pytest.mark.points(1, task=5)
def test_appends_after_a_truncation(segment_with, append):
    """The counter, and the entry that was remembered, are of the old end"""
    segment = segment_with(0)
    for offset in range(20, 38, 3):
        append(segment, offset)
    segment.truncate_to(26)
    before = segment.offset_index.entries
    append(segment, 26, count=30)
    assert segment.offset_index.entries == before, (
        "after a truncation the counter begins at 0: this append is the first one since, and gets no entry"
    )
    try:
        found = segment.translate_offset(40)
    except CorruptRecordError as error:
        pytest.fail(f"{OF_THE_OLD_END} ({error})")
    assert found is not None, f"offset 40 is in the new batch 26 to 55, and was not found; {OF_THE_OLD_END}"
    assert found.position == 2 * SIZE, f"offset 40 is in the new batch at {2 * SIZE}; {OF_THE_OLD_END}"


@pytest.mark.points(1, task=5)
def test_the_age_of_what_is_left(segment_with, time):
    """A segment that keeps messages is not a new one"""
    segment = segment_with(2, magic=0)
    time.sleep(5001)
    segment.truncate_to(23)
    waited = segment.time_waited_for_roll(time.milliseconds(), -1)
    assert waited == 5001, f"its first message has been there for 5001 ms, truncated or not: not {waited} ms"


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
