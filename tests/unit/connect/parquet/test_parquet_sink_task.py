from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.parquet.parquet_files import ParquetFiles
from kafka_lite.connect.parquet.parquet_sink_connector import ParquetSinkConnector
from kafka_lite.connect.parquet.parquet_sink_task import ParquetSinkTask
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
V1 = SchemaBuilder.struct().field("n", Schema.INT64_SCHEMA).build()
V2 = SchemaBuilder.struct().field("n", Schema.INT64_SCHEMA).field("x", Schema.OPTIONAL_STRING_SCHEMA).build()


class Context:
    def __init__(self, reports: bool) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self.timeouts: list[int] = []
        self.reported: list[str] = []
        self.errant_record_reporter = self if reports else None

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.offsets |= offsets

    def timeout(self, timeout_ms: int) -> None:
        self.timeouts.append(timeout_ms)

    def report(self, record: SinkRecord, error: BaseException) -> None:
        self.reported.append(str(error))


class Rig:
    def __init__(self, store: Path, reports: bool = False, **changes: str) -> None:
        self.store, self.time, self.context = store, MockTime(), Context(reports)
        self.task = ParquetSinkTask(self.time)
        self.task.initialize(self.context)  # type: ignore[arg-type]
        base = {"store.url": f"file://{store}", "flush.size": "3", "rotate.interval.ms": "1000"}
        self.task.start(base | {key.replace("_", "."): value for key, value in changes.items()})
        self.task.open([P0])

    def put(self, *offsets: int, schema: Schema = V1, partition: int = 0) -> None:
        self.task.put([_record(offset, schema, partition) for offset in offsets])

    @property
    def files(self) -> dict[str, list[int]]:
        """The name of each file without the topic's folder, and the numbers in it."""
        folder = self.store / "topics" / "orders"
        return {
            str(file.relative_to(folder)): pq.ParquetFile(file).read()["n"].to_pylist()
            for file in sorted(folder.rglob("*.parquet"))
        }

    def committed(self) -> int | None:
        offsets = self.task.pre_commit({P0: OffsetAndMetadata(99)})
        return offsets[P0].offset if P0 in offsets else None


def _record(offset: int, schema: Schema = V1, partition: int = 0) -> SinkRecord:
    value = Struct(schema, {"n": offset})
    return SinkRecord(topic="orders", kafka_partition=partition, kafka_offset=offset, value_schema=schema, value=value)


def _name(first: int, last: int) -> str:
    return f"partition=0/orders+0+{first:010d}+{last:010d}.parquet"


def test_files_are_rotated_by_records(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.put(0, 1)
    assert (rig.files, rig.committed()) == ({}, None)
    rig.put(2, 3)
    assert (rig.files, rig.committed()) == ({_name(0, 2): [0, 1, 2]}, 3)


def test_files_are_rotated_by_time(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.put(0)
    rig.time.sleep(999)
    rig.put()
    assert rig.files == {}
    rig.time.sleep(1)
    rig.put()
    assert rig.files == {_name(0, 0): [0]}
    by_records = Rig(tmp_path, rotate_interval_ms="-1")
    by_records.put(1)
    by_records.time.sleep(10**9)
    by_records.put()
    assert len(rig.files) == 1


def test_another_schema_begins_another_file(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.put(0, 1)
    rig.put(2, schema=V2)
    assert rig.files == {_name(0, 1): [0, 1]}


def test_pyarrow_reads_the_folders_as_columns(tmp_path: Path) -> None:
    rig = Rig(tmp_path, partitioner_class="FieldPartitioner", partition_field_name="x")
    values = [Struct(V2, {"n": number, "x": x}) for number, x in enumerate(("DE", None, "DE"))]
    rig.task.put([_record(number, V2).new_record(value=value) for number, value in enumerate(values)])
    rows = pq.read_table(tmp_path / "topics" / "orders").to_pylist()
    assert sorted(rows, key=lambda row: int(row["n"])) == [
        {"n": 0, "x": "DE"},
        {"n": 1, "x": None},
        {"n": 2, "x": "DE"},
    ]


def test_a_file_has_a_column_even_if_the_folder_has_all(tmp_path: Path) -> None:
    rig = Rig(tmp_path, partitioner_class="FieldPartitioner", partition_field_name="n", flush_size="1")
    rig.put(7)
    assert rig.files == {"n=7/orders+0+0000000007+0000000007.parquet": [7]}


def test_a_new_task_continues_after_the_files(tmp_path: Path) -> None:
    Rig(tmp_path).put(0, 1, 2, 3)
    again = Rig(tmp_path)
    assert again.context.offsets == {P0: 3}
    assert again.committed() == 3
    again.put(1, 2, 3, 4, 5)  # had the consumer not moved
    assert again.files == {_name(0, 2): [0, 1, 2], _name(3, 5): [3, 4, 5]}


def test_a_partition_that_moves_leaves_nothing_behind(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.put(0)
    rig.task.close([P0])
    rig.time.sleep(1000)
    rig.put()
    rig.task.open([P0, P1])
    rig.put(0, 1, partition=1)
    assert rig.files == {}
    rig.put(0, 1, 2)
    assert rig.files == {_name(0, 2): [0, 1, 2]}
    rig.task.stop()


def test_a_full_disk_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ParquetFiles, "commit", full)
    for _ in range(2):
        with pytest.raises(RetriableError, match="No space left on device"):
            rig.put(0, 1, 2)
    monkeypatch.undo()
    rig.put(0, 1, 2)
    assert rig.files == {_name(0, 2): [0, 1, 2]}
    assert rig.context.timeouts == [5000, 5000]


@pytest.mark.parametrize("value", [None, 7])
def test_records_without_fields(tmp_path: Path, value: Any) -> None:
    record = SinkRecord(topic="orders", kafka_partition=0, kafka_offset=1, value=value)
    with pytest.raises(ConnectError, match=r"has no value|a file needs fields"):
        Rig(tmp_path).task.put([record])
    rig = Rig(tmp_path, reports=True)
    rig.task.put([_record(0), record, _record(2), _record(3)])
    assert len(rig.context.reported) == 1
    assert rig.files == {_name(0, 3): [0, 2, 3]}


def test_tombstones_may_be_ignored(tmp_path: Path) -> None:
    rig = Rig(tmp_path, behavior_on_null_values="ignore", flush_size="1")
    rig.task.put([_record(0).new_record(value=None), _record(1)])
    assert rig.files == {_name(0, 1): [1]}


def test_values_that_no_file_can_have(tmp_path: Path) -> None:
    rig = Rig(tmp_path, flush_size="2")
    plain = SinkRecord(topic="orders", kafka_partition=0, kafka_offset=0, value={"a": 1})
    with pytest.raises(ConnectError, match="The values do not fit into a file"):
        rig.task.put([plain, SinkRecord(topic="orders", kafka_partition=0, kafka_offset=1, value={"a": "x"})])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    working = tmp_path / "_connect" / "orders+0"
    working.mkdir(parents=True)
    (working / "commit.json").write_text("{")
    with pytest.raises(ConnectError, match="The files of orders-0 cannot be read"):
        Rig(tmp_path)


def test_the_connector(tmp_path: Path) -> None:
    connector = connector_class("ParquetSink")()
    assert isinstance(connector, ParquetSinkConnector)
    props = {"name": "p", "store.url": str(tmp_path)}
    connector.start(props)
    assert connector.task_configs(2) == [props, props]
    assert connector.task_class() is ParquetSinkTask
    assert connector.version() == ParquetSinkTask().version()
    for bad, key in (({"store.url": "s3://bucket"}, "store.url"), ({"partitioner.class": "X"}, "partitioner.class")):
        with pytest.raises(ConfigError):
            connector.start(props | bad)
        assert [value.name for value in connector.validate(props | bad) if value.error_messages] == [key]
