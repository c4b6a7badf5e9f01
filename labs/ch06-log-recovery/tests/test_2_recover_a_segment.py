"""Task 2: read it once; what holds stays, with indexes as new, and the rest goes."""

import struct

import pytest

SIZE = 205  # of a batch of three messages in format v2


def entries(segment):
    return [tuple(segment.offset_index.entry(n)) for n in range(segment.offset_index.entries)]


@pytest.mark.points(4, task=2)
def test_a_sound_segment(write_segment, open_segment):
    """Nothing is wrong, nothing goes"""
    file = write_segment(20, 6, closed=False)
    before = file.read_bytes()
    segment = open_segment()
    cut = segment.recover()
    assert cut != 6 * SIZE, f"{cut} is how much is good; how many bytes were cut off?"
    assert cut == 0, f"nothing was wrong, so 0 bytes were cut off, not {cut}"
    assert file.read_bytes() == before, "the log of a sound segment must not change"


@pytest.mark.points(5, task=2)
def test_the_indexes_are_those_that_appends_make(write_segment, open_segment):
    """Both indexes, entry by entry"""
    write_segment(20, 6, closed=False)
    segment = open_segment()
    try:
        segment.recover()
    except (struct.error, ValueError) as error:  # what full, unsorted and unmapped indexes raise
        pytest.fail(f"what the crash has left in the indexes is in the way. Reset the indexes first ({error})")
    got, want = entries(segment), [(28, 410), (34, 820)]
    assert len(got) <= len(want), f"{got}: is that what was there before? Reset the indexes first; count as append"
    assert got == want, f"appends made the entries {want}; yours are {got}: compare before you count, > and not >="
    times = [tuple(segment.time_index.entry(n)) for n in range(segment.time_index.entries)]
    assert times[-1] == (352, 37), f"the last entry of the time index is the largest timestamp: (352, 37), not {times}"
    sizes = [part.file.stat().st_size for part in (segment.offset_index, segment.time_index)]
    assert sizes == [16, 36], f"a recovered segment is closed in form, indexes trimmed to 16 and 36 bytes, not {sizes}"


@pytest.mark.points(5, task=2)
def test_every_torn_tail(write_segment, open_segment):
    """The last batch torn at many places"""
    file = write_segment(20, 3, closed=False)
    whole = file.read_bytes()
    for left in (1, 11, 12, 17, 60, 61, 100, SIZE - 1):
        file.write_bytes(whole[: 2 * SIZE + left])
        segment = open_segment()
        cut = segment.recover()
        assert (segment.size, cut) == (2 * SIZE, left), (
            f"{left} bytes of the third batch are there: cut them off and say so; {cut} cut, {segment.size} left"
        )
        assert file.stat().st_size == 2 * SIZE, f"the file must be {2 * SIZE} bytes long, not {file.stat().st_size}"


@pytest.mark.points(5, task=2)
def test_damage_in_the_midst(write_segment, open_segment, damage):
    """A bit flips in the second of four batches"""
    file = write_segment(20, 4, closed=False)
    damage(file, SIZE + 100)
    segment = open_segment()
    cut = segment.recover()
    assert segment.size != 4 * SIZE, "the second batch is damaged, but all four are still there"
    assert segment.size <= SIZE, "the damaged batch is still there: count a batch only when it has been found valid"
    why = "what lies behind a bad batch goes as well, or the log has a hole"
    assert (segment.size, cut) == (SIZE, 3 * SIZE), f"one batch is left, three go: {why}; {segment.size}, {cut} cut"


@pytest.mark.points(2, task=2)
def test_the_largest_timestamp(write_segment, open_segment):
    """Timestamps in disorder"""
    write_segment(20, 3, closed=False, timestamps=[5000, 9000, 1000])
    segment = open_segment()
    segment.recover()
    got = tuple(segment.max_timestamp_so_far)
    assert got == (9002, 25), f"the largest timestamp is 9002, in the batch that ends at 25, not {got}"


@pytest.mark.points(2, task=2)
def test_old_formats_are_indexed_by_their_first_offset(write_segment, open_segment):
    """Compressed messages of format v1"""
    write_segment(20, 8, closed=False, magic=1)
    segment = open_segment()
    segment.recover()
    got = [offset for offset, _ in entries(segment)]
    assert got, "eight compressed sets are more than 300 bytes: there must be an entry"
    assert all((offset - 20) % 3 == 0 for offset in got), (
        f"v1 is indexed by the *first* offset of a set, which only the loaded batch knows (base_offset); yours: {got}"
    )


@pytest.mark.points(2, task=2)
def test_leader_epochs_are_found_again(write_segment, open_segment):
    """Epochs go to the cache"""
    write_segment(20, 4, closed=False, epochs=[3, 3, 5, 5])
    seen = []

    class Cache:
        def assign_newer(self, epoch, offset):
            seen.append((epoch, offset))

    open_segment().recover(Cache())
    want = [(3, 20), (3, 23), (5, 26), (5, 29)]
    assert seen == want, f"each batch tells its epoch and first offset to the cache: {want}, not {seen}"
