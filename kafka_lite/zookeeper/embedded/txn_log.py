"""The transaction log: every change, in order, before anybody hears of it.

ZooKeeper 3.8: zookeeper-server/.../server/persistence/FileTxnLog.java, FileHeader · book 7.1.3

The files are ZooKeeper's own, so that its tools and a real server read them. ``log.<first zxid, hex>``::

    | "ZKLG" | version = 2: int | dbid = 0: long |
    | Adler-32 of the transaction: long | length: int | transaction | 'B' |
    | Adler-32 of the transaction: long | length: int | transaction | 'B' |
    ...
    zeros, allocated ahead; we stop at the last record

Room is allocated ahead for another reason than ZooKeeper's, which saves seeks: a transaction that a full disk cannot
take is refused before it changes the tree, and not when the tree is already ahead of the log.

A file is never appended to by a later run: each run, and each snapshot, begins a new one. What a crash tore off the
end of a file therefore stays where it is, and reading goes on with the next file.
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
"""How much of the file is allocated at a time."""
_NO_FILE = -1


class CorruptLogError(OSError):
    """A log is damaged where a crash cannot have torn it: going on would lose what was acknowledged."""


class TxnLog:
    """Appends transactions to the newest file, and reads all of them back.

    ``append`` allocates room in the file and collects; ``commit`` writes and, unless ``force_sync`` is false, waits for
    the disk: one wait for all the transactions that came in together. Both may be tried again after an OSError.
    """

    def __init__(self, directory: Path, force_sync: bool = True) -> None:
        self._directory = directory
        self._force_sync = force_sync
        self._fd = _NO_FILE
        self._durable_bytes = 0
        self.reserved_bytes = 0
        """How long the file is: that much needs no more room."""
        self._pending = bytearray()
        """What stands behind the first ``durable_bytes`` of the file, or is to stand there."""

    def open(self, first_zxid: int) -> None:
        """Begin a file, unless one is open. Raises OSError if the disk has no room for one."""
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
        """Add a transaction to those that the next ``commit`` writes.

        Raises OSError, and adds nothing, if the disk has no room for it.
        """
        self.open(header.zxid)
        entry = encode_txn(header, txn)
        self.reserve(_RECORD_HEADER.size + len(entry) + len(_END_OF_RECORD))
        self._pending += _RECORD_HEADER.pack(zlib.adler32(entry), len(entry))
        self._pending += entry
        self._pending += _END_OF_RECORD

    def reserve(self, length: int) -> None:
        """Have the disk blocks of the next ``length`` bytes allocated, by writing zeros there. Raises OSError."""
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
            # The last blocks of the disk may be enough for this transaction.
            if needed > self.reserved_bytes:
                raise

    def commit(self) -> None:
        """Make all that was appended durable. After an OSError nothing is lost: the next commit writes it again.

        Again, and not only waits again: once a disk has failed to take a page, the system counts the page as written.
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
        """Let the next transaction begin a new file."""
        self.commit()
        self.close()

    def close(self) -> None:
        """Close the file and give back the room that was not needed; what was not committed is lost."""
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
        """The transactions behind ``after_zxid``; raises CorruptLogError."""
        files = self.files()
        # The last file that begins at or before the first wanted zxid has it, if any file does.
        first = max((i for i, (zxid, _) in enumerate(files) if zxid <= after_zxid + 1), default=0)
        for i, (_, path) in enumerate(files[first:], first):
            for header, txn in read_log_file(path, is_newest=i == len(files) - 1):
                if header.zxid > after_zxid:
                    yield header, txn

    def purge(self, before_zxid: int) -> None:
        """Delete the files all of whose transactions are before ``before_zxid``."""
        files = self.files()
        for (_, path), (next_zxid, _) in itertools.pairwise(files):
            if next_zxid <= before_zxid:
                path.unlink(missing_ok=True)


def read_log_file(path: Path, is_newest: bool = False) -> Iterator[tuple[TxnHeader, Txn]]:
    """The transactions of one file, up to its end or to where a crash tore it; raises CorruptLogError.

    A damaged record at the end was being written when the machine or the process stopped: it was never acknowledged.
    One with whole records behind it is another matter: then nothing is read at all.
    """
    # What ZooKeeper allocated ahead, and what a file system made of bytes that never reached the disk.
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
            raise CorruptLogError(
                f"{path} has a transaction at byte {position} that cannot be read: {error}"
            ) from error
        position += _RECORD_HEADER.size + len(entry) + 1
    if position < len(data):
        _check_torn(data, position, path, is_newest)


def _read_entry(data: bytes, position: int) -> bytes | None:
    """The transaction whose record stands at ``position``; None when no whole and valid record does."""
    start = position + _RECORD_HEADER.size
    if len(data) < start:
        return None
    checksum, length = _RECORD_HEADER.unpack_from(data, position)
    end = start + length
    if length <= 0 or data[end : end + 1] != _END_OF_RECORD or zlib.adler32(entry := data[start:end]) != checksum:
        return None
    return entry


def _check_torn(data: bytes, position: int, path: Path, is_newest: bool) -> None:
    """Log a torn tail; raise CorruptLogError when a whole record stands anywhere behind the damage at ``position``."""
    for later in range(position + 1, len(data) - _RECORD_HEADER.size):
        if _read_entry(data, later) is not None:
            raise CorruptLogError(f"{path} is damaged at byte {position}, and has later transactions behind that")
    level = logging.WARNING if is_newest else logging.DEBUG
    logger.log(level, "%s ends in a torn record at byte %d; nobody was told of it", path, position)


def numbered_files(directory: Path, name: re.Pattern[str]) -> list[tuple[int, Path]]:
    """The files whose name is a prefix and a zxid in hex (group 1 of ``name``), in the order of their zxids."""
    found = ((name.fullmatch(path.name), path) for path in directory.iterdir())
    return sorted((int(match[1], 16), path) for match, path in found if match)


def sync_directory(directory: Path) -> None:
    """Make the creation or renaming of files in the directory durable."""
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
