"""Serializes the old producer's keys and messages.

Kafka 0.10.2: core/.../serializer/Encoder.scala (DefaultEncoder, StringEncoder, NullEncoder) · book 2.2.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class Encoder(ABC):
    """The base of encoders, which are created with the producer's configuration."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.configs = configs

    @abstractmethod
    def to_bytes(self, data: Any) -> bytes | None:
        """The serialized data; None stays None. Raises TypeError or ValueError if it cannot be encoded."""


class DefaultEncoder(Encoder):
    """Passes bytes through."""

    def to_bytes(self, data: Any) -> bytes | None:
        """Return the bytes unchanged."""
        if data is None or isinstance(data, bytes):
            return data
        raise TypeError(f"a {type(data).__name__} is not bytes: encode it, or set serializer.class")


class NullEncoder(Encoder):
    """Encodes everything as None."""

    def to_bytes(self, data: Any) -> bytes | None:  # noqa: ARG002
        """None."""
        return None


class StringEncoder(Encoder):
    """Encodes text in ``serializer.encoding``, by default UTF-8."""

    def to_bytes(self, data: Any) -> bytes | None:
        """The encoded text."""
        if data is None:
            return None
        if not isinstance(data, str):
            raise TypeError(f"a {type(data).__name__} is not a str")
        return data.encode(str(self.configs.get("serializer.encoding", "utf-8")))
