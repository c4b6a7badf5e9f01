"""How many indexes are mapped into memory at once.

Not in Kafka, which maps all of them: Java needs no descriptor for a mapping · book 6.1.3
"""

from __future__ import annotations

import sys
import threading
from itertools import islice
from typing import Final, Protocol

MAX_MAPPED: Final = 30_000 if sys.version_info >= (3, 13) else 1_000
"""A mapping takes a descriptor before Python 3.13, and one of the 65,530 mappings that Linux allows a process."""


class Unmappable(Protocol):
    """An index, as far as its mapping is concerned."""

    def try_unmap(self) -> bool:
        """Unmap the file, to map it again when it is next used; false if a thread uses it now."""
        ...


class MappedIndexes:
    """The indexes that are mapped, in the order in which they were; with one too many the first is unmapped.

    ::

        add(D), at most three    A │ B │ C    ─▶    B │ C │ D     A is mapped again when it is next used,
                                 ╰──────────────── unmapped       which takes some ten microseconds

    A thread that adds an index holds its lock. It does not wait for the lock of another one, which is passed over.
    """

    def __init__(self, most: int = MAX_MAPPED) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._indexes: dict[Unmappable, None] = {}

    def __len__(self) -> int:
        return len(self._indexes)

    def add(self, index: Unmappable) -> None:
        """Note that an index is mapped. Unmaps those that are too many."""
        with self._lock:
            self._indexes.pop(index, None)
            self._indexes[index] = None
            surplus = list(islice(self._indexes, max(0, len(self._indexes) - self.most)))
        self._unmap(surplus)

    def discard(self, index: Unmappable) -> None:
        """Note that an index is not mapped any more, or must stay mapped."""
        with self._lock:
            self._indexes.pop(index, None)

    def make_room(self, but: Unmappable) -> None:
        """Unmap all but one, because the process may not open or map any more files."""
        with self._lock:
            others = [each for each in self._indexes if each is not but]
        self._unmap(others)

    def _unmap(self, indexes: list[Unmappable]) -> None:
        for index in indexes:
            if index.try_unmap():
                self.discard(index)


MAPPED_INDEXES: Final = MappedIndexes()
"""The mapped indexes of the process, whose descriptors all its logs share."""
