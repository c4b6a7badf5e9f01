"""Task 3: which segments are recovered at the start, and which indexes are trusted."""

import math

import pytest


@pytest.mark.points(2, task=3)
def test_a_valid_segment_is_not_read(write_segment, loader, recovered):
    """Plausible indexes are trusted"""
    write_segment(20)
    segment = loader(clean=True)._load_segment(20)
    assert segment.base_offset == 20, f"segment 20 was requested, not {segment.base_offset}"
    assert recovered == [], "nothing is wrong with this segment: a broker with 1 TB must not read it at every start"


@pytest.mark.points(2, task=3)
def test_without_an_offset_index(write_segment, loader, recovered):
    """The .index file is missing"""
    write_segment(20).with_suffix(".index").unlink()
    segment = loader(clean=True)._load_segment(20)
    why = "look for the file before you open the segment: opening creates it"
    assert recovered == [20], f"the offset index is missing and must be rebuilt from the log; {why}"
    assert segment.offset_index.entries == 1, f"one entry is due, but there are {segment.offset_index.entries}"
    file = write_segment(60)
    for suffix in (".index", ".timeindex"):
        file.with_suffix(suffix).unlink()
    segment = loader(clean=True)._load_segment(60)
    size = segment.time_index.file.stat().st_size
    assert size > 0, (
        "both indexes were missing, and recover has rebuilt both: resize a time index to 0 only if nothing was "
        "rebuilt; yours has 0 bytes"
    )


@pytest.mark.points(2, task=3)
def test_an_implausible_index(write_segment, loader, recovered):
    """The index of a broker that was killed"""
    write_segment(20, closed=False)
    segment = loader(clean=True)._load_segment(20)
    assert recovered == [20], "the index ends in zeros, so it was not closed: sanity_check raises; then rebuild it"
    segment.sanity_check()


@pytest.mark.points(1, task=3)
def test_without_a_time_index(write_segment, loader, recovered):
    """A log that Kafka 0.10.0 wrote"""
    write_segment(20).with_suffix(".timeindex").unlink()
    segment = loader(clean=True)._load_segment(20)
    assert recovered == [], (
        "a missing time index is no reason to read the whole log at the first start with a new version"
    )
    got = segment.time_index.file.stat().st_size
    assert got == 0, f"the new time index would look like an unclosed one: resize it to 0, not {got} bytes"


@pytest.mark.points(2, task=3)
def test_the_first_segment_to_recover(write_segment, loader):
    """The recovery point, and the segment that contains it"""
    for base_offset in (20, 32, 44):
        write_segment(base_offset)
    got = loader(recovery_point=40, clean=True)._first_to_recover()
    assert got == math.inf, f"after a clean shutdown nothing is recovered: math.inf, not {got}"
    for point, want in ((20, 20), (31, 20), (32, 32), (40, 32), (44, 44), (99, 44)):
        got = loader(recovery_point=point)._first_to_recover()
        why = "the recovery point lies within a segment, which is recovered as a whole"
        assert got == want, f"segments 20, 32, 44, recovery point {point}: from segment {want} on, not {got}; {why}"


@pytest.mark.points(1, task=3)
def test_transactions_of_a_rebuilt_segment(write_segment, loader, recovered_with):
    """The transaction index is rebuilt, too"""
    write_segment(20).with_suffix(".index").unlink()
    write_segment(32, closed=False)
    for base_offset in (20, 32):
        loader(clean=True)._load_segment(base_offset)
        assert base_offset in recovered_with, f"the indexes of segment {base_offset} must be rebuilt: recover it"
        assert recovered_with[base_offset][1] is not None, (
            f"recover({base_offset}) needs the transactions that are open where the segment begins (_transactions_at)"
        )
