"""The tree of znodes in memory, changed by transactions.

ZooKeeper 3.8: zookeeper-server/.../server/DataTree.java, DataNode.java, EphemeralType.java · book 7.1.3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_lite.zookeeper.embedded.jute import Int, Long
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.path_utils import parent_path
from kafka_lite.zookeeper.embedded.protocol import ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, EventType, OpCode, Stat
from kafka_lite.zookeeper.embedded.txns import (
    CheckVersionTxn,
    CloseSessionTxn,
    CreateContainerTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetACLTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
)
from kafka_lite.zookeeper.embedded.watch_manager import Watcher, WatcherMode, WatchManager

ROOT = "/"
CONFIG_PATH = "/zookeeper/config"
SPECIAL_PATHS = frozenset({ROOT, "/zookeeper", "/zookeeper/quota", CONFIG_PATH})
"""ZooKeeper's own znodes, which cannot be deleted."""

CONTAINER_OWNER = -(1 << 63)
"""The ``ephemeral_owner`` of a container."""
_TTL_MARK = 0xFF << 56
MAX_TTL_MS = (1 << 40) - 1


def ttl_owner(ttl_ms: int) -> int:
    """The ``ephemeral_owner`` of a znode with a time to live: ``| 0xff | two zero bytes | ttl: 5 bytes |``, signed."""
    return (_TTL_MARK | ttl_ms) - (1 << 64)


def ttl_ms_of(owner: int) -> int:
    """The time to live in an ``ephemeral_owner``, or 0 if it is of another kind."""
    return owner & MAX_TTL_MS if (owner >> 56) & 0xFF == 0xFF else 0


def is_session_owner(owner: int) -> bool:
    """Whether the owner is a session: the znode is ephemeral, is deleted with it, and cannot have children."""
    return owner not in (0, CONTAINER_OWNER) and not ttl_ms_of(owner)


class StatPersisted(NamedTuple):
    """The stored part of a stat. ``cversion`` counts only creations of children (see ``DataNode.stat``)."""

    czxid: Long = 0
    mzxid: Long = 0
    ctime: Long = 0
    mtime: Long = 0
    version: Int = 0
    cversion: Int = 0
    aversion: Int = 0
    ephemeral_owner: Long = 0
    pzxid: Long = 0


class DataNode:
    """A znode. Except for ``children``, fields are replaced and never mutated, so copying them makes a snapshot."""

    __slots__ = ("acl", "children", "data", "stat_persisted")

    def __init__(self, data: bytes | None, acl: tuple[ACL, ...], stat_persisted: StatPersisted) -> None:
        self.data = data
        self.acl = acl
        self.stat_persisted = stat_persisted
        # Used as an insertion-ordered set of names.
        self.children: dict[str, None] = {}

    def stat(self) -> Stat:
        """The stat as clients see it.

        Its ``cversion`` counts creations and deletions. Only creations are stored, because they number sequential
        znodes; every child that was created and no longer exists was deleted: ``creations + (creations - children)``.
        """
        kept = self.stat_persisted
        return Stat(
            kept.czxid,
            kept.mzxid,
            kept.ctime,
            kept.mtime,
            kept.version,
            kept.cversion * 2 - len(self.children),
            kept.aversion,
            kept.ephemeral_owner if is_session_owner(kept.ephemeral_owner) else 0,
            len(self.data or b""),
            len(self.children),
            kept.pzxid,
        )


class ProcessTxnResult(NamedTuple):
    """The result of a transaction: the created path, the new stat, or for a multi, one result per operation."""

    path: str = ""
    stat: Stat | None = None
    multi: tuple[tuple[OpCode, ProcessTxnResult], ...] = ()


class DataTree:
    """Znodes by full path, ephemeral znodes by session, and the watches that changes trigger.

    Only ``process_txn`` changes znodes. It never rejects a change: ``PrepRequestProcessor`` has already decided that
    the change is allowed.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, DataNode] = {}
        self.last_processed_zxid = 0
        self.data_watches = WatchManager()
        self.child_watches = WatchManager()
        self._ephemerals: dict[int, dict[str, None]] = {}
        self._containers: set[str] = set()
        self._ttls: set[str] = set()
        for path in (ROOT, "/zookeeper", "/zookeeper/quota", CONFIG_PATH):
            self.restore(path, DataNode(b"", OPEN_ACL_UNSAFE, StatPersisted()))
        config = self.nodes[CONFIG_PATH]
        config.acl = READ_ACL_UNSAFE
        config.stat_persisted = StatPersisted(aversion=-1)

    def restore(self, path: str, node: DataNode) -> None:
        """Put a znode from a snapshot in place. Raises KeyError if its parent does not exist."""
        if path != ROOT:
            self.nodes[parent_path(path)].children[_name(path)] = None
        previous = self.nodes.get(path)
        if previous is not None:
            node.children = previous.children
        self.nodes[path] = node
        self._index(path, node.stat_persisted.ephemeral_owner)

    # ---- Reads ---------------------------------------------------------------------------------------------------

    def get_node(self, path: str) -> DataNode:
        """The znode. Raises NO_NODE."""
        node = self.nodes.get(path)
        if node is None:
            raise KeeperException(Code.NO_NODE, path)
        return node

    def stat_node(self, path: str, watcher: Watcher | None = None) -> Stat:
        """The stat. Adds a data watch even if it raises NO_NODE, so that the client learns of the creation."""
        if watcher is not None:
            self.data_watches.add_watch(path, watcher)
        return self.get_node(path).stat()

    def get_data(self, path: str, watcher: Watcher | None = None) -> tuple[bytes | None, Stat]:
        """Data and stat; adds a data watch. Raises NO_NODE."""
        node = self.get_node(path)
        if watcher is not None:
            self.data_watches.add_watch(path, watcher)
        return node.data, node.stat()

    def get_children(self, path: str, watcher: Watcher | None = None) -> tuple[list[str], Stat]:
        """The children's names in creation order, and the stat; adds a child watch. Raises NO_NODE."""
        node = self.get_node(path)
        if watcher is not None:
            self.child_watches.add_watch(path, watcher)
        return list(node.children), node.stat()

    def get_all_children_number(self, path: str) -> int:
        """Number of znodes below ``path``, at any depth."""
        prefix = path if path == ROOT else path + "/"
        return sum(other.startswith(prefix) for other in self.nodes) - (path == ROOT)

    def ephemerals(self, session_id: int) -> list[str]:
        """The paths of the session's ephemeral znodes."""
        return list(self._ephemerals.get(session_id, ()))

    def sessions_with_ephemerals(self) -> dict[int, list[str]]:
        """Session → paths of its ephemeral znodes."""
        return {session_id: list(paths) for session_id, paths in self._ephemerals.items()}

    def removable_containers(self, now_ms: int) -> Iterator[str]:
        """Containers that have lost their last child, and childless znodes whose time to live has passed."""
        for path in self._containers:
            node = self.nodes[path]
            if not node.children and node.stat_persisted.cversion:
                yield path
        for path in self._ttls:
            node = self.nodes[path]
            kept = node.stat_persisted
            if not node.children and now_ms - kept.mtime > ttl_ms_of(kept.ephemeral_owner):
                yield path

    # ---- Watches -------------------------------------------------------------------------------------------------

    def add_watch(self, path: str, watcher: Watcher, mode: WatcherMode) -> None:
        """Add a persistent watch."""
        self.data_watches.add_watch(path, watcher, mode)
        self.child_watches.add_watch(path, watcher, mode)

    def remove_watcher(self, watcher: Watcher) -> None:
        """Remove the watches of a closed connection."""
        self.data_watches.remove_watcher(watcher)
        self.child_watches.remove_watcher(watcher)

    def set_watches(
        self, relative_zxid: int, data: list[str], exist: list[str], child: list[str], watcher: Watcher
    ) -> None:
        """Restore a client's watches after it reconnects; those triggered since ``relative_zxid`` fire now."""
        for path in data:
            node = self.nodes.get(path)
            if node is None:
                watcher.process(EventType.NODE_DELETED, path)
            elif node.stat_persisted.mzxid > relative_zxid:
                watcher.process(EventType.NODE_DATA_CHANGED, path)
            else:
                self.data_watches.add_watch(path, watcher)
        for path in exist:
            if path in self.nodes:
                watcher.process(EventType.NODE_CREATED, path)
            else:
                self.data_watches.add_watch(path, watcher)
        for path in child:
            node = self.nodes.get(path)
            if node is None:
                watcher.process(EventType.NODE_DELETED, path)
            elif node.stat_persisted.pzxid > relative_zxid:
                watcher.process(EventType.NODE_CHILDREN_CHANGED, path)
            else:
                self.child_watches.add_watch(path, watcher)

    # ---- Transactions --------------------------------------------------------------------------------------------

    def process_txn(self, header: TxnHeader, txn: Txn) -> ProcessTxnResult:
        """Apply a transaction and trigger watches."""
        result = self._apply(header, txn)
        self.last_processed_zxid = header.zxid
        return result

    def _apply(self, header: TxnHeader, txn: Txn) -> ProcessTxnResult:
        match txn:
            case CreateTxn():
                owner = header.client_id if txn.ephemeral else 0
                return self._create(header, txn, owner)
            case CreateContainerTxn():
                return self._create(header, txn, CONTAINER_OWNER)
            case CreateTTLTxn():
                return self._create(header, txn, ttl_owner(txn.ttl))
            case DeleteTxn():
                return self._delete(txn.path, header.zxid)
            case SetDataTxn():
                return self._set_data(header, txn)
            case SetACLTxn():
                return self._set_acl(txn)
            case CheckVersionTxn():
                return ProcessTxnResult(txn.path)
            case CloseSessionTxn():
                return self._kill_session(header)
            case MultiTxn():
                return ProcessTxnResult(multi=tuple((op, self._apply(header, sub)) for op, sub in txn.txns))
            case _:
                return ProcessTxnResult()

    def _create(
        self, header: TxnHeader, txn: CreateTxn | CreateContainerTxn | CreateTTLTxn, owner: int
    ) -> ProcessTxnResult:
        zxid, now_ms = header.zxid, header.time
        kept = StatPersisted(zxid, zxid, now_ms, now_ms, ephemeral_owner=owner, pzxid=zxid)
        node = DataNode(txn.data, txn.acl, kept)
        parent = parent_path(txn.path)
        self.restore(txn.path, node)
        above = self.nodes[parent]
        # -1: logged by a server that does not count creations itself.
        cversion = above.stat_persisted.cversion + 1 if txn.parent_c_version == -1 else txn.parent_c_version
        above.stat_persisted = above.stat_persisted._replace(cversion=cversion, pzxid=zxid)
        self.data_watches.trigger_watch(txn.path, EventType.NODE_CREATED)
        self.child_watches.trigger_watch(parent, EventType.NODE_CHILDREN_CHANGED)
        return ProcessTxnResult(txn.path, node.stat())

    def _delete(self, path: str, zxid: int) -> ProcessTxnResult:
        node = self.nodes.pop(path)
        self._unindex(path, node.stat_persisted.ephemeral_owner)
        parent = parent_path(path)
        above = self.nodes[parent]
        del above.children[_name(path)]
        above.stat_persisted = above.stat_persisted._replace(pzxid=zxid)
        # A client that watches both data and children of the znode gets one event for its deletion.
        told = self.data_watches.trigger_watch(path, EventType.NODE_DELETED)
        self.child_watches.trigger_watch(path, EventType.NODE_DELETED, suppress=told)
        self.child_watches.trigger_watch(parent, EventType.NODE_CHILDREN_CHANGED)
        return ProcessTxnResult(path)

    def _set_data(self, header: TxnHeader, txn: SetDataTxn) -> ProcessTxnResult:
        node = self.nodes[txn.path]
        node.data = txn.data
        node.stat_persisted = node.stat_persisted._replace(mzxid=header.zxid, mtime=header.time, version=txn.version)
        self.data_watches.trigger_watch(txn.path, EventType.NODE_DATA_CHANGED)
        return ProcessTxnResult(txn.path, node.stat())

    def _set_acl(self, txn: SetACLTxn) -> ProcessTxnResult:
        node = self.nodes[txn.path]
        node.acl = txn.acl
        node.stat_persisted = node.stat_persisted._replace(aversion=txn.version)
        return ProcessTxnResult(txn.path, node.stat())

    def _kill_session(self, header: TxnHeader) -> ProcessTxnResult:
        for path in self.ephemerals(header.client_id):
            self._delete(path, header.zxid)
        return ProcessTxnResult()

    def _index(self, path: str, owner: int) -> None:
        if owner == CONTAINER_OWNER:
            self._containers.add(path)
        elif ttl_ms_of(owner):
            self._ttls.add(path)
        elif owner:
            self._ephemerals.setdefault(owner, {})[path] = None

    def _unindex(self, path: str, owner: int) -> None:
        self._containers.discard(path)
        self._ttls.discard(path)
        paths = self._ephemerals.get(owner)
        if paths is not None:
            paths.pop(path, None)
            if not paths:
                del self._ephemerals[owner]


def _name(path: str) -> str:
    return path[path.rindex("/") + 1 :]
