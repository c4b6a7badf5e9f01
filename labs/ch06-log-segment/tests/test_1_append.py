"""Task 1: the bytes, then their index entry, then the counter."""

import pytest

SIZE = 205  # of a batch of three messages in format v2


def entries(segment):
    return [tuple(segment.offset_index.entry(n)) for n in range(segment.offset_index.entries)]


@pytest.mark.points(3, task=1)
def test_batches_are_written_one_after_the_other(new_segment, append, batch):
    """The bytes of two batches"""
    segment = new_segment()
    append(segment, 20)
    append(segment, 23)
    got, want = segment.log.read(0, 1000).to_bytes(), batch(20) + batch(23)
    assert got == want, f"the file should contain the two batches of {SIZE} bytes and no more; it has {len(got)} bytes"


@pytest.mark.points(4, task=1)
def test_the_first_append_adds_no_entry(new_segment, append):
    """No entry for the start of the file"""
    segment = new_segment(index_interval_bytes=0)
    append(segment, 20, count=9)
    why = "a reader without an entry starts at 0 anyway; compare the counter before you add the new bytes to it"
    assert entries(segment) == [], f"the first append of a segment adds no entry, however large it is: {why}"


@pytest.mark.points(4, task=1)
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


@pytest.mark.points(2, task=1)
def test_the_largest_timestamp_so_far(new_segment, append):
    """Timestamps that go backwards"""
    segment = new_segment(index_interval_bytes=10_000)
    for offset, timestamp in ((20, 5000), (23, 9000), (26, 1000)):
        append(segment, offset, timestamp=timestamp)
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 25), f"the largest timestamp is 9002, in the batch up to 25; you have {got}: the newest?"


@pytest.mark.points(3, task=1)
def test_an_error_changes_nothing(new_segment, monkeypatch, append):
    """A full disk, and an offset that is too large"""
    segment = new_segment(index_interval_bytes=0)
    append(segment, 20)

    def full(_records):
        raise OSError(28, "No space left on device")

    before = (segment.size, entries(segment), segment.max_timestamp_so_far)
    with monkeypatch.context() as patch:
        patch.setattr(segment.log, "append", full)
        with pytest.raises(OSError, match="No space"):
            append(segment, 23, timestamp=9000)
    after = (segment.size, entries(segment), segment.max_timestamp_so_far)
    why = "write the messages first: an entry for a missing batch leads readers beyond the end"
    assert after == before, f"the disk was full, nothing was written, but (size, index, timestamp) is {after}: {why}"
    try:
        append(segment, 20 + 2**31)
    except ValueError:
        pass
    else:
        pytest.fail("an offset 2**31 above the base does not fit into an index entry: ValueError, and nothing written")
    assert segment.size == SIZE, f"the append was rejected, but the file has {segment.size} bytes: check first"
