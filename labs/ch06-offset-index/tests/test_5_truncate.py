"""Task 5: nothing at or beyond the offset stays, everything before it does."""

import pytest

STORED = [(3, 300), (6, 600), (9, 900)]


@pytest.mark.parametrize(
    ("offset", "left", "mistake"),
    [
        pytest.param(106, 1, "entry 106 describes a message that is gone: it goes as well", id="exactly-at-an-entry"),
        pytest.param(108, 2, "entry 106 lies before offset 108: it stays, only 109 goes", id="between-two-entries"),
        pytest.param(101, 0, "all entries lie beyond offset 101: none stays", id="before-the-first-entry"),
        pytest.param(200, 3, "all entries lie before offset 200: all stay", id="beyond-the-last-entry"),
    ],
)
@pytest.mark.points(2, task=5)
def test_what_is_left(index_with, offset, left, mistake):
    """Entries left after truncate_to"""
    index = index_with(STORED, base_offset=100)
    index.truncate_to(offset)
    assert index.entries == left, f"entries 103, 106, 109, truncate_to({offset}): {mistake}; you kept {index.entries}"


@pytest.mark.points(2, task=5)
def test_appends_go_on_where_truncation_stopped(index_with):
    """Appending after a truncation"""
    index = index_with(STORED, base_offset=100, room_for=10)
    index.truncate_to(106)
    index.append(107, 650)
    entries = [tuple(index.entry(n)) for n in range(index.entries)]
    assert entries == [(103, 300), (107, 650)], f"after truncate_to(106) and append(107, 650) there are {entries}"
