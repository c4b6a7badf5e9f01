"""Turns the rows of a query into messages for librdkafka, and refuses rows that would be written with other values.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaWriteTask.scala (KafkaRowWriter) · book 2.1.1

Columns (only ``value`` is required):

    value      string or binary                            key        string or binary
    topic      string; or else the option of that name     partition  int; null: chosen by key
    headers    array<struct<key:string,value:binary>>      timestamp  timestamp, or double in s; null: now
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow
from pyarrow import types

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_names import is_valid_topic_name

COLUMN_TYPES = {
    "topic": ("string",),
    "key": ("string", "binary"),
    "value": ("string", "binary"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "partition": ("int",),
    "timestamp": ("timestamp", "double"),
}
"""The columns that are written, and their types in Spark; a query may have others."""

CHOSEN_BY_KEY = -1
NOW = 0
"""librdkafka writes a message with this timestamp at the current time: it cannot write one of 1970-01-01."""

_MAX_PARTITION = 2**31 - 1
_END_OF_TIME_MS = float(2**63)
_SHOWN_CHARACTERS = 60
_NULL_TOPIC = "null topic present in the data. Use the topic option for setting a default topic"


class WriteError(KafkaError):
    """A row cannot be written, or the broker rejected it."""


class Message(NamedTuple):
    """A row, as librdkafka's ``produce`` takes it."""

    topic: str | None
    value: bytes | str | None = None
    key: bytes | str | None = None
    partition: int = CHOSEN_BY_KEY
    timestamp_ms: int = NOW
    headers: list[tuple[str, bytes | None]] | None = None


# ── Column by column ──────────────────────────────────────────────────────────────────────────────────────────────


def messages_of_batch(batch: Any, topic: str | None) -> Iterator[tuple[Any, ...]]:
    """The rows of an Arrow record batch: what ``message_of_row`` makes of each, as plain tuples.

    Raises ``WriteError`` with the row's values, before the first row, if a row cannot be written as it is.
    """
    columns = {name: batch.column(name) for name in batch.schema.names if name in COLUMN_TYPES}
    _check_arrow_types(columns)
    rows, defaults = batch.num_rows, Message(topic)
    topics = [topic] * rows if topic is not None or "topic" not in columns else columns["topic"].to_pylist()
    found = {name: columns[name].to_pylist() for name in ("value", "key") if name in columns}
    refused = _refused_cells(topics, _unwritable_topic) if any(map(_unwritable_topic, set(topics))) else {}
    if "partition" in columns:
        partitions = columns["partition"].to_pylist()
        refused |= _refused_cells(partitions, _unwritable_partition)
        found["partition"] = [CHOSEN_BY_KEY if partition is None else partition for partition in partitions]
    if "timestamp" in columns:
        found["timestamp_ms"], bad_times = _column_of_milliseconds(columns["timestamp"])
        refused |= bad_times
    if "headers" in columns:
        headers = columns["headers"].to_pylist()
        refused |= _refused_cells(headers, _unwritable_headers)
    if refused:
        first = min(refused)
        _refuse(refused[first], {name: _cell(column, first) for name, column in columns.items()})
    if "headers" in columns:
        found["headers"] = [_headers(each) for each in headers]
    others = (found.get(name) or repeat(getattr(defaults, name), rows) for name in Message._fields[1:])
    return zip(topics, *others, strict=True)


def _check_arrow_types(columns: Mapping[str, Any]) -> None:
    """Raise ``WriteError`` for a column of another type: an integer, for one, could be seconds or milliseconds."""
    for name, column in columns.items():
        if not types.is_null(column.type) and not _ARROW_TYPES[name](column.type):
            raise WriteError(
                f"the column {name} is of type {column.type}: it must be {' or '.join(COLUMN_TYPES[name])}"
            )


def _is_text(type_: Any) -> bool:
    return bool(types.is_string(type_) or types.is_large_string(type_))


def _is_bytes(type_: Any) -> bool:
    return bool(_is_text(type_) or types.is_binary(type_) or types.is_large_binary(type_))


def _is_time(type_: Any) -> bool:
    return bool(types.is_timestamp(type_) or types.is_float64(type_))


def _is_headers(type_: Any) -> bool:
    if not (types.is_list(type_) or types.is_large_list(type_)) or not types.is_struct(type_.value_type):
        return False
    fields = {field.name: field.type for field in type_.value_type}
    if fields.keys() != {"key", "value"} or not _is_text(fields["key"]):
        return False
    return bool(types.is_binary(fields["value"]) or types.is_large_binary(fields["value"]))


_ARROW_TYPES = {
    "topic": _is_text,
    "key": _is_bytes,
    "value": _is_bytes,
    "headers": _is_headers,
    "partition": types.is_integer,
    "timestamp": _is_time,
}


def _refused_cells(cells: Sequence[Any], reason_of: Any) -> dict[int, str]:
    """Row number and reason of the first cell that is refused; empty if there is none."""
    for row, cell in enumerate(cells):
        if reason := reason_of(cell):
            return {row: reason}
    return {}


def _column_of_milliseconds(timestamps: Any) -> tuple[list[int], dict[int, str]]:
    """Unix times in ms of a column of timestamps (µs), or of seconds; and the first row that is refused."""
    is_null = timestamps.is_null().to_numpy(zero_copy_only=False)
    if types.is_timestamp(timestamps.type):
        microseconds = timestamps.cast(pyarrow.timestamp("us", timestamps.type.tz)).cast(pyarrow.int64())
        milliseconds = microseconds.fill_null(0).to_numpy(zero_copy_only=False) // 1000
    else:
        seconds = timestamps.cast(pyarrow.float64()).fill_null(0).to_numpy(zero_copy_only=False)
        milliseconds = (seconds * 1000).round()
    refused = np.flatnonzero(~is_null & ~((milliseconds > 0) & (milliseconds < _END_OF_TIME_MS)))
    if len(refused):
        row = int(refused[0])
        return [], {row: _unwritable_time(milliseconds[row].item())}
    return np.where(is_null, NOW, milliseconds).astype("int64").tolist(), {}


def _cell(column: Any, row: int) -> Any:
    try:
        return column[row].as_py()
    except (OverflowError, ValueError):  # a timestamp beyond Python's years
        return column[row].value


# ── Row by row ────────────────────────────────────────────────────────────────────────────────────────────────────


def message_of_row(row: Mapping[str, Any], topic: str | None) -> tuple[Any, ...]:
    """A row, given as columns by name without the nulls. Raises ``WriteError`` if it cannot be written as it is."""
    topic = topic if topic is not None else row.get("topic")
    timestamp_ms = _milliseconds(row["timestamp"]) if "timestamp" in row else NOW
    partition, headers = row.get("partition"), row.get("headers")
    reason = _unwritable_topic(topic) or _unwritable_partition(partition) or _unwritable_headers(headers)
    if "timestamp" in row and not 0 < timestamp_ms < _END_OF_TIME_MS:
        reason = reason or _unwritable_time(timestamp_ms)
    if reason:
        _refuse(reason, row)
    at = CHOSEN_BY_KEY if partition is None else partition
    return Message(topic, row.get("value"), row.get("key"), at, int(timestamp_ms), _headers(headers))


def _milliseconds(timestamp: datetime | float) -> float:
    if isinstance(timestamp, datetime):
        return round(timestamp.timestamp() * 1_000_000) // 1000
    return round(timestamp * 1000) if math.isfinite(timestamp) else timestamp


# ── What no message can have ──────────────────────────────────────────────────────────────────────────────────────


def _unwritable_topic(topic: str | None) -> str:
    if topic is None:
        return _NULL_TOPIC
    return "" if is_valid_topic_name(topic) else f"{topic!r} is not the name of a topic"


def _unwritable_partition(partition: int | None) -> str:
    if partition is None or 0 <= partition <= _MAX_PARTITION:
        return ""
    return f"Invalid partition: {partition}. A partition number should not be negative or above {_MAX_PARTITION}"


def _unwritable_headers(headers: Iterable[Mapping[str, Any] | None] | None) -> str:
    """A header's value may be null. librdkafka would write ``None`` for a key that is null, and cut one at a NUL."""
    for header in headers or ():
        if header is None or header["key"] is None:
            return "a header without a key cannot be written"
        if "\0" in header["key"]:
            return "a header whose key has the character NUL cannot be written"
    return ""


def _unwritable_time(timestamp_ms: float) -> str:
    if not math.isfinite(timestamp_ms) or timestamp_ms >= _END_OF_TIME_MS:
        return "the timestamp is not a time"
    if timestamp_ms < 0:
        return "a timestamp before 1970 cannot be written: Kafka's timestamps are not negative"
    return (
        "the timestamp 1970-01-01T00:00:00.000Z cannot be written: librdkafka would write the current time. "
        "For the current time use null"
    )


def _headers(headers: Iterable[Mapping[str, Any]] | None) -> list[tuple[str, bytes | None]] | None:
    return None if headers is None else [(header["key"], header["value"]) for header in headers]


def _refuse(reason: str, row: Mapping[str, Any]) -> NoReturn:
    raise WriteError(f"{reason}; the row is {describe_row(row)}")


def describe_row(row: Mapping[str, Any]) -> str:
    """A row for a message: ``topic='flights', key=b'UA', …``, with long values cut."""
    return ", ".join(f"{name}={_shortened(_as_text(cell))}" for name, cell in row.items())


def _as_text(cell: Any) -> str:
    return cell.isoformat() if isinstance(cell, datetime) else repr(cell)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
