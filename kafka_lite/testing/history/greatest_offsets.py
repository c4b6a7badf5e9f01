"""How far each partition has come in a history that grows.

Not in Kafka. The simulator asks every few milliseconds of its time, so only what is new is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from kafka_lite.testing.history.history import Place

T = TypeVar("T")


class GreatestOffsets(Generic[T]):
    """The greatest offset of each partition in a list of records that only grows."""

    def __init__(self, entries: Sequence[T], place_of: Callable[[T], Place]) -> None:
        self._entries = entries
        self._place_of = place_of
        self._seen = 0
        self._greatest: dict[tuple[str, int], int] = {}

    def now(self) -> Mapping[tuple[str, int], int]:
        """Topic and partition -> offset, in the order in which the partitions came up."""
        greatest, place_of = self._greatest, self._place_of
        for entry in self._entries[self._seen :]:
            topic, partition, offset = place_of(entry)
            if offset > greatest.get((topic, partition), -2):
                greatest[topic, partition] = offset
        self._seen = len(self._entries)
        return greatest
