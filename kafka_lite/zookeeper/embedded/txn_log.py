"""The transaction log: records every change, in order, before any client learns of it.

ZooKeeper 3.8: zookeeper-server/.../server/persistence/FileTxnLog.java, FileHeader · book 7.1.3

The files have ZooKeeper's format, so its tools and a real server can read them. ``log.<first zxid, hex>``::

    | "ZKLG" | version = 2: int | dbid = 0: long |
    | Adler-32 of the transaction: long | length: int | transaction | 'B' |
    | Adler-32 of the transaction: long | length: int | transaction | 'B' |
    ...
    zeros, preallocated; reading stops at the last record

ZooKeeper preallocates to save seeks. Here it is for a full disk: a transaction without space is rejected before it
changes the tree, not when the tree is already ahead of the log.

A later run never appends to an existing file: each run, and each snapshot, starts a new one. So a torn record at
the end of a file stays there, and reading continues with the next file.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from kafka_lite.zookeeper.embedded.jute import JuteError
from kafka_lite.zookeeper.embedded.txns import Txn, TxnHeader, decode_txn, encode_txn

logger = logging.getLogger(__name__)

_FILE_HEADER = struct.Struct(">4siq")
_MAGIC, _VERSION, _DBID = b"ZKLG", 2, 0
_RECORD_HEADER = struct.Struct(">qi")
_END_OF_RECORD = b"B"
_LOG_NAME = re.compile(r"log\.([0-9a-f]+)")
RESERVE_BYTES = 64 * 1024
"""How much is preallocated at a time."""
_NO_FILE = -1


class CorruptLogError(OSError):
    """A log damaged where a crash cannot have torn it: ignoring that would lose acknowledged changes."""


class TxnLog:
    """Appends transactions to the newest file, and reads all of them back.

    ``append`` allocates space in the file and buffers; ``commit`` writes and, unless ``force_sync`` is False, waits for
    the disk, once for all buffered transactions. Both can be retried after an OSError.
    """

    def __init__(self, directory: Path, force_sync: bool = True) -> None:
        self._directory = directory
        self._force_sync = force_sync
        self._fd = _NO_FILE
        self._durable_bytes = 0
        self.reserved_bytes = 0
        """Length of the file: up to here, no more space is needed."""
        self._pending = bytearray()
        """The bytes after the first ``durable_bytes`` of the file, written or not."""

    def open(self, first_zxid: int) -> None:
        """Start a new file unless one is open. Raises OSError if the disk has no space for it."""
        if self._fd != _NO_FILE:
            return
        path = self._directory / f"log.{first_zxid:x}"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            written = os.pwrite(fd, _FILE_HEADER.pack(_MAGIC, _VERSION, _DBID), 0)
            if written < _FILE_HEADER.size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            sync_directory(self._directory)
        except OSError:
            os.close(fd)
            raise
        self._fd, self._durable_bytes, self.reserved_bytes = fd, written, written

    def append(self, header: TxnHeader, txn: Txn) -> None:
        """Buffer a transaction for the next ``commit``.

        Raises OSError and buffers nothing if the disk has no space for it.
        """
        self.open(header.zxid)
        entry = encode_txn(header, txn)
        self.reserve(_RECORD_HEADER.size + len(entry) + len(_END_OF_RECORD))
        self._pending += _RECORD_HEADER.pack(zlib.adler32(entry), len(entry))
        self._pending += entry
        self._pending += _END_OF_RECORD

    def reserve(self, length: int) -> None:
        """Allocate disk blocks for the next ``length`` bytes by writing zeros. Raises OSError."""
        needed = self._durable_bytes + len(self._pending) + length
        if needed <= self.reserved_bytes:
            return
        zeros = memoryview(bytes(max(RESERVE_BYTES, needed - self.reserved_bytes)))
        try:
            while zeros:
                written = os.pwrite(self._fd, zeros, self.reserved_bytes)
                self.reserved_bytes += written
                zeros = zeros[written:]
        except OSError:
            # The last free blocks of the disk may be enough for this transaction.
            if needed > self.reserved_bytes:
                raise

    def commit(self) -> None:
        """Make all buffered transactions durable. After an OSError nothing is lost: the next commit writes them again.

        They must be written again, not only synced: after a failed sync the kernel considers the pages clean.
        """
        if self._fd == _NO_FILE or not self._pending:
            return
        unwritten, position = memoryview(bytes(self._pending)), self._durable_bytes
        while unwritten:
            written = os.pwrite(self._fd, unwritten, position)
            position += written
            unwritten = unwritten[written:]
        if self._force_sync:
            os.fdatasync(self._fd)
        self._durable_bytes = position
        self._pending.clear()

    def roll(self) -> None:
        """Commit, and let the next transaction start a new file."""
        self.commit()
        self.close()

    def close(self) -> None:
        """Close the file and release unused space; uncommitted transactions are lost."""
        self._pending.clear()
        if self._fd != _NO_FILE:
            fd, self._fd = self._fd, _NO_FILE
            try:
                os.ftruncate(fd, self._durable_bytes)
            finally:
                os.close(fd)

    def files(self) -> list[tuple[int, Path]]:
        """First zxid and path of every log file, oldest first."""
        return numbered_files(self._directory, _LOG_NAME)

    def read(self, after_zxid: int) -> Iterator[tuple[TxnHeader, Txn]]:
        """Yield the transactions after ``after_zxid``. Raises CorruptLogError."""
        files = self.files()
        # If any file contains the first wanted zxid, it is the last file that begins at or before it.
        first = max((i for i, (zxid, _) in enumerate(files) if zxid <= after_zxid + 1), default=0)
        for i, (_, path) in enumerate(files[first:], first):
            for header, txn in read_log_file(path, is_newest=i == len(files) - 1):
                if header.zxid > after_zxid:
                    yield header, txn

    def sync_newest(self) -> None:
        """Make everything that ``read`` has found durable. Raises OSError.

        A process that was killed may have written transactions for whose sync it did not wait. They are in the page
        cache, so the next process has them. If it appended to a new file without this, a power failure could leave
        what comes after them without them.
        """
        files = self.files()
        if self._force_sync and files:
            _sync(files[-1][1])

    def purge(self, before_zxid: int) -> None:
        """Delete the files that contain only transactions before ``before_zxid``."""
        files = self.files()
        for (_, path), (next_zxid, _) in itertools.pairwise(files):
            if next_zxid <= before_zxid:
                path.unlink(missing_ok=True)


def read_log_file(path: Path, is_newest: bool = False) -> Iterator[tuple[TxnHeader, Txn]]:
    """Yield the transactions of one file up to its end or a torn record. Raises CorruptLogError.

    A damaged record at the end was being written when the machine or the process stopped, so it was never acknowledged.
    If whole records follow it, the log is corrupt.
    """
    # Zeros: preallocated, or the file system's replacement for bytes that never reached the disk.
    data = path.read_bytes().rstrip(b"\0")
    if len(data) < _FILE_HEADER.size and _MAGIC.startswith(data[: len(_MAGIC)]):
        return
    data = data.ljust(_FILE_HEADER.size, b"\0")
    magic, version, _dbid = _FILE_HEADER.unpack_from(data)
    if magic != _MAGIC or version != _VERSION:
        raise CorruptLogError(f"{path} is not a transaction log of version {_VERSION}")
    position = _FILE_HEADER.size
    while (entry := _read_entry(data, position)) is not None:
        try:
            yield decode_txn(entry)
        except JuteError as error:
            raise CorruptLogError(f"{path} has an unreadable transaction at byte {position}: {error}") from error
        position += _RECORD_HEADER.size + len(entry) + 1
    if position < len(data):
        _check_torn(data, position, path, is_newest)


def _read_entry(data: bytes, position: int) -> bytes | None:
    """Return the transaction of the record at ``position``, or None if there is no valid record."""
    start = position + _RECORD_HEADER.size
    if len(data) < start:
        return None
    checksum, length = _RECORD_HEADER.unpack_from(data, position)
    end = start + length
    if length <= 0 or data[end : end + 1] != _END_OF_RECORD or zlib.adler32(entry := data[start:end]) != checksum:
        return None
    return entry


def _check_torn(data: bytes, position: int, path: Path, is_newest: bool) -> None:
    """Log a torn tail. Raises CorruptLogError if there is a valid record after the damage at ``position``."""
    for later in range(position + 1, len(data) - _RECORD_HEADER.size):
        if _read_entry(data, later) is not None:
            raise CorruptLogError(f"{path} is damaged at byte {position}, but valid transactions follow")
    level = logging.WARNING if is_newest else logging.DEBUG
    logger.log(level, "%s ends in a torn record at byte %d, which was never acknowledged", path, position)


def numbered_files(directory: Path, name: re.Pattern[str]) -> list[tuple[int, Path]]:
    """The files whose name is a prefix and a hex zxid (group 1 of ``name``), sorted by zxid."""
    found = ((name.fullmatch(path.name), path) for path in directory.iterdir())
    return sorted((int(match[1], 16), path) for match, path in found if match)


def sync_directory(directory: Path) -> None:
    """Make file creations and renames in the directory durable."""
    _sync(directory)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
