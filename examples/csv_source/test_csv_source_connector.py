"""A connector and its tasks are plain objects: a test of them needs no worker and no broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from examples.csv_source.csv_source_connector import CsvSourceConnector, CsvSourceTask
from kafka_lite.connect.api import ConnectError, OffsetStorageReader, SourceRecord, SourceTaskContext


class Offsets(SourceTaskContext, OffsetStorageReader):
    """The offsets that a worker would have stored, by source partition."""

    def __init__(self, *records: SourceRecord) -> None:
        self._stored = [(record.source_partition, record.source_offset) for record in records]

    @property
    def offset_storage_reader(self) -> OffsetStorageReader:
        """Itself."""
        return self

    def configs(self) -> dict[str, str]:
        """Nothing."""
        return {}

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """The last offset of a source partition."""
        found = [offset for known, offset in self._stored if known == partition and offset is not None]
        return dict(found[-1]) if found else None

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The last offsets of several."""
        return [self.offset(partition) for partition in partitions]


@pytest.fixture
def props(tmp_path: Path) -> dict[str, str]:
    """The configuration of a connector over a folder with two files."""
    (tmp_path / "towns.csv").write_text("name,people\nUlm,128928\nBonn,335789\n", encoding="utf-8")
    (tmp_path / "rivers.csv").write_text("name\nRhine\n", encoding="utf-8")
    return {"folder": str(tmp_path), "topic": "rows", "batch.size": "1"}


def started(config: Mapping[str, str], *stored: SourceRecord) -> CsvSourceTask:
    """A task as a worker starts it."""
    task = CsvSourceTask()
    task.initialize(Offsets(*stored))
    task.start(config)
    return task


def polls(config: Mapping[str, str], count: int, *stored: SourceRecord) -> Iterator[SourceRecord]:
    """The records of so many polls."""
    task = started(config, *stored)
    for _ in range(count):
        yield from task.poll() or ()


def test_each_row_becomes_a_struct(props: dict[str, str]) -> None:
    """In a schema of the file's name, with the columns as fields."""
    (record,) = polls({**props, "files": "towns.csv"}, 1)

    assert record.value["people"] == "128928"
    assert str(record.value_schema) == "Schema{towns:STRUCT}"


def test_a_task_continues_where_the_last_one_stopped(props: dict[str, str]) -> None:
    """The worker stores the offsets of the records that it has produced."""
    (first,) = polls({**props, "files": "towns.csv"}, 1)
    (second,) = polls({**props, "files": "towns.csv"}, 1, first)

    assert (first.value["name"], second.value["name"]) == ("Ulm", "Bonn")


def test_a_task_without_rows_can_be_stopped(props: dict[str, str]) -> None:
    """Stop comes from another thread while poll waits."""
    task = started({**props, "files": ""})
    task.stop()

    assert task.poll() is None


def test_files_are_divided_among_tasks(props: dict[str, str]) -> None:
    """There are no more tasks than files."""
    connector = CsvSourceConnector()
    connector.start(props)

    assert [config["files"] for config in connector.task_configs(1)] == ["rivers.csv,towns.csv"]
    assert [config["files"] for config in connector.task_configs(9)] == ["rivers.csv", "towns.csv"]


def test_a_wrong_configuration_is_explained(props: dict[str, str]) -> None:
    """All errors at once, before anything starts."""
    checked = CsvSourceConnector().validate({"topic": "rows", "batch.size": "0"})

    assert [error for value in checked for error in value.error_messages] == [
        'Missing required configuration "folder" which has no default value.',
        "Invalid value 0 for configuration batch.size: Value must be at least 1",
    ]
    with pytest.raises(ConnectError, match="is not a folder"):
        CsvSourceConnector().start({**props, "folder": "/nowhere"})
