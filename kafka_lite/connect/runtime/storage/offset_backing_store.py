"""The interface of stores of source offsets.

Kafka 0.10.2: connect/runtime/.../connect/storage/OffsetBackingStore.java · book 8.3.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future

Offsets = Mapping[bytes | None, bytes | None]
SetCallback = Callable[[BaseException | None], None]
"""Called once the offsets are stored, or with the error."""


class OffsetBackingStore(ABC):
    """Maps serialized source partitions to serialized offsets. Both calls return at once."""

    @abstractmethod
    def start(self) -> None:
        """Read everything. Raises ConnectError."""

    @abstractmethod
    def stop(self) -> None:
        """Wait for what is in progress, and close what the store holds open."""

    @abstractmethod
    def get(self, keys: Iterable[bytes | None]) -> Future[dict[bytes | None, bytes | None]]:
        """The values of the keys, None for those that have none."""

    @abstractmethod
    def all(self) -> Future[dict[bytes | None, bytes | None]]:
        """All keys and values."""

    @abstractmethod
    def set(self, values: Offsets, callback: SetCallback | None = None) -> Future[None]:
        """Store values. None deletes."""
