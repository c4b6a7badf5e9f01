"""Task 4: versions and files."""

import pytest

from kafka_learn.labs.rows import must_equal
from pipeline.tables.delta_merge import as_frame, compact_if_many, create_table, merge_changes


def row(key, value, offset):
    return {"key": key, "value": value, "partition": 0, "offset": offset}


@pytest.mark.points(8, task=4)
def test_the_table_in_each_version(spark, table, changed):
    """Before, between and after two MERGEs"""
    merge_changes(table, changed(("UA", "late", 1), ("B6", "early", 2)))
    merge_changes(table, changed(("UA", None, 3), ("DL", "new", 4)))
    folder = table.table_uri
    states = {
        0: [],
        1: [row("UA", "late", 1), row("B6", "early", 2)],
        2: [row("B6", "early", 2), row("DL", "new", 4)],
    }
    must_equal(as_frame(spark, folder), states[2], ["key"])
    for version, want in states.items():
        must_equal(as_frame(spark, folder, version), want, ["key"])


@pytest.mark.points(8, task=4)
def test_files_are_put_together(tmp_path, changed, rows):
    """Five small files"""
    table = create_table(str(tmp_path / "files"))
    for number in range(5):
        merge_changes(table, changed((f"k{number}", "new", number)))
    before, version = rows(table), table.version()
    got = compact_if_many(table, 5)
    assert got == 0, f"five files are not more than five: nothing to put together, 0, not {got}"
    assert table.version() == version, "five files are not more than five, and there is a new version"
    got = compact_if_many(table, 4)
    assert got == 5, f"five files were put together, you say {got}"
    assert len(table.file_uris()) == 1, f"they are one file now, not {len(table.file_uris())}"
    assert rows(table) == before, "the rows are the same as before"
