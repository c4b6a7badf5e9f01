"""The time index: finds the offset from which on messages are newer than a timestamp.

Kafka 0.10.2: core/.../log/TimeIndex.scala · book 6.1.3
"""

from __future__ import annotations

import struct
from typing import Final

from kafka_lite.log.abstract_index import AbstractIndex, CorruptIndexError, IndexSearchType, InvalidOffsetError
from kafka_lite.log.index_entry import TimestampOffset

NO_TIMESTAMP: Final = -1


class TimeIndex(AbstractIndex[TimestampOffset]):
    """The ``.timeindex`` file of a segment: maps the largest timestamp so far to the offset of its message.

    ::

        entry, 12 bytes      timestamp I64 (ms) │ relative offset I32

        messages    offset     20   21   22   23   24   25   26   27
                    timestamp  100  103  101  105  104  102  109  108
                                    ╰───────╮    ╰───────╮    ╰──╮
        .timeindex  entries             103 │ 1      105 │ 3     109 │ 6

    An entry (T, O) means: no message before O is newer than T; messages newer than T come after O. Entries are added
    together with those of the offset index, and a last one when the segment is rolled or closed, so that the largest
    timestamp, which retention needs, is known without reading the segment. Timestamps may decrease in the log
    (producers set them), but not in the index: an entry is added only if its timestamp is greater than the last one.
    """

    ENTRY = struct.Struct(">qi")

    @property
    def is_full(self) -> bool:
        """Whether there is no room left except for the last entry, which is reserved for the roll."""
        return self._entries >= self._max_entries - 1

    @property
    def last_entry(self) -> TimestampOffset:
        """The last entry, or (-1, base offset) if there is none."""
        with self._lock:
            return TimestampOffset(*self._last_timestamp_and_offset())

    def _last_timestamp_and_offset(self) -> tuple[int, int]:
        if not self._entries:
            return NO_TIMESTAMP, self.base_offset
        timestamp, relative_offset = self.ENTRY.unpack_from(self._mmap, (self._entries - 1) * self.entry_size)
        return timestamp, self.base_offset + relative_offset

    def lookup(self, target_timestamp: int) -> TimestampOffset:
        """Return the greatest entry whose timestamp is less than or equal to ``target_timestamp``.

        Returns (-1, base offset) if there is none.
        """
        with self._lock:
            slot = self._index_slot_for(target_timestamp, IndexSearchType.KEY)
            return TimestampOffset(NO_TIMESTAMP, self.base_offset) if slot == -1 else self._parse_entry(slot)

    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        """Add an entry if ``timestamp`` is greater than the last one; a no-op if it is equal.

        ``skip_full_check`` lets the roll use the reserved last slot. Raises IndexError if the index is full,
        InvalidOffsetError if the timestamp or the offset is smaller than that of the last entry.
        """
        with self._lock:
            if self.is_full and not skip_full_check:
                raise IndexError(f"{self.file} is full ({self._entries} entries)")
            last_timestamp, last_offset = self._last_timestamp_and_offset()
            if self._entries and (offset < last_offset or timestamp < last_timestamp):
                raise InvalidOffsetError(
                    f"({timestamp}, {offset}) comes before the last entry of {self.file}, "
                    f"({last_timestamp}, {last_offset})"
                )
            if timestamp > last_timestamp:
                self._put_entry(timestamp, self.relative_offset(offset))

    def truncate_to(self, offset: int) -> None:
        """Remove all entries at or above ``offset``; this searches by the entries' values."""
        with self._lock:
            slot = self._index_slot_for(offset, IndexSearchType.VALUE)
            if slot == -1:
                self._truncate_to_entries(0)
            elif self._parse_entry(slot).offset == offset:
                self._truncate_to_entries(slot)
            else:
                self._truncate_to_entries(slot + 1)

    def sanity_check(self) -> None:
        """Raise CorruptIndexError if there is a partial entry, or if timestamps or offsets are out of order."""
        size = self.file.stat().st_size
        if size % self.entry_size != 0:
            raise CorruptIndexError(f"{self.file} has {size} bytes, which is not a multiple of {self.entry_size}")
        if not self._entries:
            return
        first, last = self._parse_entry(0), self.last_entry
        if self._entries > 1 and last.timestamp <= first.timestamp:
            raise CorruptIndexError(
                f"the last timestamp of {self.file} is {last.timestamp}, the first {first.timestamp}"
            )
        if last.offset < self.base_offset:
            raise CorruptIndexError(f"the last offset of {self.file}, {last.offset}, is smaller than its base offset")

    def _parse_entry(self, n: int) -> TimestampOffset:
        timestamp, relative_offset = self.ENTRY.unpack_from(self._mmap, n * self.entry_size)
        return TimestampOffset(timestamp, self.base_offset + relative_offset)
