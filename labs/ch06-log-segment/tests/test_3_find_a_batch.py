"""Task 3: from an offset to the batch that contains it, or else the next one."""

import pytest

SIZE = 205  # of a batch of three messages in format v2


@pytest.mark.points(6, task=3)
def test_every_offset_finds_its_batch(segment_with):
    """Offsets in the middle of batches"""
    segment = segment_with(4)
    for offset in range(20, 32):
        found = segment.log.search_for_offset_with_size(offset, 0)
        want = (offset - 20) // 3 * SIZE
        assert found is not None, (
            f"offset {offset} is in the batch at {want}: the first batch whose last offset is not below it"
        )
        assert found.position <= want, f"offset {offset} is in the batch at {want}; you skipped it and found {found}"
        assert found.position == want, f"offset {offset} is in the batch at {want}, not in the one at {found.position}"


@pytest.mark.points(2, task=3)
def test_what_is_found(segment_with):
    """Last offset, position and size"""
    found = segment_with(4).log.search_for_offset_with_size(24, 0)
    assert tuple(found) == (25, SIZE, SIZE), f"the batch 23 to 25 is (last offset 25, at {SIZE}, {SIZE} bytes): {found}"


@pytest.mark.points(3, task=3)
def test_beyond_the_end(segment_with):
    """An offset after all batches"""
    found = segment_with(4).log.search_for_offset_with_size(32, 0)
    assert found is None, f"the last offset is 31: 32 is not here, so return None, not {found}"


@pytest.mark.points(5, task=3)
def test_the_search_starts_at_the_index_entry(segment_with, begun):
    """The linear search starts at the index entry"""
    segment = segment_with(4, index=[(28, 2 * SIZE)])
    begun = begun(segment)
    segment.translate_offset(30)
    assert begun == [2 * SIZE], (
        f"the index has 28 → {2 * SIZE}: start there for 30, not at {begun}: do you use the index?"
    )
    begun.clear()
    segment.translate_offset(27)
    assert begun == [0], f"the entry 28 is above 27, so 27 is searched from 0, not from {begun}"


@pytest.mark.points(4, task=3)
def test_a_better_starting_position(segment_with, begun):
    """The caller may know a better position, or a worse one"""
    segment = segment_with(4, index=[(28, 2 * SIZE)])
    begun = begun(segment)
    segment.translate_offset(30, 3 * SIZE)
    segment.translate_offset(30, SIZE)
    want = [3 * SIZE, 2 * SIZE]
    why = "neither is beyond the target, so the larger one saves more"
    assert begun == want, f"index: {2 * SIZE}; caller: {3 * SIZE}, then {SIZE}: start at {want}, not {begun}; {why}"
