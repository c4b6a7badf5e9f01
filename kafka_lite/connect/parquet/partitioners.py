"""The folder of a record under its topic · book 8.3.2"""

from __future__ import annotations

import datetime
import zoneinfo
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.java.simple_date_format import SimpleDateFormat
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.parquet import parquet_sink_config as keys

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
HIVE_DEFAULT = "__HIVE_DEFAULT_PARTITION__"
"""As Hive and Spark write a null."""


class Partitioner(ABC):
    """Names folders as Hive and Spark read them: ``column=value``."""

    @abstractmethod
    def folder_of(self, record: SinkRecord) -> str:
        """The folders, separated by slashes. Raises ConnectError if the record does not have what it takes."""

    @property
    def columns(self) -> Sequence[str]:
        """The fields that readers take from the folders. They are not in the files, too: pyarrow would refuse that."""
        return ()


class DefaultPartitioner(Partitioner):
    """``partition=0``: that of Kafka."""

    def folder_of(self, record: SinkRecord) -> str:
        """By partition."""
        return f"partition={record.original_kafka_partition}"


class FieldPartitioner(Partitioner):
    """``country=DE/year=2026``: the values of fields."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields

    def folder_of(self, record: SinkRecord) -> str:
        """By fields."""
        return "/".join(f"{quote(name, safe=' ')}={_text(field_of(record, name))}" for name in self._fields)

    @property
    def columns(self) -> Sequence[str]:
        """The fields of the value itself."""
        return [name for name in self._fields if "." not in name]


class TimeBasedPartitioner(Partitioner):
    """``year=2026/month=01/day=02``: a time, cut off where the format ends."""

    def __init__(self, path_format: str, timezone: str, field: str) -> None:
        """Raises ConfigError for a format or a time zone that there is not."""
        try:
            self._format = SimpleDateFormat(path_format)
        except ValueError as error:
            raise ConfigError(keys.PATH_FORMAT, path_format, str(error)) from error
        try:
            self._zone = zoneinfo.ZoneInfo(timezone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
            raise ConfigError(keys.TIMEZONE, timezone, "an unknown time zone") from error
        self._field = field

    def folder_of(self, record: SinkRecord) -> str:
        """By time."""
        time = field_of(record, self._field) if self._field else record.timestamp
        if isinstance(time, int) and not isinstance(time, bool):
            time = datetime.datetime.fromtimestamp(time / 1000, datetime.UTC)
        if not isinstance(time, datetime.datetime):
            where = f"in the field {self._field}" if self._field else "of its own"
            raise ConnectError(f"The record has no time {where}, which {keys.BY_TIME} needs")
        aware = time if time.tzinfo is not None else time.replace(tzinfo=datetime.UTC)
        # The format is in UTC: the clock on the wall of the time zone is taken to be that of UTC.
        on_the_wall = aware.astimezone(self._zone).replace(tzinfo=datetime.UTC)
        return self._format.format((on_the_wall - _EPOCH) // datetime.timedelta(milliseconds=1))


def partitioner_of(values: Mapping[str, Any]) -> Partitioner:
    """The partitioner that the keys name. Raises ConfigError."""
    given: str = values[keys.PARTITIONER]
    match given.rpartition(".")[2]:
        case keys.DEFAULT:
            return DefaultPartitioner()
        case keys.BY_FIELD:
            if not values[keys.FIELD_NAMES]:
                raise ConfigError(keys.FIELD_NAMES, None, f"{keys.BY_FIELD} needs it")
            return FieldPartitioner(values[keys.FIELD_NAMES])
        case keys.BY_TIME:
            return TimeBasedPartitioner(values[keys.PATH_FORMAT], values[keys.TIMEZONE], values[keys.TIMESTAMP_FIELD])
    raise ConfigError(keys.PARTITIONER, given, f"must be {keys.DEFAULT}, {keys.BY_FIELD} or {keys.BY_TIME}")


def field_of(record: SinkRecord, name: str) -> Any:
    """A field of the record's value; ``a.b`` is one of an inner struct. Raises ConnectError if it is not there."""
    value = record.value
    for part in name.split("."):
        if isinstance(value, Struct) and value.schema.field(part) is not None:
            value = value.get(part)
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            raise ConnectError(f"The record's value has no field {name}")
    return value


def _text(value: object) -> str:
    if value is None or value == "":
        return HIVE_DEFAULT
    if isinstance(value, bool):
        return str(value).lower()
    return quote(str(value), safe=" ")
