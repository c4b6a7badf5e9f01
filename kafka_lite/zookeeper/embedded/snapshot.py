"""Snapshots of the tree and the sessions at a zxid, which make the log before it unnecessary.

ZooKeeper 3.8: zookeeper-server/.../server/persistence/FileSnap.java, util/SerializeUtils.java · book 7.1.3

``snapshot.<zxid, hex>``, in ZooKeeper's own format::

    | "ZKSN" | version = 2: int | dbid = -1: long |
    | sessions: int |  each: | id: long | timeout_ms: int |
    | ACLs: int |      each: | number: long | vector of ACL |
    each znode, parents first; the path of the root is "":
                       | path: ustring | data: buffer | number of its ACL: long | stat_persisted |
    | "/" |            ends the znodes
    | Adler-32 of all bytes before: long | "/" |
    ZooKeeper adds a digest of the tree, which is optional; we ignore it
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kafka_lite.zookeeper.embedded.data_tree import ROOT, DataNode, DataTree, StatPersisted
from kafka_lite.zookeeper.embedded.jute import (
    Int,
    JuteError,
    JuteReader,
    Long,
    read_record,
    write_buffer,
    write_record,
    write_string,
)
from kafka_lite.zookeeper.embedded.protocol import ACL, OPEN_ACL_UNSAFE
from kafka_lite.zookeeper.embedded.txn_log import numbered_files, sync_directory

logger = logging.getLogger(__name__)

_FILE_HEADER = struct.Struct(">4siq")
_MAGIC, _VERSION, _DBID = b"ZKSN", 2, -1
_COUNT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_SNAPSHOT_NAME = re.compile(r"snapshot\.([0-9a-f]+)")
_OPEN_ACL_NUMBER = -1


class Session(NamedTuple):
    """A live session with its negotiated timeout."""

    id: Long
    timeout_ms: Int


class _NumberedACL(NamedTuple):
    number: Long
    acl: tuple[ACL, ...]


class FrozenNode(NamedTuple):
    """A znode's fields, all immutable."""

    path: str
    data: bytes | None
    acl: tuple[ACL, ...]
    stat_persisted: StatPersisted


class Snapshot(NamedTuple):
    """An immutable state of the database, so that another thread can write it to disk."""

    zxid: int
    sessions: tuple[Session, ...]
    nodes: tuple[FrozenNode, ...]


def freeze(tree: DataTree, sessions: Iterable[tuple[int, int]]) -> Snapshot:
    """Copy the current state. Parents come before children, since the nodes are in creation order."""
    nodes = tuple(FrozenNode(path, n.data, n.acl, n.stat_persisted) for path, n in tree.nodes.items())
    return Snapshot(tree.last_processed_zxid, tuple(Session(*s) for s in sessions), nodes)


def thaw(snapshot: Snapshot) -> tuple[DataTree, dict[int, int]]:
    """Create the tree and the sessions (id → timeout, ms) of a snapshot."""
    tree = DataTree()
    for node in snapshot.nodes:
        tree.restore(node.path, DataNode(node.data, node.acl, node.stat_persisted))
    tree.last_processed_zxid = snapshot.zxid
    return tree, dict(snapshot.sessions)


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Encode the snapshot file."""
    out = bytearray(_FILE_HEADER.pack(_MAGIC, _VERSION, _DBID))
    out += _COUNT.pack(len(snapshot.sessions))
    for session in snapshot.sessions:
        write_record(out, session)
    numbers = {acl: number for number, acl in enumerate(dict.fromkeys(node.acl for node in snapshot.nodes), 1)}
    out += _COUNT.pack(len(numbers))
    for acl, number in numbers.items():
        write_record(out, _NumberedACL(number, acl))
    for node in snapshot.nodes:
        write_string(out, "" if node.path == ROOT else node.path)
        write_buffer(out, node.data)
        out += _LONG.pack(numbers[node.acl])
        write_record(out, node.stat_persisted)
    write_string(out, ROOT)
    _seal(out)
    return bytes(out)


def _seal(out: bytearray) -> None:
    out += _LONG.pack(zlib.adler32(out))
    write_string(out, ROOT)


def decode_snapshot(data: bytes, zxid: int) -> Snapshot:
    """Decode a snapshot file. Raises JuteError if it is incomplete or corrupt."""
    reader = JuteReader(data)
    magic, version, _dbid = reader.unpack(_FILE_HEADER)
    if magic != _MAGIC or version != _VERSION:
        raise JuteError(f"not a snapshot of version {_VERSION}")
    sessions = tuple(reader.vector(lambda r: read_record(Session, r)))
    acls = dict(reader.vector(lambda r: read_record(_NumberedACL, r)))
    acls[_OPEN_ACL_NUMBER] = OPEN_ACL_UNSAFE
    nodes = []
    while (path := reader.string()) != ROOT:
        content, number = reader.buffer(), reader.unpack(_LONG)[0]
        if number not in acls:
            raise JuteError(f"{path} has an ACL that is not in the table")
        nodes.append(FrozenNode(path or ROOT, content, acls[number], read_record(StatPersisted, reader)))
    expected = zlib.adler32(data[: reader.offset])
    if reader.unpack(_LONG)[0] != expected or reader.string() != ROOT:
        raise JuteError("the checksum does not match")
    return Snapshot(zxid, sessions, tuple(nodes))


class SnapLog:
    """The snapshots in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def save(self, snapshot: Snapshot) -> Path:
        """Write a snapshot atomically: under its final name it is always complete. Raises OSError."""
        path = self._directory / f"snapshot.{snapshot.zxid:x}"
        unfinished = path.with_name(path.name + ".tmp")
        try:
            with unfinished.open("wb") as file:
                file.write(encode_snapshot(snapshot))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
            sync_directory(self._directory)
        except OSError:
            # The log needs the space that an incomplete file takes on a full disk.
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise
        return path

    def delete_unfinished(self) -> None:
        """Delete incomplete snapshots that a crash has left."""
        for path in self._directory.glob("snapshot.*.tmp"):
            with contextlib.suppress(OSError):
                path.unlink()

    def load_newest(self) -> Snapshot | None:
        """Load the newest intact snapshot; an older one may replace a damaged one, as the log since then is kept."""
        for zxid, path in reversed(self.files()):
            try:
                return decode_snapshot(path.read_bytes(), zxid)
            except JuteError as error:
                logger.warning("Skipping snapshot %s: %s", path, error)
        return None

    def files(self) -> list[tuple[int, Path]]:
        """Zxid and path of every snapshot, oldest first."""
        return numbered_files(self._directory, _SNAPSHOT_NAME)

    def purge(self, retain: int) -> int:
        """Delete all but the newest ``retain`` snapshots. Returns the zxid of the oldest one left, or 0."""
        files = self.files()
        for _, path in files[:-retain]:
            path.unlink(missing_ok=True)
        return files[-retain:][0][0] if files else 0
