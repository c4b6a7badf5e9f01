"""The offsets that a connector's source tasks have reached.

Kafka 0.10.2: connect/api/.../connect/storage/OffsetStorageReader.java · book 8.3.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any


class OffsetStorageReader(ABC):
    """Reads stored offsets, for a task that starts."""

    @abstractmethod
    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """The offset of a source partition, None if there is none. Raises ConnectError."""

    @abstractmethod
    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The offsets of several source partitions, in the same order. Raises ConnectError.

        (Kafka's result is a map whose keys are maps, which Python does not have.)
        """
