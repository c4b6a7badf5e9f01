"""The cleaner's map of the dirty part of a log: the newest offset of each key.

Kafka 0.10.2: core/.../log/OffsetMap.scala; since 3.5 OffsetMap.java · book 6.1.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka_lite.common.sendable import Buffer


class OffsetMap(ABC):
    """A map from keys to offsets with a fixed capacity."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Capacity: the number of keys that fit."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of keys in the map."""

    @property
    @abstractmethod
    def latest_offset(self) -> int:
        """The map covers the log up to and including this offset; -1 if it covers nothing yet."""

    @abstractmethod
    def put(self, key: Buffer, offset: int) -> None:
        """Set the offset of a key, replacing an older one. Raises ValueError if the map is full."""

    @abstractmethod
    def get(self, key: Buffer) -> int:
        """Return the offset of a key, or -1 if the key is not in the map."""

    @abstractmethod
    def update_latest_offset(self, offset: int) -> None:
        """Extend the covered range to this offset, for offsets at the end that have no key."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all keys."""

    @property
    def utilization(self) -> float:
        """Fraction of the slots in use, 0 to 1."""
        return self.size / self.slots
