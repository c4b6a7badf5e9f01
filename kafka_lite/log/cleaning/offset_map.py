"""What the cleaner must remember of the dirty part of a log: for each key, the newest offset.

Kafka 0.10.2: core/.../log/OffsetMap.scala; since 3.5 OffsetMap.java · book 6.1.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka_lite.common.sendable import Buffer


class OffsetMap(ABC):
    """A map key → offset that may be full."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many keys it can hold."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many keys it holds."""

    @property
    @abstractmethod
    def latest_offset(self) -> int:
        """Up to this offset, it included, the map knows the log; -1 when it knows nothing yet."""

    @abstractmethod
    def put(self, key: Buffer, offset: int) -> None:
        """Remember the offset of a key instead of the one known so far; raises ValueError when the map is full."""

    @abstractmethod
    def get(self, key: Buffer) -> int:
        """The offset of a key; -1 when the key is not known."""

    @abstractmethod
    def update_latest_offset(self, offset: int) -> None:
        """All offsets up to this one are known: the last of them need not have a key."""

    @abstractmethod
    def clear(self) -> None:
        """Forget everything."""

    @property
    def utilization(self) -> float:
        """Which part of the slots is in use, 0 to 1."""
        return self.size / self.slots
