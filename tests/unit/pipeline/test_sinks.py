"""Tables of Parquet files: a batch is visible whole and once, whatever was left behind by a kill. Without Spark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.sinks import ForeignTableError, ParquetTable, read_table


@dataclass
class Rows:
    """Writes a frame where and as Spark's DataFrame would: a folder of files, and a mark."""

    values: list[int]

    @property
    def write(self) -> Rows:
        return self

    def mode(self, name: str) -> Rows:
        assert name == "overwrite"
        return self

    def parquet(self, folder: str) -> None:
        path = Path(folder)
        path.mkdir(exist_ok=True)
        for old in path.iterdir():
            old.unlink()
        pd.DataFrame({"value": pd.Series(self.values, dtype="int64")}).to_parquet(path / "part-0.parquet")
        (path / "_SUCCESS").touch()


@pytest.fixture
def table(tmp_path: Path) -> ParquetTable:
    return table_of_query("a", tmp_path)


def table_of_query(query_id: str, folder: Path) -> ParquetTable:
    checkpoint = folder / f"checkpoint-{query_id}"
    checkpoint.mkdir(exist_ok=True)
    (checkpoint / "metadata").write_text(json.dumps({"id": query_id}))
    return ParquetTable(folder / "table", checkpoint)


def write(table: ParquetTable, batch_id: int, *values: int) -> None:
    rows: Any = Rows(list(values))
    table.write_batch(rows, batch_id)


def visible(table: ParquetTable) -> list[tuple[int, int]]:
    frame = read_table(table.folder)
    return sorted(zip(frame["batch"], frame["value"], strict=True))


def test_a_table_without_batches_is_an_empty_frame(tmp_path: Path) -> None:
    assert read_table(tmp_path / "nothing").empty


def test_batches_are_read_with_their_numbers(table: ParquetTable) -> None:
    write(table, 0, 1, 2)
    write(table, 10, 3)
    assert visible(table) == [(0, 1), (0, 2), (10, 3)]


def test_a_batch_that_is_run_again_changes_nothing(table: ParquetTable) -> None:
    write(table, 0, 1, 2)
    write(table, 0, 1, 2)
    assert visible(table) == [(0, 1), (0, 2)]
    assert [path.name for path in table.folder.iterdir() if path.is_dir()] == ["batch=0"]


def test_a_batch_without_rows_leaves_no_folder(table: ParquetTable) -> None:
    write(table, 0)
    assert read_table(table.folder).empty
    assert not [path for path in table.folder.iterdir() if path.is_dir()]


def test_files_of_a_batch_that_was_not_committed_are_invisible_and_overwritten(
    table: ParquetTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(table, 0, 1)
    with monkeypatch.context() as killed:
        killed.setattr(ParquetTable, "commit", lambda *_: None)
        write(table, 1, 2, 3)
    assert visible(table) == [(0, 1)]
    assert list(pd.read_parquet(table.folder)["value"]) == [1]
    write(table, 1, 2, 3)
    assert visible(table) == [(0, 1), (1, 2), (1, 3)]


def test_a_query_with_another_checkpoint_is_refused(table: ParquetTable, tmp_path: Path) -> None:
    write(table, 0, 1)
    with pytest.raises(ForeignTableError, match="belongs to another checkpoint"):
        write(table_of_query("b", tmp_path), 0, 2)
    write(table_of_query("a", tmp_path), 1, 3)
    assert visible(table) == [(0, 1), (1, 3)]
