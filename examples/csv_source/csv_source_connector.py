"""Copies the rows of the CSV files of a folder into a topic, each file by one of the connector's tasks."""

from __future__ import annotations

import csv
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_lite.connect.api import (
    NO_DEFAULT,
    ConfigDef,
    ConfigType,
    ConnectError,
    ConnectorUtils,
    Importance,
    Range,
    Schema,
    SchemaBuilder,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Struct,
    Task,
)


class CsvSourceConnector(SourceConnector):
    """Divides the files of a folder among tasks. A file that appears later is found after a restart."""

    def version(self) -> str:
        """The version of the connector."""
        return "1.0"

    def config(self) -> ConfigDef:
        """The keys of the configuration, from which ``validate`` checks one and a form can be made."""
        return (
            ConfigDef()
            .define("folder", ConfigType.STRING, NO_DEFAULT, Importance.HIGH, "Where the files are.")
            .define("topic", ConfigType.STRING, NO_DEFAULT, Importance.HIGH, "Where the rows go.")
            .define("batch.size", ConfigType.INT, 500, Importance.LOW, "Rows per poll, at most.", Range.at_least(1))
        )

    def start(self, props: Mapping[str, str]) -> None:
        """Take the configuration, and look for the folder."""
        self._props = dict(props)
        self._folder = Path(props["folder"])
        if not self._folder.is_dir():
            raise ConnectError(f"{self._folder} is not a folder")

    def task_class(self) -> type[Task]:
        """The class of the tasks."""
        return CsvSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """The connector's configuration, with ``files``, the sorted names of its CSV files, divided evenly.

        There are no more tasks than files, but one in any case.
        """
        names = sorted(file.name for file in self._folder.glob("*.csv"))
        groups = ConnectorUtils.group_partitions(names, min(max_tasks, len(names)) or 1)
        return [{**self._props, "files": ",".join(group)} for group in groups]


class CsvSourceTask(SourceTask):
    """Reads files from where an earlier task has stopped. Its offsets count rows."""

    def start(self, props: Mapping[str, str]) -> None:
        """Take the task's configuration, and ask how far its files were read: the row to continue at, 0 at first."""
        self._folder, self._topic = Path(props["folder"]), props["topic"]
        self._batch_size = int(props.get("batch.size", 500))
        self._stopping = threading.Event()
        self._next_rows: dict[str, int] = {}
        for name in filter(None, props["files"].split(",")):
            offset = self.context.offset_storage_reader.offset({"file": name})
            self._next_rows[name] = 0 if offset is None else offset["row"]

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next rows of the first file that has some; None after a second without any."""
        for name in self._next_rows:
            if records := self._rows_of(name):
                return records
        self._stopping.wait(1)
        return None

    def stop(self) -> None:
        """End the wait in ``poll``."""
        self._stopping.set()

    def _rows_of(self, name: str) -> list[SourceRecord]:
        """The next rows of a file, a batch at most, as records; the next call continues after them."""
        with (self._folder / name).open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            schema = _schema(name, rows.fieldnames or ())
            begin = self._next_rows[name]
            found = [
                self._record(name, number, Struct(schema, row))
                for number, row in enumerate(rows)
                if begin <= number < begin + self._batch_size
            ]
        self._next_rows[name] += len(found)
        return found

    def _record(self, name: str, row: int, value: Struct) -> SourceRecord:
        """A record says where it was read, and where to continue after it."""
        return SourceRecord(
            topic=self._topic,
            value_schema=value.schema,
            value=value,
            source_partition={"file": name},
            source_offset={"row": row + 1},
        )


def _schema(name: str, columns: Sequence[str]) -> Schema:
    """All columns are texts. ``Cast`` makes numbers of them, if the connector's configuration says so."""
    builder = SchemaBuilder.struct().name(Path(name).stem)
    for column in columns:
        builder.field(column, Schema.OPTIONAL_STRING_SCHEMA)
    return builder.build()
