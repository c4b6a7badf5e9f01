"""What turns the old producer's keys and messages into bytes.

Kafka 0.10.2: core/.../serializer/Encoder.scala (DefaultEncoder, StringEncoder, NullEncoder) · book 2.2.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class Encoder(ABC):
    """Made with the producer's configuration."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.configs = configs

    @abstractmethod
    def to_bytes(self, data: Any) -> bytes | None:
        """The bytes; None stays None. Raises TypeError or ValueError for what it cannot encode."""


class DefaultEncoder(Encoder):
    """Bytes are bytes."""

    def to_bytes(self, data: Any) -> bytes | None:
        """As they are."""
        if data is None or isinstance(data, bytes):
            return data
        raise TypeError(f"a {type(data).__name__} is not bytes: encode it, or set serializer.class")


class NullEncoder(Encoder):
    """Forgets everything."""

    def to_bytes(self, data: Any) -> bytes | None:  # noqa: ARG002
        """Nothing."""
        return None


class StringEncoder(Encoder):
    """Text, in ``serializer.encoding``; UTF-8 else."""

    def to_bytes(self, data: Any) -> bytes | None:
        """Encoded."""
        if data is None:
            return None
        if not isinstance(data, str):
            raise TypeError(f"a {type(data).__name__} is not a str")
        return data.encode(str(self.configs.get("serializer.encoding", "utf-8")))
