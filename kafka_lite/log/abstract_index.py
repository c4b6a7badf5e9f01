"""The file under both indexes of a segment: fixed-size entries in a memory map, found by binary search.

Kafka 0.10.2: core/.../log/AbstractIndex.scala (IndexSearchType) · book 6.1.3
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from abc import ABC, abstractmethod
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from kafka_lite.common.errors import KafkaError

Entry = TypeVar("Entry", bound=tuple[int, ...])  # two: but mypyc would make a nameless tuple of such an entry

RESERVE_BYTES = 4096
MAX_RELATIVE_OFFSET: Final = 2**31 - 1


class InvalidOffsetError(KafkaError):
    """An entry is not greater than the one before it."""


class CorruptIndexError(KafkaError):
    """An index file cannot be what a broker wrote; it is deleted and rebuilt from the log."""


class IndexSearchType(IntEnum):
    """Which half of an entry to compare with: its key, or its value (the time index is also searched by offset)."""

    KEY = 0
    VALUE = 1


class AbstractIndex(ABC, Generic[Entry]):
    """A sorted array of entries in a file that is as large as it may become.

    ::

        active segment   │ entry 0 │ entry 1 │ ... │ entry n-1 │ 0 0 0 0 0 0 0 0 0 0 0 0 0 │
                         ├──────────── entries ────────────────┤                           │
                         ├───────── segment.index.bytes, rounded down to whole entries ────┤

        after the roll   │ entry 0 │ entry 1 │ ... │ entry n-1 │
        or a clean close

    The file of the active segment is preallocated (sparse: the zeros take no disk space) and mapped into memory, so
    that a lookup is a few reads of memory and an append a write to memory. Nothing in the file says how many entries
    there are: a file is opened as if all of it were entries, and the last one being zero tells that it was not closed
    properly. There is no checksum either. An index holds nothing that the log does not, so it is rebuilt when in doubt.

    Offsets are stored relative to the segment's base offset: 4 bytes are enough for them.
    """

    ENTRY: ClassVar[struct.Struct]
    """The layout of one entry."""
    entry_size: int
    """Bytes of one entry."""

    def __init__(self, file: Path, base_offset: int, max_index_size: int) -> None:
        """Open ``file``, or create it with room for ``max_index_size`` bytes.

        Raises ValueError when not one entry fits, OSError when the file cannot be opened.
        """
        self.file = file
        self.base_offset = base_offset
        self.max_index_size = max_index_size
        self.entry_size = self.ENTRY.size
        # Held by lookups as well: to touch a page that a resize has just cut off would end the process (SIGBUS).
        self._lock = threading.RLock()
        newly_created = not file.exists()
        if newly_created:
            self._create()
        else:
            self._cut_off_hole()
        self._mmap = self._map(self.file.stat().st_size)
        self._entries = 0 if newly_created else self._max_entries
        self._reserved_bytes = self.size_in_bytes

    # -- what the two indexes differ in ------------------------------------------------------------------------------

    @abstractmethod
    def _parse_entry(self, n: int) -> Entry:
        """Read entry ``n``, its offset made absolute."""

    @abstractmethod
    def truncate_to(self, offset: int) -> None:
        """Remove all entries whose offset is ``offset`` or greater."""

    @abstractmethod
    def sanity_check(self) -> None:
        """Raise CorruptIndexError when the entries cannot be right."""

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return self._entries

    @property
    def max_entries(self) -> int:
        """How many entries the file has room for."""
        return self._max_entries

    @property
    def size_in_bytes(self) -> int:
        """How much of the file is entries."""
        return self._entries * self.entry_size

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another entry: the segment must be rolled."""
        return self._entries >= self._max_entries

    def entry(self, n: int) -> Entry:
        """Entry ``n``, counted from 0.

        Raises IndexError when there are not as many.
        """
        with self._lock:
            if not 0 <= n < self._entries:
                raise IndexError(f"{self.file} has {self._entries} entries, there is no entry {n}")
            return self._parse_entry(n)

    def _index_slot_for(self, target: int, search_by: IndexSearchType) -> int:
        """The number of the greatest entry that is not greater than ``target``.

        Returns -1 when there is none: the index is empty, or its first entry is already greater. Binary search:
        ``lo`` is always such an entry, everything beyond ``hi`` is greater than the target.
        """
        if self._entries == 0 or self._parse_entry(0)[search_by] > target:
            return -1
        lo = 0
        hi = self._entries - 1
        while lo < hi:
            mid = (lo + hi + 1) // 2  # rounded up, or lo = mid could go on forever
            if self._parse_entry(mid)[search_by] <= target:
                lo = mid
            else:
                hi = mid - 1
        return lo

    # -- writing -----------------------------------------------------------------------------------------------------

    def relative_offset(self, offset: int) -> int:
        """The offset as it is stored.

        Raises OverflowError when it does not fit into 31 bits.
        """
        relative = offset - self.base_offset
        if not 0 <= relative <= MAX_RELATIVE_OFFSET:
            raise OverflowError(f"offset {offset} is too far from the base offset {self.base_offset} of {self.file}")
        return relative

    def can_append_offset(self, offset: int) -> bool:
        """Whether the offset fits into 31 bits relative to the base offset."""
        return 0 <= offset - self.base_offset <= MAX_RELATIVE_OFFSET

    def reserve(self) -> None:
        """Have the disk blocks of the next entry allocated.

        The preallocated file is sparse, and a write to a mapped page that finds no free block on a full disk would
        end the process (SIGBUS). A write of zeros through the file system fails in a civil way instead: OSError.
        """
        if (self._entries + 1) * self.entry_size <= self._reserved_bytes:
            return
        with self._lock:
            if self._entries >= self._max_entries:
                return
            length = min(RESERVE_BYTES, len(self._mmap) - self.size_in_bytes)
            with open(self.file, "r+b", buffering=0) as file:
                os.pwrite(file.fileno(), bytes(length), self.size_in_bytes)
            self._reserved_bytes = self.size_in_bytes + length

    def _put_entry(self, first: int, second: int) -> None:
        """Write one entry behind the last."""
        self.reserve()
        self.ENTRY.pack_into(self._mmap, self._entries * self.entry_size, first, second)
        self._entries += 1

    def truncate(self) -> None:
        """Remove all entries."""
        self._truncate_to_entries(0)

    def _truncate_to_entries(self, entries: int) -> None:
        """Forget all but the first ``entries``, and put zeros where the others were.

        Kafka leaves the old bytes; but a crash before they are overwritten would let a reader take them for entries.
        The zeros come from the file system: the file is made shorter and then as long as before, which leaves a hole.
        To write zeros through the mapping would need room where there is a hole already, and a full disk would end the
        process (SIGBUS). Raises OSError.
        """
        with self._lock:
            if entries == self._entries:
                return
            size = self.file.stat().st_size
            self._entries = entries
            self._reserved_bytes = self.size_in_bytes
            os.truncate(self.file, self.size_in_bytes)
            os.truncate(self.file, size)

    # -- the file ----------------------------------------------------------------------------------------------------

    def resize(self, new_size: int) -> None:
        """Give the file room for ``new_size`` bytes of entries; the entries stay.

        Smaller when the segment is rolled, larger when it becomes the active one (again). Raises OSError, and then the
        index is what it was: so the old mapping goes last.
        """
        with self._lock:
            old_size, size = self.file.stat().st_size, self._whole_entries(new_size)
            if size == old_size:
                return
            if size > old_size:
                os.truncate(self.file, size)
            try:
                mapping = self._map(size)
                if size < old_size:
                    os.truncate(self.file, size)
            except OSError:
                self._max_entries = old_size // self.entry_size
                if size > old_size:
                    os.truncate(self.file, old_size)
                raise
            self._mmap.close()
            self._mmap = mapping
            self._reserved_bytes = self.size_in_bytes

    def trim_to_valid_size(self) -> None:
        """Cut off the zeros behind the last entry."""
        self.resize(self.size_in_bytes)

    def flush(self) -> None:
        """Force the entries to disk."""
        with self._lock:
            self._mmap.flush()

    def rename_to(self, file: Path) -> None:
        """Give the file another name; the mapping stays valid."""
        with self._lock:
            os.replace(self.file, file)
            self.file = file

    def close(self) -> None:
        """Trim the file and give the mapping back; a lookup after that raises ValueError."""
        with self._lock:
            os.truncate(self.file, self.size_in_bytes)  # nobody touches the pages that are cut off: we have the lock
            self._mmap.close()

    def delete(self) -> None:
        """Remove the file; the mapping goes with the last reader that still uses this index."""
        self.file.unlink(missing_ok=True)

    def _create(self) -> None:
        if self.max_index_size < self.entry_size:
            raise ValueError(f"an index of {self.max_index_size} bytes has no room for one entry: {self.file}")
        with open(self.file, "xb"):
            os.truncate(self.file, self._whole_entries(self.max_index_size))

    def _cut_off_hole(self) -> None:
        """Cut off what has no room on disk, which only the file of a broker that was killed has.

        On a full tmpfs even to read a mapped page of a hole ends the process (SIGBUS).
        """
        with open(self.file, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            allocated = os.lseek(file.fileno(), 0, os.SEEK_HOLE) if size else 0
        if allocated < size:
            os.truncate(self.file, self._whole_entries(allocated))

    def _map(self, size: int) -> mmap.mmap:
        """Map ``size`` bytes of the file. An empty file cannot be mapped: one byte of memory takes its place."""
        self._max_entries = size // self.entry_size
        if size == 0:
            return mmap.mmap(-1, 1)
        with open(self.file, "r+b") as file:
            return mmap.mmap(file.fileno(), size)

    def _whole_entries(self, size: int) -> int:
        return size - size % self.entry_size
