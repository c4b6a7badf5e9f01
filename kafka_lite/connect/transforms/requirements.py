"""The requirements of transformations: a map, a struct, a sink's record.

Kafka 0.10.2: connect/transforms/.../connect/transforms/util/Requirements.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.sink_record import SinkRecord


def require_map(value: object, purpose: str) -> Mapping[str, Any]:
    """The value, if it is a map. Raises DataError, which names the purpose."""
    if not isinstance(value, Mapping):
        raise DataError(f"Only Map objects supported in absence of schema for [{purpose}], found: {_class_name(value)}")
    return value


def require_struct(value: object, purpose: str) -> Struct:
    """The value, if it is a struct. Raises DataError, which names the purpose."""
    if not isinstance(value, Struct):
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {_class_name(value)}")
    return value


def require_sink_record(record: ConnectRecord, purpose: str) -> SinkRecord:
    """The record, if it is one of a sink. Raises DataError, which names the purpose."""
    if not isinstance(record, SinkRecord):
        raise DataError(f"Only SinkRecord supported for [{purpose}], found: {_class_name(record)}")
    return record


def _class_name(value: object) -> str:
    return "null" if value is None else type(value).__qualname__
