"""The offset index: finds the position of an offset in the .log file.

Kafka 0.10.2: core/.../log/OffsetIndex.scala · book 6.1.3
"""

from __future__ import annotations

import struct
from typing import Final

from kafka_lite.log.abstract_index import AbstractIndex, CorruptIndexError, IndexSearchType, InvalidOffsetError
from kafka_lite.log.index_entry import OffsetPosition

# Looked up once: in Python 3.11, accessing an enum member takes as long as parsing an entry.
_KEY: Final = IndexSearchType.KEY


class OffsetIndex(AbstractIndex[OffsetPosition]):
    """The ``.index`` file of a segment: maps the offsets of some messages to positions in the .log file.

    ::

        entry, 8 bytes       relative offset I32 │ position I32

        00000000000000000020.index                     00000000000000000020.log
        ┌───────────────┐                              position
        │  2 │  204     │ ─────── offset 22 ──┐             0   20 │ 21 │
        │  4 │  408     │ ─┐                  └──────────▸ 204   22 │ 23 │
        │  6 │  612     │  └───── offset 24 ─────────────▸ 408   24 │ 25 │
        └───────────────┘                                  612   26 │ ...

    The index is sparse: one entry per ``index.interval.bytes`` (4096) of the log, so the index of a full segment (1 GB)
    takes no more than 2 MB. To find offset 25, look up the greatest entry that is not greater (24 at 408) and read the
    log from there. Both offsets and positions increase from entry to entry. No entry has the relative offset 0, so an
    entry of zeros is unused space.
    """

    ENTRY = struct.Struct(">ii")

    @property
    def last_offset(self) -> int:
        """The offset of the last entry, or the base offset if there is none."""
        with self._lock:
            if not self._entries:
                return self.base_offset
            relative_offset: int = self.ENTRY.unpack_from(self._mmap, (self._entries - 1) * self.entry_size)[0]
            return self.base_offset + relative_offset

    def lookup(self, target_offset: int) -> OffsetPosition:
        """Return the greatest entry whose offset is less than or equal to ``target_offset``.

        Returns (base offset, 0), the beginning of the segment, if there is none.
        """
        with self._lock:
            slot = self._index_slot_for(target_offset, _KEY)
            return OffsetPosition(self.base_offset, 0) if slot == -1 else self._parse_entry(slot)

    def upper_bound_offset(self, end_position: int) -> int | None:
        """The offset of the first entry that points to ``end_position`` or beyond; None if there is none.

        Batches before the position have smaller offsets.
        """
        with self._lock:
            low, high = 0, self._entries
            while low < high:
                middle = (low + high) // 2
                if self._parse_entry(middle).position < end_position:
                    low = middle + 1
                else:
                    high = middle
            return self._parse_entry(low).offset if low < self._entries else None

    def append(self, offset: int, position: int) -> None:
        """Add an entry: to find the message with ``offset``, read from ``position`` on.

        Raises InvalidOffsetError if ``offset`` is not greater than the last one, IndexError if the index is full,
        OverflowError if the offset is too far from the base offset.
        """
        with self._lock:
            if self.is_full:
                raise IndexError(f"{self.file} is full ({self._entries} entries)")
            last_offset = self.last_offset
            if offset <= last_offset:
                raise InvalidOffsetError(
                    f"offset {offset} is not greater than the last one of {self.file}: {last_offset}"
                )
            self._put_entry(self.relative_offset(offset), position)

    def truncate_to(self, offset: int) -> None:
        """Remove all entries at or above ``offset``.

        The lookup finds the last entry at or below the offset. It is kept unless its offset is equal.
        """
        with self._lock:
            slot = self._index_slot_for(offset, IndexSearchType.KEY)
            if slot == -1:
                self._truncate_to_entries(0)
            elif self._parse_entry(slot).offset == offset:
                self._truncate_to_entries(slot)
            else:
                self._truncate_to_entries(slot + 1)

    def sanity_check(self) -> None:
        """Raise CorruptIndexError if the size is not a multiple of the entry size, or if the last entry is unused.

        After a crash the file has not been trimmed, so its last entry is zero.
        """
        size = self.file.stat().st_size
        if size % self.entry_size != 0:
            raise CorruptIndexError(f"{self.file} has {size} bytes, which is not a multiple of {self.entry_size}")
        if self._entries and self.last_offset <= self.base_offset:
            raise CorruptIndexError(
                f"the last offset of {self.file}, {self.last_offset}, is not greater than its base offset"
            )

    def _parse_entry(self, n: int) -> OffsetPosition:
        """Read entry ``n`` and make its offset absolute."""
        relative_offset, position = self.ENTRY.unpack_from(self._mmap, n * self.entry_size)
        return OffsetPosition(self.base_offset + relative_offset, position)
