"""Task 2: MERGE."""

import random

import pytest

from pipeline.tables.delta_merge import merge_changes


@pytest.mark.points(5, task=2)
def test_new_keys_become_rows(table, changed, rows):
    """Two values and a deletion"""
    merge_changes(table, changed(("UA", "late", 1), ("B6", "early", 2), ("DL", None, 3)))
    got = rows(table)
    assert "DL" not in got, "a key that is not in the table and is deleted does not become a row"
    assert got == {"UA": ("late", 1), "B6": ("early", 2)}, f"two rows were wanted, the table has {got}"


@pytest.mark.points(6, task=2)
def test_keys_that_are_there(table, changed, rows):
    """One replaced, one deleted, one left alone"""
    merge_changes(table, changed(("UA", "late", 1), ("B6", "early", 2), ("DL", "new", 3)))
    merge_changes(table, changed(("UA", "early", 4), ("B6", None, 5)))
    got = rows(table)
    assert got.get("B6") != (None, 5), "B6 is deleted: its row goes, and does not become null"
    assert "DL" in got, "DL has not changed, and its row is gone"
    assert got == {"UA": ("early", 4), "DL": ("new", 3)}, f"UA is replaced and B6 is gone: the table has {got}"


@pytest.mark.points(6, task=2)
def test_old_changes_do_not_count(table, changed, rows):
    """Offsets up to that of the row"""
    merge_changes(table, changed(("UA", "late", 10), ("B6", "early", 20)))
    merge_changes(table, changed(("UA", "older", 9), ("B6", None, 19)))
    got = rows(table)
    assert got.get("UA") != ("older", 9), "offset 9 is before 10: an older change replaces a newer row"
    assert "B6" in got, "offset 19 is before 20: an older deletion deletes a newer row"
    version = table.version()
    merge_changes(table, changed(("UA", "same", 10), ("B6", None, 20)))
    got = rows(table)
    assert got == {"UA": ("late", 10), "B6": ("early", 20)}, f"the offset must be greater, not equal: {got}"
    assert table.version() == version, "nothing has changed, and there is a new version"


@pytest.mark.points(5, task=2)
def test_one_commit_and_its_figures(table, changed):
    """The metrics of a MERGE"""
    merge_changes(table, changed(("UA", "late", 1), ("B6", "early", 2)))
    got = merge_changes(table, changed(("UA", "early", 3), ("B6", None, 4), ("DL", "new", 5)))
    assert isinstance(got, dict), f"the metrics of the MERGE are returned, a dict, not {got!r}"
    figures = [got[f"num_target_rows_{what}"] for what in ("inserted", "updated", "deleted")]
    assert figures == [1, 1, 1], f"one row inserted, one updated, one deleted: {figures}"
    assert table.version() == 2, f"two MERGEs are two versions, 1 and 2, not {table.version()}: one commit for each"


@pytest.mark.points(4, task=2)
def test_many_batches(table, changed, rows, history):
    """400 changes in batches, against plain Python"""
    log, final = history(42)
    rnd, begin = random.Random(42), 0
    while begin < len(log):
        end = begin + rnd.randrange(20, 90)
        last = {key: (key, value, begin + n) for n, (key, value) in enumerate(log[begin:end])}
        merge_changes(table, changed(*last.values()))
        begin = end
    got = rows(table)
    wrong = [key for key in {*got, *final} if got.get(key) != final.get(key)]
    assert not wrong, f"{wrong[0]} is {got.get(wrong[0])} in the table, and {final.get(wrong[0])} in plain Python"
