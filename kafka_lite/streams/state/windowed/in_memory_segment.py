"""A segment in memory.

Kafka 0.10.2: streams/.../state/internals/Segment.java (there: on disk, in RocksDB) · book 9.2.4
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from kafka_lite.streams.state.windowed.segments import Segment


class InMemorySegment(Segment):
    """For each record's key a list of suffixes with their values, in order. Most new entries belong at its end."""

    def __init__(self, suffix_size: int) -> None:
        self._suffix_size = suffix_size
        self._entries: dict[bytes, list[tuple[bytes, bytes]]] = {}

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key."""
        record_key, suffix = key[: -self._suffix_size], key[-self._suffix_size :]
        entries = self._entries.setdefault(record_key, [])
        if value is not None and (not entries or suffix > entries[-1][0]):
            entries.append((suffix, value))
            return
        position = bisect_left(entries, (suffix,))
        found = position < len(entries) and entries[position][0] == suffix
        if value is not None:
            entries[position : position + found] = [(suffix, value)]
        elif found:
            del entries[position]
        if not entries:
            del self._entries[record_key]

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        suffix = key[-self._suffix_size :]
        entries = self._entries.get(key[: -self._suffix_size], [])
        position = bisect_left(entries, (suffix,))
        return entries[position][1] if position < len(entries) and entries[position][0] == suffix else None

    def fetch(self, key: bytes, lower: bytes, upper: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The suffixes and values of a record's key from ``lower`` to below ``upper``."""
        entries = self._entries.get(key)
        if entries is None:
            return iter(())
        entries = entries[:]  # atomic: another thread may read
        return iter(entries[bisect_left(entries, (lower,)) : bisect_left(entries, (upper,))])

    def flush(self) -> None:
        """A no-op."""

    def close(self) -> None:
        """Drop all entries."""
        self._entries.clear()

    def destroy(self) -> None:
        """A no-op: there is nothing on disk."""
