"""The bytes of records of groups: which key has which value.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorRecordSerde.java · book 3.5.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version

KeyT = TypeVar("KeyT", bound=Message)


def encode(record: tuple[Message, Message | None]) -> tuple[bytes, bytes | None]:
    """Key and value as they are in the log; the value has version 0, as all of them have."""
    key, value = record
    return encode_with_version(key, key.VERSIONS.lowest), None if value is None else encode_with_version(value, 0)


class RecordKinds(Generic[KeyT]):
    """The kinds of records of one kind of group. The version of a key tells which it is."""

    def __init__(self, values: Mapping[type[KeyT], type[Message]]) -> None:
        self._values = values
        self._keys = {key.VERSIONS.lowest: key for key in values}

    def read_key(self, key: bytes) -> KeyT | None:
        """The key; None if it is of another kind. Raises SchemaError."""
        kind = self._keys.get(read_version(key))
        return None if kind is None else decode_with_version(kind, key)

    def read_value(self, key: KeyT, value: bytes | None) -> Message | None:
        """The value for this key. Raises SchemaError."""
        return None if value is None else decode_with_version(self._values[type(key)], value)
