"""What turns bytes into the old consumer's keys and messages.

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
    """Bytes that are not what the decoder expects."""


class Decoder(ABC, Generic[T]):
    """Made with properties of one's own; None (no key, a tombstone) is never given to it."""

    def __init__(self, props: Mapping[str, object] | None = None) -> None:
        self.props = props or {}

    @abstractmethod
    def from_bytes(self, data: bytes) -> T:
        """The key or message. Raises DecodeError."""


class DefaultDecoder(Decoder[bytes]):
    """Bytes are bytes."""

    def from_bytes(self, data: bytes) -> bytes:
        """As they are."""
        return data


class StringDecoder(Decoder[str]):
    """Text, in ``serializer.encoding``; UTF-8 else."""

    def from_bytes(self, data: bytes) -> str:
        """Decoded. Raises DecodeError."""
        try:
            return data.decode(str(self.props.get("serializer.encoding", "utf-8")))
        except (UnicodeError, LookupError) as error:
            raise DecodeError(str(error)) from error


class _NumberDecoder(Decoder[int]):
    LAYOUT: struct.Struct

    def from_bytes(self, data: bytes) -> int:
        """Big-endian. Raises DecodeError for any other number of bytes."""
        if len(data) != self.LAYOUT.size:
            raise DecodeError(f"{len(data)} bytes are not {self.LAYOUT.size}")
        number: int = self.LAYOUT.unpack(data)[0]
        return number


class IntegerDecoder(_NumberDecoder):
    """Four bytes."""

    LAYOUT = struct.Struct(">i")


class LongDecoder(_NumberDecoder):
    """Eight bytes."""

    LAYOUT = struct.Struct(">q")
