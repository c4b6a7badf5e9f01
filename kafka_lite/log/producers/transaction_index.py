"""The transaction index of a segment: the aborted transactions whose markers are in it.

Kafka 0.11: core/.../log/TransactionIndex.scala · book 10.3
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.abstract_index import CorruptIndexError
from kafka_lite.log.log_file_utils import flush_file_or_directory
from kafka_lite.log.producers.aborted_txn import ENTRY_SIZE, AbortedTxn


class TransactionIndex:
    """The ``.txnindex`` file of a segment, which exists only if it has entries::

        00000000000000000020.txnindex                              00000000000000000020.log

        producer   first   last   last stable                      20   T  T  T  ·  T  A  ·
              7      20      25      26                                                └ marker of producer 7
              9      12      31      32     begins in an earlier segment

    Entries are ordered by their markers, and all markers are in this segment. Few transactions are aborted, so the
    entries are kept in memory, too. One thread at a time writes, under the log's lock; readers see a whole tuple.
    """

    def __init__(self, file: Path) -> None:
        """Read the file if there is one. Raises OSError."""
        self.file = file
        self._entries: tuple[AbortedTxn, ...] = ()
        self._corruption: str | None = None
        if file.exists():
            self._load()

    def _load(self) -> None:
        data = self.file.read_bytes()
        try:
            self._entries = tuple(AbortedTxn.read_all(data))
        except KafkaError as error:
            self._corruption = str(error)

    @property
    def entries(self) -> tuple[AbortedTxn, ...]:
        """All entries, in the order of their markers."""
        return self._entries

    def sanity_check(self, base_offset: int) -> None:
        """Raise CorruptIndexError unless the file has whole entries, in order, with markers from ``base_offset`` on."""
        if self._corruption is not None:
            raise CorruptIndexError(f"{self.file}: {self._corruption}")
        size = self.file.stat().st_size if self.file.exists() else 0
        if size != len(self._entries) * ENTRY_SIZE:
            raise CorruptIndexError(f"{self.file} has {size} bytes, not a multiple of {ENTRY_SIZE}")
        markers = [entry.last_offset for entry in self._entries]
        if markers != sorted(set(markers)) or any(
            not entry.first_offset <= entry.last_offset or entry.last_offset < base_offset for entry in self._entries
        ):
            raise CorruptIndexError(f"{self.file} has entries that are out of order or of another segment")

    def append(self, aborted: Sequence[AbortedTxn]) -> None:
        """Add entries, all or none. Raises OSError, and ValueError if the order of markers would break."""
        last = self._entries[-1].last_offset if self._entries else -1
        for entry in aborted:
            if entry.last_offset <= last:
                raise ValueError(f"{self.file}: the marker at {entry.last_offset} does not follow that at {last}")
            last = entry.last_offset
        if aborted:
            self._write((*self._entries, *aborted), from_entry=len(self._entries))

    def truncate_to(self, offset: int) -> None:
        """Remove the transactions whose markers are at or above ``offset``. Raises OSError."""
        kept = tuple(entry for entry in self._entries if entry.last_offset < offset)
        if len(kept) < len(self._entries):
            self._write(kept, from_entry=len(kept))

    def reset(self) -> None:
        """Remove all entries, and a corrupt file. Raises OSError."""
        self._corruption = None
        self._entries = ()
        self.file.unlink(missing_ok=True)

    def _write(self, entries: tuple[AbortedTxn, ...], from_entry: int) -> None:
        """Make the file end with these entries, of which the first ``from_entry`` are in it."""
        start = from_entry * ENTRY_SIZE
        added = memoryview(b"".join(entry.encode() for entry in entries[from_entry:]))
        with open(self.file, "ab", buffering=0) as file:  # unbuffered: truncate would first write what is left
            try:
                file.truncate(start)
                while added:
                    added = added[file.write(added) :]
            except OSError:
                file.truncate(start)
                raise
        self._entries = entries

    def flush(self) -> None:
        """Force the entries to disk. Raises OSError."""
        if self._entries:
            flush_file_or_directory(self.file)

    def rename_to(self, file: Path) -> None:
        """Rename the file if there is one. Raises OSError."""
        if self.file.exists():
            os.replace(self.file, file)
        self.file = file

    def delete(self) -> None:
        """Delete the file if there is one. Raises OSError."""
        self.file.unlink(missing_ok=True)
