"""A serde is a serializer and a deserializer of the same type. Streams needs both for every topic and store.

Kafka 0.10.2: clients/.../common/serialization/Serde.java, Serdes.java · book 9.1.1
"""

from __future__ import annotations

import json
from typing import Any, Generic, TypeVar

from kafka_lite.common.serialization import (
    ByteArrayDeserializer,
    ByteArraySerializer,
    Deserializer,
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    LongDeserializer,
    LongSerializer,
    SerializationError,
    Serializer,
    StringDeserializer,
    StringSerializer,
    ensure_serializer,
)

T = TypeVar("T")


class Serde(Generic[T]):
    """A pair of serializer and deserializer. Subclass it without arguments to name it in a configuration."""

    def __init__(self, serializer: Serializer[T], deserializer: Deserializer[T]) -> None:
        """Raises TypeError for an argument that is not an object of its kind."""
        ensure_serializer(serializer, Serializer, "serializer")
        ensure_serializer(deserializer, Deserializer, "deserializer")
        self.serializer = serializer
        self.deserializer = deserializer


class ByteArraySerde(Serde[bytes]):
    """Bytes, unchanged."""

    def __init__(self) -> None:
        super().__init__(ByteArraySerializer(), ByteArrayDeserializer())


class StringSerde(Serde[str]):
    """Text in UTF-8."""

    def __init__(self) -> None:
        super().__init__(StringSerializer(), StringDeserializer())


class IntegerSerde(Serde[int]):
    """An int in four bytes, big-endian: Java's Integer."""

    def __init__(self) -> None:
        super().__init__(IntegerSerializer(), IntegerDeserializer())


class LongSerde(Serde[int]):
    """An int in eight bytes, big-endian: Java's Long."""

    def __init__(self) -> None:
        super().__init__(LongSerializer(), LongDeserializer())


class DoubleSerde(Serde[float]):
    """A float in eight bytes, IEEE 754, big-endian: Java's Double."""

    def __init__(self) -> None:
        super().__init__(DoubleSerializer(), DoubleDeserializer())


class JsonSerializer(Serializer[Any]):
    """Compact JSON in UTF-8. The keys of objects are sorted, so that equal values have equal bytes."""

    def serialize(self, topic: str, data: Any) -> bytes | None:
        """Encode the value. Raises SerializationError if JSON has no such type, or no such number (NaN)."""
        if data is None:
            return None
        try:
            text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
            return text.encode()
        except (TypeError, ValueError) as error:
            raise SerializationError(f"{topic}: {error}") from error


class JsonDeserializer(Deserializer[Any]):
    """The inverse of :class:`JsonSerializer`."""

    def deserialize(self, topic: str, data: bytes | None) -> Any:
        """Decode the value. Raises SerializationError if the bytes are not JSON in UTF-8."""
        try:
            return None if data is None else json.loads(data)
        except ValueError as error:
            raise SerializationError(f"{topic}: {error}") from error


class JsonSerde(Serde[Any]):
    """A value of JSON. ``None`` is a tombstone, not ``null``."""

    def __init__(self) -> None:
        super().__init__(JsonSerializer(), JsonDeserializer())


class Serdes:
    """The built-in serdes by name, and a way to make others."""

    @staticmethod
    def byte_array() -> Serde[bytes]:
        """Bytes, unchanged."""
        return ByteArraySerde()

    @staticmethod
    def string() -> Serde[str]:
        """Text in UTF-8."""
        return StringSerde()

    @staticmethod
    def integer() -> Serde[int]:
        """Java's Integer: four bytes, big-endian."""
        return IntegerSerde()

    @staticmethod
    def long() -> Serde[int]:
        """Java's Long: eight bytes, big-endian."""
        return LongSerde()

    @staticmethod
    def double() -> Serde[float]:
        """Java's Double: eight bytes, IEEE 754, big-endian."""
        return DoubleSerde()

    @staticmethod
    def json() -> Serde[Any]:
        """JSON in UTF-8."""
        return JsonSerde()

    @staticmethod
    def serde_from(serializer: Serializer[T], deserializer: Deserializer[T]) -> Serde[T]:
        """A serde of your own. Raises TypeError for an argument that is not an object of its kind."""
        return Serde(serializer, deserializer)
