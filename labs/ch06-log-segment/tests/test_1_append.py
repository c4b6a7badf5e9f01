"""Task 1: the bytes, then their index entry, then the counter."""

import pytest

from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.producers.aborted_txn import AbortedTxn

SIZE = 205  # of a batch of three messages in format v2


def entries(segment):
    return [tuple(segment.offset_index.entry(n)) for n in range(segment.offset_index.entries)]


def no_space(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.points(2, task=1)
def test_batches_are_written_one_after_the_other(new_segment, append, batch):
    """The bytes of two batches"""
    segment = new_segment()
    append(segment, 20)
    append(segment, 23)
    got, want = segment.log.read(0, 1000).to_bytes(), batch(20) + batch(23)
    assert got == want, f"the file should contain the two batches of {SIZE} bytes and no more; it has {len(got)} bytes"


@pytest.mark.points(3, task=1)
def test_the_first_append_adds_no_entry(new_segment, append):
    """No entry for the start of the file"""
    segment = new_segment(index_interval_bytes=0)
    append(segment, 20, count=9)
    why = "a reader without an entry starts at 0 anyway; compare the counter before you add the new bytes to it"
    assert entries(segment) == [], f"the first append of a segment adds no entry, however large it is: {why}"


@pytest.mark.points(3, task=1)
def test_an_entry_per_interval(new_segment, append):
    """Entries for six batches, an interval of 300 bytes"""
    segment = new_segment()
    for offset in range(20, 38, 3):
        append(segment, offset)
    got, want = entries(segment), [(28, 410), (34, 820)]
    assert got != [(28, 615), (34, 1025)], f"{got}: these positions are after the batches; where does each begin?"
    assert len(got) <= 2, f"{got}: after an entry the counter restarts, with the batch that the entry describes"
    assert got == want, f"entries (last offset, position) should be {want}, yours are {got}"


@pytest.mark.points(2, task=1)
def test_exactly_the_interval_is_not_enough(new_segment, append):
    """More than the interval, not equal to it"""
    segment = new_segment(index_interval_bytes=SIZE)
    append(segment, 20)
    append(segment, 23)
    assert entries(segment) == [], f"{SIZE} bytes were written, the interval is {SIZE}: an entry is due after *more*"
    append(segment, 26)
    assert len(entries(segment)) == 1, f"{2 * SIZE} bytes since the start are more than {SIZE}: an entry is due"


@pytest.mark.points(2, task=1)
def test_the_offset_of_an_entry(new_segment, append):
    """v1 is indexed by the first offset of the append, v2 by the last"""
    segment = new_segment(index_interval_bytes=0)
    append(segment, 20, magic=1)
    append(segment, 23, magic=1)
    got = entries(segment)[0][0]
    assert got == 23, f"an append of 23 to 25 in format v1 is indexed as Kafka 0.10 does, by 23, not {got}"
    append(segment, 26)
    got = entries(segment)[1][0]
    assert got == 28, f"an append of 26 to 28 in format v2 is indexed by its last offset, 28, not {got}"


@pytest.mark.points(1, task=1)
def test_both_indexes(new_segment, append):
    """The time index gets an entry, too"""
    segment = new_segment()
    for offset in range(20, 29, 3):
        append(segment, offset, timestamp=1000 * offset)
    assert segment.time_index.entries == 1, (
        f"the third append is due for an entry in both indexes: use self._append_index_entries; "
        f"the time index has {segment.time_index.entries} entries"
    )
    got = tuple(segment.time_index.last_entry)
    assert got == (26002, 28), (
        f"the time index says up to where all messages are older: 26002 at 28, which this append has just brought, "
        f"not {got}; store the largest timestamp before the entries"
    )


@pytest.mark.points(1, task=1)
def test_the_largest_timestamp_so_far(new_segment, append):
    """Timestamps that go backwards"""
    segment = new_segment(index_interval_bytes=10_000)
    for offset, timestamp in ((20, 5000), (23, 9000), (26, 1000)):
        append(segment, offset, timestamp=timestamp)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 25), f"the largest timestamp is 9002, in the batch up to 25; you have {got}: the newest?"


@pytest.mark.points(1, task=1)
def test_the_offset_of_the_largest_timestamp(new_segment, append, batch):
    """Two batches in one append, and equal timestamps"""
    segment = new_segment(index_interval_bytes=10_000)
    records = batch(20, timestamp=9000) + batch(23, timestamp=1000)
    segment.append(analyze_and_validate_records(records), records)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 22), (
        f"the largest timestamp is in the first of two batches that came together: 9002 at 22, not {got}; "
        "info.offset_of_max_timestamp knows"
    )
    append(segment, 26, timestamp=9000)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 22), f"9002 comes again at 28: whoever asks for that time wants the first one, 22, not {got}"


@pytest.mark.points(1, task=1)
def test_the_first_timestamp(new_segment, append):
    """The age of the segment begins with its first batch"""
    segment = new_segment(index_interval_bytes=10_000)
    for offset, timestamp in ((20, 5000), (23, 9000)):
        append(segment, offset, timestamp=timestamp)
    got = segment.first_batch_timestamp
    assert got == 5002, f"the first batch has 5002, from which the age counts until the roll: not {got}"


@pytest.mark.points(2, task=1)
def test_an_error_changes_nothing(new_segment, monkeypatch, append):
    """A full disk, and an offset that is too large"""
    segment = new_segment(index_interval_bytes=0)
    append(segment, 20)
    before = (segment.size, entries(segment), segment.max_timestamp_so_far)
    with monkeypatch.context() as patch:
        patch.setattr(segment.log, "append", no_space)
        with pytest.raises(OSError, match="No space"):
            append(segment, 23, timestamp=9000)
    after = (segment.size, entries(segment), segment.max_timestamp_so_far)
    why = "write the messages first: an entry for a missing batch leads readers beyond the end"
    assert after == before, f"the disk was full, nothing was written, but (size, index, timestamp) is {after}: {why}"
    for first, what in ((20 + 2**31, "an offset"), (20 + 2**31 - 2, "the last offset of a batch")):
        try:
            append(segment, first)
        except ValueError:
            pass
        except OverflowError:
            pytest.fail(f"{what} 2**31 above the base was noticed by the index, behind the messages: check first")
        else:
            pytest.fail(f"{what} 2**31 above the base does not fit into an index entry: ValueError, nothing written")
        assert segment.size == SIZE, f"the append was rejected, but the file has {segment.size} bytes: check first"


@pytest.mark.points(1, task=1)
def test_room_for_the_entry_is_reserved_first(new_segment, monkeypatch, append):
    """A disk without room for an index entry"""
    for index in ("offset_index", "time_index"):
        segment = new_segment(index_interval_bytes=0)
        append(segment, 20)
        monkeypatch.setattr(getattr(segment, index), "reserve", no_space)
        try:
            append(segment, 23)
        except OSError:
            pass
        else:
            pytest.fail(
                f"an entry is due, and the disk has no room for it: ask self.{index}.reserve() before you write"
            )
        assert segment.size == SIZE, (
            f"the append failed, but the file has {segment.size} bytes: reserve before you write"
        )
        assert segment.offset_index.entries == 0, "the append failed, but the index has an entry"


@pytest.mark.points(1, task=1)
def test_aborted_transactions(new_segment, monkeypatch, batch):
    """The transaction index, and a full disk again"""
    segment, records = new_segment(), batch(20)
    info, aborted = analyze_and_validate_records(records), AbortedTxn(7, 20, 22, 20)
    with monkeypatch.context() as patch:
        patch.setattr(segment.log, "append", no_space)
        with pytest.raises(OSError, match="No space"):
            segment.append(info, records, [aborted, AbortedTxn(8, 21, 24, 20)])
    left = list(segment.txn_index.entries)
    assert left == [], "the disk was full and nothing was written, but the transaction index has the aborted one"
    segment.append(info, records, [aborted])
    found = list(segment.txn_index.entries)
    assert found == [aborted], f"the transaction index needs what is aborted, {aborted}; it has {found}"
