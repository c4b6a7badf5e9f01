"""The format of source partitions and offsets, and how they are serialized.

Kafka 0.10.2: connect/runtime/.../connect/storage/OffsetUtils.java · book 8.3.6
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.errors import DataError

_PRIMITIVES = (str, int, float, bytes, bytearray, memoryview)


def validate_format(data: object) -> None:
    """Raise DataError unless the data is None, or a map from strings to primitive values or None."""
    if data is None:
        return
    if not isinstance(data, Mapping):
        raise DataError("Offsets must be specified as a Map")
    for key, value in data.items():
        if not isinstance(key, str):
            raise DataError("Offsets may only use String keys")
        if value is not None and not isinstance(value, _PRIMITIVES):
            kind = type(value).__name__
            raise DataError(f"Offsets may only contain primitive types as values, but field {key} contains {kind}")


def serialize_partition(converter: Converter, namespace: str, partition: Mapping[str, Any] | None) -> bytes | None:
    """The key of a source partition: ``["connector",{"filename":"/tmp/a"}]``. Raises DataError.

    Stores compare keys as bytes, so the map's order matters.
    """
    validate_format(partition)
    return converter.from_connect_data(namespace, None, [namespace, partition])
