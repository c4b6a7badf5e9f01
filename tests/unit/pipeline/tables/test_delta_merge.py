"""MERGE into a Delta table, its versions and its transactions, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction

from pipeline.tables import delta_merge
from pipeline.tables.delta_merge import SCHEMA, as_frame, batch_merger, compact_if_many, create_table, merge_changes


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "table")


def changed(*rows: tuple[str, str | None, int]) -> pa.Table:
    columns = [{"key": key, "value": value, "partition": 0, "offset": offset} for key, value, offset in rows]
    return pa.Table.from_pylist(columns, SCHEMA)


def rows_of(table: DeltaTable) -> list[tuple[str, str, int]]:
    return sorted((row["key"], row["value"], row["offset"]) for row in table.to_pyarrow_table().to_pylist())


def test_a_table_is_created_once(folder: str) -> None:
    merge_changes(create_table(folder), changed(("a", "1", 0)))
    assert rows_of(create_table(folder)) == [("a", "1", 0)]


def test_newer_changes_replace_delete_and_insert(folder: str) -> None:
    table = create_table(folder)
    merge_changes(table, changed(("a", "1", 5), ("b", "1", 6), ("c", "1", 7), ("never", None, 8)))
    assert rows_of(table) == [("a", "1", 5), ("b", "1", 6), ("c", "1", 7)]
    metrics = merge_changes(table, changed(("a", "2", 9), ("b", None, 10), ("d", "1", 11)))
    assert rows_of(table) == [("a", "2", 9), ("c", "1", 7), ("d", "1", 11)]
    assert metrics["num_target_rows_deleted"] == metrics["num_target_rows_inserted"] == 1


def test_changes_that_are_not_newer_do_not_count(folder: str) -> None:
    table = create_table(folder)
    merge_changes(table, changed(("a", "1", 5), ("b", "1", 6)))
    merge_changes(table, changed(("a", "0", 4), ("b", None, 6)))
    assert rows_of(table) == [("a", "1", 5), ("b", "1", 6)]
    assert table.version() == 1


class _Records:
    """In place of a DataFrame of records: the test's ``changes`` knows what to make of it."""

    def __init__(self, *rows: tuple[str, str | None, int]) -> None:
        self._rows = rows

    def toArrow(self) -> pa.Table:
        return changed(*self._rows)


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_merge, "changes", lambda records: records)


def records(*rows: tuple[str, str | None, int]) -> Any:
    return _Records(*rows)


@pytest.mark.usefixtures("without_spark")
def test_a_batch_is_applied_once(folder: str) -> None:
    table = create_table(folder)
    merge = batch_merger(folder, "q")
    merge(records(("a", "1", 0)), 3)
    merge(records(("a", None, 1)), 4)
    merge(records(("a", "1", 0)), 3)
    merge(records(("b", "1", 0)), 4)
    table.update_incremental()
    assert rows_of(table) == []
    assert table.transaction_version("q") == 4
    batch_merger(folder, "other")(records(("b", "1", 0)), 0)
    table.update_incremental()
    assert rows_of(table) == [("b", "1", 0)]


def test_a_commit_has_the_properties_given(folder: str) -> None:
    table = create_table(folder)
    merge_changes(table, changed(("a", "1", 0)), CommitProperties(app_transactions=[Transaction("q", 7)]))
    assert table.transaction_version("q") == 7


class _Session:
    def createDataFrame(self, data: pa.Table) -> list[str]:
        return sorted(data["key"].to_pylist())


def test_each_version_can_be_read(folder: str) -> None:
    table, spark = create_table(folder), _Session()
    session: Any = spark
    merge_changes(table, changed(("a", "1", 0)))
    merge_changes(table, changed(("b", "1", 1)))
    found: Any = [as_frame(session, folder, version) for version in (0, 1, 2, None)]
    assert found == [[], ["a"], ["a", "b"], ["a", "b"]]


def test_many_files_become_one(folder: str) -> None:
    table = create_table(folder)
    for number in range(3):
        merge_changes(table, changed((f"k{number}", "1", number)))
    before = rows_of(table)
    assert compact_if_many(table, 3) == 0
    assert len(table.file_uris()) == 3
    assert compact_if_many(table, 2) == 3
    assert len(table.file_uris()) == 1
    assert rows_of(table) == before
