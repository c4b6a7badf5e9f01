"""Task 5: no entry at or above the offset stays, and all below it do."""

import pytest

STORED = [(3, 300), (6, 600), (9, 900)]


@pytest.mark.parametrize(
    ("offset", "left", "mistake"),
    [
        pytest.param(106, 1, "entry 106 is for a removed message: remove it, too", id="exactly-at-an-entry"),
        pytest.param(103, 0, "entry 103 is for a removed message: none stays", id="exactly-at-the-first-entry"),
        pytest.param(108, 2, "entry 106 is below offset 108: it stays, only 109 is removed", id="between-two-entries"),
        pytest.param(101, 0, "all entries are above offset 101: none stays", id="before-the-first-entry"),
        pytest.param(
            100, 0, "100 is the base offset, and all entries are above it: none stays", id="at-the-base-offset"
        ),
        pytest.param(50, 0, "all entries are above offset 50: none stays", id="below-the-base-offset"),
        pytest.param(200, 3, "all entries are below offset 200: all stay", id="beyond-the-last-entry"),
    ],
)
@pytest.mark.points(1, task=5)
def test_what_is_left(index_with, offset, left, mistake):
    """Entries left after truncate_to"""
    index = index_with(STORED, base_offset=100)
    try:
        index.truncate_to(offset)
    except Exception as error:  # noqa: BLE001 - whatever it is, the docstring promises none
        pytest.fail(
            f"entries 103, 106, 109, truncate_to({offset}): {mistake}; it raised {type(error).__name__}: {error}"
        )
    assert index.entries == left, f"entries 103, 106, 109, truncate_to({offset}): {mistake}; you kept {index.entries}"


@pytest.mark.points(1, task=5)
def test_appends_continue_after_truncation(index_with):
    """Appending after a truncation"""
    index = index_with(STORED, base_offset=100, room_for=10)
    index.truncate_to(106)
    index.append(107, 650)
    entries = [tuple(index.entry(n)) for n in range(index.entries)]
    assert entries == [(103, 300), (107, 650)], f"after truncate_to(106) and append(107, 650) there are {entries}"


@pytest.mark.points(1, task=5)
def test_removed_entries_leave_zeros(index_with):
    """The bytes of removed entries"""
    index = index_with(STORED, base_offset=100)
    index.truncate_to(106)
    index.flush()
    left = index.file.read_bytes()
    assert not any(left[8:]), (
        f"the file still has removed entries, {left[8:].hex(' ', 4)}: after a crash they would be taken for entries; "
        "self._truncate_to_entries leaves zeros"
    )


@pytest.mark.points(1, task=5)
def test_a_lookup_during_a_truncation(must_lock):
    """Truncations take the lock"""
    must_lock("truncate_to", lambda index: index.truncate_to(105))
