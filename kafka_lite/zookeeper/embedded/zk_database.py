"""The tree and the sessions, with the files that make them durable.

ZooKeeper 3.8: zookeeper-server/.../server/ZKDatabase.java, persistence/FileTxnSnapLog.java · book 7.1.3
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from pathlib import Path

from kafka_lite.zookeeper.embedded.data_tree import DataTree, ProcessTxnResult
from kafka_lite.zookeeper.embedded.snapshot import SnapLog, Snapshot, freeze, thaw
from kafka_lite.zookeeper.embedded.txn_log import RESERVE_BYTES, CorruptLogError, TxnLog
from kafka_lite.zookeeper.embedded.txns import CloseSessionTxn, CreateSessionTxn, Txn, TxnHeader

logger = logging.getLogger(__name__)


class ZKDatabase:
    """All state of the server, and its recovery after a crash.

    The state is the newest snapshot plus the log after it. ``process_txn`` appends a transaction to the log and applies
    it; ``commit`` makes it durable, and no client may learn of it before that. A transaction that does not fit on the
    disk is not applied. Every ``snap_count`` transactions a separate thread writes a snapshot from immutable values and
    deletes the files that it makes obsolete.
    """

    def __init__(
        self, data_dir: Path, *, force_sync: bool = True, snap_count: int = 10_000, snap_retain_count: int = 3
    ) -> None:
        """Raises OSError if the directory cannot be used, or if another process uses it."""
        self.directory = data_dir / "version-2"
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock_fd: int | None = _lock_directory(self.directory)
        self.tree = DataTree()
        self.sessions: dict[int, int] = {}
        self._log = TxnLog(self.directory, force_sync)
        self._snapshots = SnapLog(self.directory)
        self._snap_count = snap_count
        self._snap_retain_count = snap_retain_count
        self._since_snapshot = 0
        self._snapshot_thread: threading.Thread | None = None
        self._full_at_bytes: int | None = None
        """The log's allocated size when it last ran out of space, or None while the disk has space."""

    @property
    def last_zxid(self) -> int:
        """The zxid of the last transaction, or 0."""
        return self.tree.last_processed_zxid

    def load(self) -> int:
        """Restore the state from disk. Returns the number of transactions replayed.

        Raises CorruptLogError, and OSError if the disk has no space to continue.
        """
        self._snapshots.delete_unfinished()
        snapshot = self._snapshots.load_newest()
        if snapshot is not None:
            self.tree, self.sessions = thaw(snapshot)
        elif self._snapshots.files() or self._log.files():
            raise CorruptLogError(f"no snapshot in {self.directory} is complete")
        else:
            # History always begins with a snapshot, so that a log without one shows that a file is missing.
            self._snapshots.save(freeze(self.tree, ()))
        for header, txn in self._log.read(self.last_zxid):
            self._check_follows(header.zxid)
            self._apply(header, txn)
            self._since_snapshot += 1
        self._log.sync_newest()  # before anything comes after it
        self._log.open(self.last_zxid + 1)
        self._log.reserve(RESERVE_BYTES)
        return self._since_snapshot

    def process_txn(self, header: TxnHeader, txn: Txn) -> ProcessTxnResult:
        """Append the transaction to the log and apply it to the tree, which triggers watches.

        Raises OSError and changes nothing if the disk has no space for the transaction.
        """
        try:
            self._log.append(header, txn)
        except OSError as error:
            if self._full_at_bytes is None:
                logger.error("ZooKeeper refuses writes: cannot append to the log in %s: %s", self.directory, error)
            self._full_at_bytes = self._log.reserved_bytes
            raise
        # A transaction that fits in the space already allocated does not prove that the disk has space again.
        if self._full_at_bytes not in (None, self._log.reserved_bytes):
            self._full_at_bytes = None
            logger.info("ZooKeeper accepts writes again: there is space for the log in %s", self.directory)
        self._since_snapshot += 1
        return self._apply(header, txn)

    def commit(self) -> None:
        """Wait until all processed transactions are on disk. Raises OSError if they cannot be written."""
        self._log.commit()
        if self._since_snapshot >= self._snap_count and not self._is_snapshotting():
            self._start_snapshot()

    def close(self) -> None:
        """Finish the current snapshot and release the directory. The files are complete even without it.

        Raises OSError if the log cannot be trimmed; the directory is released nevertheless.
        """
        if self._snapshot_thread is not None:
            self._snapshot_thread.join()
        try:
            self._log.close()
        finally:
            if self._lock_fd is not None:
                os.close(self._lock_fd)
                self._lock_fd = None

    def take_snapshot(self) -> None:
        """Write a snapshot of the current state and delete obsolete files."""
        self._log.roll()
        self._since_snapshot = 0
        self._save(freeze(self.tree, self.sessions.items()))

    def _apply(self, header: TxnHeader, txn: Txn) -> ProcessTxnResult:
        if isinstance(txn, CreateSessionTxn):
            self.sessions[header.client_id] = txn.time_out
        elif isinstance(txn, CloseSessionTxn):
            self.sessions.pop(header.client_id, None)
        return self.tree.process_txn(header, txn)

    def _check_follows(self, zxid: int) -> None:
        """Raise CorruptLogError if a zxid is missing within an epoch (upper half; only ensembles increment it)."""
        last = self.last_zxid
        if zxid >> 32 == last >> 32 and zxid != last + 1:
            raise CorruptLogError(f"the transactions between {last:#x} and {zxid:#x} are missing in {self.directory}")

    def _is_snapshotting(self) -> bool:
        return self._snapshot_thread is not None and self._snapshot_thread.is_alive()

    def _start_snapshot(self) -> None:
        self._log.roll()
        self._since_snapshot = 0
        snapshot = freeze(self.tree, self.sessions.items())
        thread = threading.Thread(target=self._save, args=(snapshot,), name="zookeeper-snapshot")
        try:
            thread.start()
        except RuntimeError as error:  # no memory for a thread
            logger.warning("Could not write a snapshot to %s: %s", self.directory, error)
            return
        self._snapshot_thread = thread

    def _save(self, snapshot: Snapshot) -> None:
        try:
            self._snapshots.save(snapshot)
            oldest = self._snapshots.purge(self._snap_retain_count)
            self._log.purge(oldest + 1)
        except (OSError, MemoryError) as error:
            # The log is still complete; the next snapshot may succeed.
            logger.warning("Could not write a snapshot to %s: %r; the next one may succeed", self.directory, error)


def _lock_directory(directory: Path) -> int:
    """Lock the directory against a second server; the kernel releases the lock when the process ends."""
    fd = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise OSError(error.errno, f"{directory} is in use by another ZooKeeper server") from error
    return fd
