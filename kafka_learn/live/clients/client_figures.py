"""Counts of the records of the reader's clients, and the partitions that each consumer has.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reader:
    """A consumer of the reader's group."""

    partitions: list[int] = field(default_factory=list)
    """Its assignment, by its own account."""
    records: int = 0
    last: str = ""
    """The last record, and its place."""


class ClientFigures:
    """Counts what the programs tell; ``note`` gets what a reader should see at once."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._sent = self._acknowledged = self._failed = 0
        self._readers: dict[str, Reader] = {}

    def sent(self, value: str) -> None:
        """A record was given to the producer."""
        del value
        self._sent += 1

    def acknowledged(self, value: str, partition: int, offset: int) -> None:
        """It has its place; without acknowledgments (acks=0), the offset is -1."""
        self._acknowledged += 1
        self._note(f"producer: {value} acknowledged, partition {partition}, offset {offset}")

    def failed(self, value: str, error: str) -> None:
        """The producer has given up on a record, or a consumer's poll has failed."""
        self._failed += 1
        self._note(f"{value} failed: {error}")

    def read(self, consumer: str, value: str, partition: int, offset: int) -> None:
        """A consumer has got a record."""
        reader = self._reader(consumer)
        reader.records += 1
        reader.last = f"{value} at {partition}/{offset}"
        self._note(f"{consumer}: read {value}, partition {partition}, offset {offset}")

    def assigned(self, consumer: str, partitions: Sequence[int]) -> None:
        """A consumer has these partitions now."""
        reader = self._reader(consumer)
        if reader.partitions != list(partitions):
            reader.partitions = list(partitions)
            self._note(f"{consumer}: has partitions {', '.join(map(str, partitions)) or 'none'}")

    def ended(self, consumer: str) -> None:
        """A consumer runs no more."""
        self._readers.pop(consumer, None)

    def _reader(self, consumer: str) -> Reader:
        return self._readers.setdefault(consumer, Reader())

    def as_json(self) -> dict[str, Any]:
        """The counts, and the consumers by name."""
        return {
            "producer": {"sent": self._sent, "acknowledged": self._acknowledged, "failed": self._failed},
            "consumers": {
                name: {"partitions": reader.partitions, "records": reader.records, "last": reader.last}
                for name, reader in sorted(self._readers.items())
            },
        }
