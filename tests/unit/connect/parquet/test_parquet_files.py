import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.parquet.parquet_files import COMMIT, Offsets, ParquetFiles

P0 = TopicPartition("orders", 0)
TABLES = {"country=DE": pa.table({"n": [1, 3]}), "country=FR": pa.table({"n": [2]})}


def _files(store: Path, partition: TopicPartition = P0) -> ParquetFiles:
    return ParquetFiles(store, "topics", partition, "snappy")


def _names(store: Path) -> list[str]:
    return sorted(str(file.relative_to(store)) for file in store.rglob("*") if file.is_file())


NAMES = [f"topics/orders/country={each}/orders+0+0000000005+0000000009.parquet" for each in ("DE", "FR")]


def test_a_commit_has_a_file_per_folder(tmp_path: Path) -> None:
    files = _files(tmp_path)
    assert files.recover() is None
    files.commit(TABLES, Offsets(5, 9))
    assert _names(tmp_path) == NAMES
    assert pq.read_table(tmp_path / NAMES[0]).to_pydict() == {"n": [1, 3]}
    assert _files(tmp_path).recover() == 10


def test_only_the_partitions_own_files_count(tmp_path: Path) -> None:
    _files(tmp_path).commit(TABLES, Offsets(5, 9))
    _files(tmp_path, TopicPartition("orders", 1)).commit(TABLES, Offsets(0, 99))
    (tmp_path / "topics/orders/country=DE/part-0000.parquet").write_bytes(b"somebody else's")
    assert _files(tmp_path).recover() == 10
    assert _files(tmp_path, TopicPartition("orders", 2)).recover() is None


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("moved", range(4))
def test_a_task_that_is_killed_anywhere_leaves_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    """Killed at each rename: of the commit file, of the first and of the second table; and before the end."""
    replace, count = Path.replace, 0

    def counted(self: Path, target: Path) -> Path:
        nonlocal count
        if count == moved:
            raise Killed
        count += 1
        return replace(self, target)

    def killed(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(Path, "replace", counted)
    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(Killed):
        _files(tmp_path).commit(TABLES, Offsets(5, 9))
    monkeypatch.undo()
    assert (tmp_path / "_connect" / "orders+0" / COMMIT).exists() == (moved > 0)
    if moved == 0:
        assert _files(tmp_path).recover() is None
        assert _names(tmp_path) == []
        _files(tmp_path).commit(TABLES, Offsets(5, 9))
    else:
        assert _files(tmp_path).recover() == 10
    assert _names(tmp_path) == NAMES
