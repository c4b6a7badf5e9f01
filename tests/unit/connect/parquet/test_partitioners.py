import datetime
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.parquet.parquet_sink_config import parquet_sink_config_def
from kafka_lite.connect.parquet.partitioners import partitioner_of

INNER = SchemaBuilder.struct().field("zip", Schema.STRING_SCHEMA).build()
SCHEMA = (
    SchemaBuilder.struct()
    .field("country", Schema.OPTIONAL_STRING_SCHEMA)
    .field("vip", Schema.BOOLEAN_SCHEMA)
    .field("inner", INNER)
    .build()
)
VALUE = Struct(SCHEMA, {"country": "D/E", "vip": True, "inner": Struct(INNER, {"zip": "89"})})
MIDNIGHT = 1767225600000  # 2026-01-01 in UTC


def _folder(value: Any = VALUE, timestamp: int | None = MIDNIGHT, **changes: str) -> str:
    props = {"store.url": "/tmp"} | {key.replace("_", "."): value for key, value in changes.items()}
    record = SinkRecord(topic="t", kafka_partition=3, kafka_offset=0, value=value, timestamp=timestamp)
    return partitioner_of(parquet_sink_config_def().parse(props)).folder_of(record)


@pytest.mark.parametrize(
    ("fields", "folder"),
    [("country", "country=D%2FE"), ("vip,inner.zip", "vip=true/inner.zip=89")],
)
def test_folders_by_field(fields: str, folder: str) -> None:
    assert _folder(partitioner_class="FieldPartitioner", partition_field_name=fields) == folder
    plain = {"country": "D/E", "vip": True, "inner": {"zip": "89"}}
    assert _folder(plain, partitioner_class="x.y.FieldPartitioner", partition_field_name=fields) == folder


def test_a_null_has_hives_folder() -> None:
    value = {"country": None}
    folder = _folder(value, partitioner_class="FieldPartitioner", partition_field_name="country")
    assert folder == "country=__HIVE_DEFAULT_PARTITION__"


def test_by_default_kafkas_partition_is_the_folder() -> None:
    assert _folder() == "partition=3"


@pytest.mark.parametrize(
    ("changes", "folder"),
    [
        ({}, "year=2026/month=01/day=01"),
        ({"timezone": "America/New_York"}, "year=2025/month=12/day=31"),
        ({"path_format": "yyyy-MM-dd'T'HH"}, "2026-01-01T00"),
    ],
)
def test_folders_by_time(changes: dict[str, str], folder: str) -> None:
    assert _folder(partitioner_class="TimeBasedPartitioner", **changes) == folder


NEW_YEAR = datetime.datetime(2026, 1, 1)


@pytest.mark.parametrize("time", [MIDNIGHT, NEW_YEAR, NEW_YEAR.replace(tzinfo=datetime.UTC)])
def test_the_time_may_be_in_a_field(time: Any) -> None:
    changes = {"partitioner_class": "TimeBasedPartitioner", "timestamp_field": "at"}
    assert _folder({"at": time}, timestamp=0, **changes) == "year=2026/month=01/day=01"


@pytest.mark.parametrize(
    ("value", "timestamp", "changes", "problem"),
    [
        (VALUE, 0, {"partitioner_class": "FieldPartitioner", "partition_field_name": "nr"}, "has no field nr"),
        (
            VALUE,
            0,
            {"partitioner_class": "FieldPartitioner", "partition_field_name": "country.x"},
            "no field country.x",
        ),
        (VALUE, None, {"partitioner_class": "TimeBasedPartitioner"}, "has no time of its own"),
        (VALUE, 0, {"partitioner_class": "TimeBasedPartitioner", "timestamp_field": "country"}, "in the field country"),
    ],
)
def test_records_that_lack_something(value: Any, timestamp: Any, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConnectError, match=problem):
        _folder(value, timestamp, **changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"partitioner_class": "DailyPartitioner"}, "must be DefaultPartitioner, FieldPartitioner or"),
        ({"partitioner_class": "FieldPartitioner"}, "FieldPartitioner needs it"),
        ({"partitioner_class": "TimeBasedPartitioner", "timezone": "Mars"}, "an unknown time zone"),
        ({"partitioner_class": "TimeBasedPartitioner", "path_format": "'"}, "Unterminated quote"),
    ],
)
def test_partitioners_that_are_none(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        _folder(**changes)
