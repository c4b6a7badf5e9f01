"""Serializers and deserializers of keys and values.

Kafka 0.10.2: clients/.../common/serialization/Serializer.java, Deserializer.java, StringSerializer.java,
ByteArraySerializer.java, ByteArrayDeserializer.java, StringDeserializer.java, IntegerSerializer.java,
IntegerDeserializer.java, LongSerializer.java, LongDeserializer.java, DoubleSerializer.java, DoubleDeserializer.java
· book 2.1.1
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from kafka_lite.common.errors import KafkaError

T = TypeVar("T")
Number = TypeVar("Number", int, float)


class SerializationError(KafkaError):
    """A key or value of the wrong type for its serializer, or bytes that a deserializer cannot decode."""


class Serializer(ABC, Generic[T]):
    """Serializes a key or value. ``None`` stays ``None``: no key, or a tombstone."""

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Configure the serializer; called once, before the first record."""

    @abstractmethod
    def serialize(self, topic: str, data: T | None) -> bytes | None:
        """Serialize the data. Raises SerializationError if it has the wrong type."""

    def close(self) -> None:
        """Called once, after the last record."""


class Deserializer(ABC, Generic[T]):
    """Deserializes a key or value; the inverse of :class:`Serializer`."""

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Configure the deserializer; called once, before the first record."""

    @abstractmethod
    def deserialize(self, topic: str, data: bytes | None) -> T | None:
        """Deserialize the data. Raises SerializationError if the bytes are malformed."""

    def close(self) -> None:
        """Called once, after the last record."""


def ensure_serializer(given: object, kind: type[Any], what: str) -> None:
    """Raise TypeError unless the object has the method of a Serializer or Deserializer.

    A function, or the class itself instead of an object, is a likely mistake.
    """
    method = "serialize" if issubclass(kind, Serializer) else "deserialize"
    if given is not None and (isinstance(given, type) or not callable(getattr(given, method, None))):
        raise TypeError(f"{what} must be an object derived from {kind.__name__}, not {given!r}")


class ByteArraySerializer(Serializer[Any]):
    """Passes bytes through."""

    def serialize(self, topic: str, data: Any) -> bytes | None:
        """Return the bytes unchanged."""
        if data is None or isinstance(data, bytes):
            return data
        if isinstance(data, bytearray | memoryview):
            return bytes(data)
        kind = type(data).__name__
        raise SerializationError(
            f"{topic}: a {kind} is not bytes: encode it, or set key.serializer or value.serializer"
        )


class ByteArrayDeserializer(Deserializer[bytes]):
    """Passes bytes through."""

    def deserialize(self, topic: str, data: bytes | None) -> bytes | None:  # noqa: ARG002
        """Return the bytes unchanged."""
        return data


class StringSerializer(Serializer[str]):
    """Text in ``key.serializer.encoding``, ``value.serializer.encoding`` or ``serializer.encoding``; default UTF-8."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Read the encoding."""
        self._encoding = _encoding_of(configs, is_key, "serializer", self._encoding)

    def serialize(self, topic: str, data: str | None) -> bytes | None:
        """Encode the text. Raises SerializationError if it is not a str or cannot be encoded."""
        if data is None:
            return None
        if not isinstance(data, str):
            raise SerializationError(f"{topic}: a {type(data).__name__} is not a str")
        try:
            return data.encode(self._encoding)
        except UnicodeError as error:
            raise SerializationError(f"{topic}: {error}") from error


class StringDeserializer(Deserializer[str]):
    """Text in ``key.deserializer.encoding``, ``value.deserializer.encoding``, ``deserializer.encoding``; or UTF-8."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Read the encoding."""
        self._encoding = _encoding_of(configs, is_key, "deserializer", self._encoding)

    def deserialize(self, topic: str, data: bytes | None) -> str | None:
        """Decode the bytes. Raises SerializationError if they are not valid in the encoding."""
        try:
            return None if data is None else data.decode(self._encoding)
        except UnicodeError as error:
            raise SerializationError(f"{topic}: {error}") from error


def _encoding_of(configs: Mapping[str, object], is_key: bool, kind: str, default: str) -> str:
    for key in (f"{'key' if is_key else 'value'}.{kind}.encoding", f"{kind}.encoding"):
        if key in configs:
            return str(configs[key])
    return default


class _NumberSerializer(Serializer[Number]):
    LAYOUT: struct.Struct

    def serialize(self, topic: str, data: Number | None) -> bytes | None:
        """Encode as big-endian. Raises SerializationError if the number does not fit."""
        try:
            return None if data is None else self.LAYOUT.pack(data)
        except struct.error as error:
            raise SerializationError(f"{topic}: {data!r}: {error}") from error


class _NumberDeserializer(Deserializer[Number]):
    LAYOUT: struct.Struct

    def deserialize(self, topic: str, data: bytes | None) -> Number | None:
        """Decode from big-endian. Raises SerializationError if the number of bytes is wrong."""
        if data is None:
            return None
        if len(data) != self.LAYOUT.size:
            raise SerializationError(f"{topic}: {len(data)} bytes are not {self.LAYOUT.size}")
        number: Number = self.LAYOUT.unpack(data)[0]
        return number


class IntegerSerializer(_NumberSerializer[int]):
    """Four bytes."""

    LAYOUT = struct.Struct(">i")


class IntegerDeserializer(_NumberDeserializer[int]):
    """Four bytes."""

    LAYOUT = struct.Struct(">i")


class LongSerializer(_NumberSerializer[int]):
    """Eight bytes."""

    LAYOUT = struct.Struct(">q")


class LongDeserializer(_NumberDeserializer[int]):
    """Eight bytes."""

    LAYOUT = struct.Struct(">q")


class DoubleSerializer(_NumberSerializer[float]):
    """Eight bytes, IEEE 754."""

    LAYOUT = struct.Struct(">d")


class DoubleDeserializer(_NumberDeserializer[float]):
    """Eight bytes, IEEE 754."""

    LAYOUT = struct.Struct(">d")
