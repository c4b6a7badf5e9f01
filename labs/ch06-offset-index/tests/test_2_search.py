"""Task 2: the greatest entry that is not greater than the target."""

import pytest

from kafka_lite.log.abstract_index import IndexSearchType
from kafka_lite.log.offset_index import OffsetIndex

KEY, VALUE = IndexSearchType.KEY, IndexSearchType.VALUE


@pytest.mark.points(2, task=2)
def test_an_empty_index_has_no_slot(new_index):
    """An empty index"""
    slot = new_index()._index_slot_for(5, KEY)
    assert slot == -1, f"an empty index has no entry at all: -1, not {slot}"


@pytest.mark.points(2, task=2)
def test_a_target_before_the_first_entry(index_with):
    """A target before the first entry"""
    slot = index_with([(10, 100), (20, 200)])._index_slot_for(9, KEY)
    assert slot == -1, f"entries 10 and 20 are both greater than 9: the result is -1, yours is {slot}"


@pytest.mark.points(3, task=2)
def test_an_exact_match(index_with):
    """A target that is in the index"""
    index = index_with([(10, 100), (20, 200), (30, 300)])
    for slot, target in enumerate((10, 20, 30)):
        found = index._index_slot_for(target, KEY)
        assert found == slot, f"{target} is entry {slot}, and it is not greater than itself; you found slot {found}"


@pytest.mark.points(8, task=2)
def test_every_target_of_every_small_index(index_with):
    """Every target in indexes of 1 to 17 entries"""
    for size in range(1, 18):
        index = index_with([(10 * (n + 1), n) for n in range(size)])
        for target in range(5, 10 * size + 15):
            want, found = min(target // 10, size) - 1, index._index_slot_for(target, KEY)
            assert found == want, _explain(size, target, want, found)


def _explain(size, target, want, found):
    entries = ", ".join(str(10 * (n + 1)) for n in range(size))
    if found == want - 1:
        mistake = "one entry too early: a later one is still not greater than the target (is hi the last entry?)"
    elif found == want + 1:
        mistake = "one entry too late: it is already greater than the target, and what it skips is never read"
    else:
        mistake = "that is not the greatest entry that is not greater than the target"
    return f"entries {entries}; target {target}: slot {want} is right, you found slot {found}, {mistake}"


@pytest.mark.points(2, task=2)
def test_the_time_index_searches_by_value_too(index_with):
    """Searching by the second half of an entry"""
    index = index_with([(10, 100), (20, 200), (30, 300)])
    slot = index._index_slot_for(250, VALUE)
    assert slot == 1, f"by VALUE, 250 lies between 200 (slot 1) and 300 (slot 2): slot 1, not {slot}; use search_by"
    slot = index._index_slot_for(50, VALUE)
    assert slot == -1, (
        f"by VALUE, 50 is below the first entry, 100: -1, not {slot}; use search_by for the first entry, too"
    )


@pytest.mark.points(3, task=2)
def test_a_big_index_is_searched_in_few_steps(index_with, monkeypatch):
    """100,000 entries in at most 20 steps"""
    index = index_with([(2 * n, n) for n in range(1, 100_001)])
    steps = []
    parse_entry = OffsetIndex._parse_entry
    monkeypatch.setattr(OffsetIndex, "_parse_entry", lambda self, n: steps.append(n) or parse_entry(self, n))
    slot = index._index_slot_for(150_001, KEY)
    assert slot == 74_999, f"of the entries 2, 4, 6, … the greatest not greater than 150,001 is slot 74,999, not {slot}"
    assert len(steps) <= 20, f"{len(steps)} entries were read; halving takes 17 steps: is this a linear search?"
