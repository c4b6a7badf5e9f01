"""The base of a segment's two indexes: a memory-mapped file of fixed-size entries, searched by binary search.

Kafka 0.10.2: core/.../log/AbstractIndex.scala (IndexSearchType) · book 6.1.3
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import struct
import sys
import threading
from abc import ABC, abstractmethod
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.mapped_indexes import MAPPED_INDEXES

Entry = TypeVar("Entry", bound=tuple[int, ...])  # two ints, but mypyc would turn such an entry into an unnamed tuple

RESERVE_BYTES = 4096
SCARCE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""The process may not open or map any more files; fewer mapped indexes help."""
MAX_RELATIVE_OFFSET: Final = 2**31 - 1


class InvalidOffsetError(KafkaError):
    """The new entry is not greater than the previous one."""


class CorruptIndexError(KafkaError):
    """An index file that a broker cannot have written; it is deleted and rebuilt from the log."""


class IndexSearchType(IntEnum):
    """The part of an entry to compare: its key or its value (the time index is also searched by offset)."""

    KEY = 0
    VALUE = 1


class AbstractIndex(ABC, Generic[Entry]):
    """A sorted array of entries in a file that is preallocated at its maximum size.

    ::

        active segment   │ entry 0 │ entry 1 │ ... │ entry n-1 │ 0 0 0 0 0 0 0 0 0 0 0 0 0 │
                         ├──────────── entries ────────────────┤                           │
                         ├───────── segment.index.bytes, rounded down to whole entries ────┤

        after the roll   │ entry 0 │ entry 1 │ ... │ entry n-1 │
        or a clean close

    The file of the active segment is preallocated (as a sparse file: the zeros take no disk space) and mapped into
    memory, so a lookup is a few memory reads and an append a memory write. The number of entries is not stored: a file
    is opened as if it were full, and a last entry of zeros shows that it was not closed cleanly. There is no checksum
    either. An index contains nothing that is not in the log, so it can always be rebuilt.

    Of a broker with very many segments not all indexes are mapped at once (``MappedIndexes``): one that has been
    unmapped is mapped again when it is next used.

    Offsets are stored relative to the segment's base offset, so that 4 bytes are enough.
    """

    ENTRY: ClassVar[struct.Struct]
    """The layout of one entry."""
    entry_size: int
    """Size of an entry in bytes."""

    def __init__(self, file: Path, base_offset: int, max_index_size: int) -> None:
        """Open ``file``, or create it with room for ``max_index_size`` bytes.

        Raises ValueError if that is less than one entry, OSError if the file cannot be opened.
        """
        self.file = file
        self.base_offset = base_offset
        self.max_index_size = max_index_size
        self.entry_size = self.ENTRY.size
        # Lookups take it too: touching a page that a resize has just cut off would kill the process (SIGBUS).
        self._lock = threading.RLock()
        newly_created = not file.exists()
        if newly_created:
            self._create()
        else:
            self._cut_off_hole()
        self._mapping: mmap.mmap | None = None
        self._is_pinned = False
        self._map_again()
        self._entries = 0 if newly_created else self._max_entries
        self._reserved_bytes = self.size_in_bytes

    # -- the differences between the two indexes ---------------------------------------------------------------------

    @abstractmethod
    def _parse_entry(self, n: int) -> Entry:
        """Read entry ``n`` and make its offset absolute."""

    @abstractmethod
    def truncate_to(self, offset: int) -> None:
        """Remove all entries whose offset is ``offset`` or greater."""

    @abstractmethod
    def sanity_check(self) -> None:
        """Raise CorruptIndexError if the entries are inconsistent."""

    # -- the mapping -------------------------------------------------------------------------------------------------

    @property
    def _mmap(self) -> mmap.mmap:
        """The file in memory; the lock must be held. Raises OSError if it cannot be mapped again."""
        mapping = self._mapping
        return mapping if mapping is not None else self._map_again()

    def _map_again(self) -> mmap.mmap:
        size = self.file.stat().st_size
        try:
            mapping = self._map(size)
        except OSError as error:
            if error.errno not in SCARCE:
                raise
            MAPPED_INDEXES.make_room(self)
            mapping = self._map(size)
        return self._use(mapping)

    def _use(self, mapping: mmap.mmap) -> mmap.mmap:
        old, self._mapping = self._mapping, mapping
        if old is not None:
            old.close()
        MAPPED_INDEXES.add(self)
        return mapping

    def try_unmap(self) -> bool:
        """Unmap the file, to map it again when it is next used; false if a thread uses it now.

        What was written to the mapping is in the page cache, like anything that is written to a file.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._mapping is not None and not self._is_pinned:
                self._mapping.close()
                self._mapping = None
            return True
        finally:
            self._lock.release()

    def _pin(self) -> None:
        """Never unmap the file from now on: it cannot be mapped again, or must not be."""
        self._is_pinned = True
        MAPPED_INDEXES.discard(self)

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> int:
        """Number of entries."""
        return self._entries

    @property
    def max_entries(self) -> int:
        """Number of entries that the file has room for."""
        return self._max_entries

    @property
    def size_in_bytes(self) -> int:
        """Size of the entries in bytes."""
        return self._entries * self.entry_size

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another entry, so that the segment must be rolled."""
        return self._entries >= self._max_entries

    def entry(self, n: int) -> Entry:
        """Return entry ``n``, counted from 0.

        Raises IndexError if there is no such entry.
        """
        with self._lock:
            if not 0 <= n < self._entries:
                raise IndexError(f"{self.file} has no entry {n}, only {self._entries} entries")
            return self._parse_entry(n)

    def _index_slot_for(self, target: int, search_by: IndexSearchType) -> int:
        """Return the number of the greatest entry that is less than or equal to ``target``.

        Returns -1 if there is none: the index is empty, or its first entry is already greater. Binary search with the
        invariant that entry ``lo`` is not greater than the target, and all entries above ``hi`` are greater.
        """
        if self._entries == 0 or self._parse_entry(0)[search_by] > target:
            return -1
        lo = 0
        hi = self._entries - 1
        while lo < hi:
            mid = (lo + hi + 1) // 2  # rounded up, otherwise lo = mid could loop forever
            if self._parse_entry(mid)[search_by] <= target:
                lo = mid
            else:
                hi = mid - 1
        return lo

    # -- writing -----------------------------------------------------------------------------------------------------

    def relative_offset(self, offset: int) -> int:
        """Convert an offset to its stored form, relative to the base offset.

        Raises OverflowError if it does not fit in 31 bits.
        """
        relative = offset - self.base_offset
        if not 0 <= relative <= MAX_RELATIVE_OFFSET:
            raise OverflowError(f"offset {offset} is too far from the base offset {self.base_offset} of {self.file}")
        return relative

    def can_append_offset(self, offset: int) -> bool:
        """Whether the offset, relative to the base offset, fits in 31 bits."""
        return 0 <= offset - self.base_offset <= MAX_RELATIVE_OFFSET

    def reserve(self) -> None:
        """Allocate the disk blocks of the next entry.

        The preallocated file is sparse. On a full disk, writing to a mapped page without a disk block would kill the
        process (SIGBUS), whereas writing zeros through the file system raises OSError.
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
        """Write an entry after the last one."""
        self.reserve()
        self.ENTRY.pack_into(self._mmap, self._entries * self.entry_size, first, second)
        self._entries += 1

    def truncate(self) -> None:
        """Remove all entries."""
        self._truncate_to_entries(0)

    def _truncate_to_entries(self, entries: int) -> None:
        """Remove all but the first ``entries`` entries and zero the others.

        Kafka leaves the old bytes in place, but after a crash they could be taken for entries. The zeros come from the
        file system: truncating the file and extending it again leaves a hole. Writing zeros through the mapping would
        need disk space where there is already a hole, and a full disk would kill the process (SIGBUS). Raises OSError.
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
        """Resize the file to hold ``new_size`` bytes of entries; the entries are kept.

        It shrinks when the segment is rolled and grows when the segment becomes active (again). Raises OSError and
        leaves the index unchanged; that is why the old mapping is closed last.
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
            self._use(mapping)
            self._reserved_bytes = self.size_in_bytes

    def trim_to_valid_size(self) -> None:
        """Cut off the zeros after the last entry."""
        self.resize(self.size_in_bytes)

    def flush(self) -> None:
        """Force the entries to disk."""
        with self._lock:
            if self._mapping is not None:
                self._mapping.flush()
                return
            with open(self.file, "r+b", buffering=0) as file:
                os.fsync(file.fileno())

    def rename_to(self, file: Path) -> None:
        """Rename the file; the mapping stays valid."""
        with self._lock:
            os.replace(self.file, file)
            self.file = file

    def close(self) -> None:
        """Trim and unmap the file; a lookup after that raises ValueError."""
        with self._lock:
            self._pin()
            os.truncate(self.file, self.size_in_bytes)  # safe under the lock: nobody touches the pages that are cut off
            if self._mapping is None:
                self._mapping = mmap.mmap(-1, 1)
            self._mapping.close()

    def delete(self) -> None:
        """Delete the file; the mapping is freed with the last reader that still uses this index."""
        with self._lock, contextlib.suppress(OSError):  # an index that cannot be mapped can be deleted all the same
            if self._mapping is None:
                self._map_again()
            self._pin()
        self.file.unlink(missing_ok=True)

    def _create(self) -> None:
        if self.max_index_size < self.entry_size:
            raise ValueError(f"an index of {self.max_index_size} bytes is too small for one entry: {self.file}")
        with open(self.file, "xb"):
            os.truncate(self.file, self._whole_entries(self.max_index_size))

    def _cut_off_hole(self) -> None:
        """Cut off the part without disk blocks; only the file of a broker that was killed has one.

        On a full tmpfs, even reading a mapped page in a hole kills the process (SIGBUS).
        """
        with open(self.file, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            allocated = os.lseek(file.fileno(), 0, os.SEEK_HOLE) if size else 0
        if allocated < size:
            os.truncate(self.file, self._whole_entries(allocated))

    def _map(self, size: int) -> mmap.mmap:
        """Map ``size`` bytes of the file. An empty file cannot be mapped, so one byte of memory is mapped instead."""
        self._max_entries = size // self.entry_size
        if size == 0:
            return mmap.mmap(-1, 1)
        with open(self.file, "r+b") as file:
            if sys.version_info >= (3, 13):
                return mmap.mmap(file.fileno(), size, trackfd=False)
            return mmap.mmap(file.fileno(), size)  # which keeps a descriptor of its own, only to resize the mapping

    def _whole_entries(self, size: int) -> int:
        return size - size % self.entry_size
