"""Deserializes the old consumer's keys and messages.

Kafka 0.10.2: core/.../serializer/Decoder.scala (DefaultDecoder, StringDecoder) · book 3.4.2
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

from kafka_lite.common.errors import KafkaError

T = TypeVar("T")


class DecodeError(KafkaError):
    """The bytes are not what the decoder expects."""


class Decoder(ABC, Generic[T]):
    """The base of decoders, created with properties. None (no key, a tombstone) is never passed to them."""

    def __init__(self, props: Mapping[str, object] | None = None) -> None:
        self.props = props or {}

    @abstractmethod
    def from_bytes(self, data: bytes) -> T:
        """The decoded key or message. Raises DecodeError."""


class DefaultDecoder(Decoder[bytes]):
    """Passes bytes through."""

    def from_bytes(self, data: bytes) -> bytes:
        """Return the bytes unchanged."""
        return data


class StringDecoder(Decoder[str]):
    """Decodes text in ``serializer.encoding``, by default UTF-8."""

    def from_bytes(self, data: bytes) -> str:
        """The decoded text. Raises DecodeError."""
        try:
            return data.decode(str(self.props.get("serializer.encoding", "utf-8")))
        except (UnicodeError, LookupError) as error:
            raise DecodeError(str(error)) from error


class _NumberDecoder(Decoder[int]):
    LAYOUT: struct.Struct

    def from_bytes(self, data: bytes) -> int:
        """The big-endian number. Raises DecodeError for a wrong number of bytes."""
        if len(data) != self.LAYOUT.size:
            raise DecodeError(f"{len(data)} bytes are not {self.LAYOUT.size}")
        number: int = self.LAYOUT.unpack(data)[0]
        return number


class IntegerDecoder(_NumberDecoder):
    """Decodes four bytes."""

    LAYOUT = struct.Struct(">i")


class LongDecoder(_NumberDecoder):
    """Decodes eight bytes."""

    LAYOUT = struct.Struct(">q")
