"""The contents of an application's topics, as a ``read_committed`` consumer has seen them.

Not in Kafka.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple


class Content(NamedTuple):
    """The contents of a record, without its topic, partition and offset."""

    key: bytes | None
    value: bytes | None
    timestamp: int

    def __str__(self) -> str:
        return f"{self.key!r}: {self.value!r} of {self.timestamp}"


class Seen:
    """The records of each partition, in the order of their offsets."""

    def __init__(self) -> None:
        self.contents: dict[tuple[str, int], list[Content]] = defaultdict(list)
        self.offsets: dict[tuple[str, int], list[int]] = defaultdict(list)

    def add(
        self, topic: str, partition: int, offset: int, key: bytes | None, value: bytes | None, timestamp: int
    ) -> None:
        """One more record."""
        self.contents[topic, partition].append(Content(key, value, timestamp))
        self.offsets[topic, partition].append(offset)

    def count(self, topic: str) -> int:
        """How many records of a topic were seen."""
        return sum(len(found) for (name, _), found in self.contents.items() if name == topic)
