"""Decides whether a request is allowed, and turns it into a transaction.

ZooKeeper 3.8: zookeeper-server/.../server/PrepRequestProcessor.java · book 7.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_lite.zookeeper.embedded.authentication import check_acl, fixup_acl
from kafka_lite.zookeeper.embedded.data_tree import (
    CONTAINER_OWNER,
    MAX_TTL_MS,
    SPECIAL_PATHS,
    DataTree,
    is_session_owner,
    ttl_owner,
)
from kafka_lite.zookeeper.embedded.jute import JuteReader, read_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.path_utils import parent_path, validate_path
from kafka_lite.zookeeper.embedded.protocol import (
    ACL,
    CheckVersionRequest,
    CreateMode,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    Id,
    MultiHeader,
    OpCode,
    Perms,
    SetACLRequest,
    SetDataRequest,
)
from kafka_lite.zookeeper.embedded.txns import (
    CheckVersionTxn,
    CreateContainerTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetACLTxn,
    SetDataTxn,
    Txn,
)

_NO_TTL = -1
_MAX_INT = (1 << 31) - 1
_MIN_INT = -(1 << 31)

REQUEST_CLASSES: dict[OpCode, type] = {
    OpCode.CREATE: CreateRequest,
    OpCode.CREATE2: CreateRequest,
    OpCode.CREATE_CONTAINER: CreateRequest,
    OpCode.CREATE_TTL: CreateTTLRequest,
    OpCode.DELETE: DeleteRequest,
    OpCode.SET_DATA: SetDataRequest,
    OpCode.SET_ACL: SetACLRequest,
    OpCode.CHECK: CheckVersionRequest,
}
"""The operations that become transactions and are allowed in a multi."""


class MultiFailed(Exception):
    """A multi with a rejected operation; ``errors`` has one code per operation."""

    def __init__(self, errors: list[Code]) -> None:
        super().__init__(errors)
        self.errors = errors


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """The state of a znode after the operations decided so far; later decisions are based on it."""

    version: int
    aversion: int
    creations: int
    child_count: int
    owner: int
    acl: tuple[ACL, ...]


class PrepRequestProcessor:
    """Turns requests into transactions.

    The operations of a multi are decided one after another, each based on the ``ChangeRecord`` s of the earlier ones;
    the tree is not changed until all of them have been allowed.
    """

    def __init__(self, tree: DataTree, extended_types_enabled: bool = False) -> None:
        self._tree = tree
        # ZooKeeper supports znodes with a time to live only if zookeeper.extendedTypesEnabled is set.
        self._extended_types_enabled = extended_types_enabled
        self._outstanding: dict[str, ChangeRecord | None] = {}
        self._session_id = 0
        self._identities: Sequence[Id] = ()
        self._handlers: dict[OpCode, Callable[[Any], Txn]] = {
            OpCode.CREATE: self._create,
            OpCode.CREATE2: self._create,
            OpCode.CREATE_CONTAINER: self._create,
            OpCode.CREATE_TTL: self._create,
            OpCode.DELETE: self._delete,
            OpCode.SET_DATA: self._set_data,
            OpCode.SET_ACL: self._set_acl,
            OpCode.CHECK: self._check_version,
        }

    def prepare(self, op: OpCode, body: JuteReader, session_id: int, identities: Sequence[Id]) -> Txn:
        """Return the transaction for a write request.

        Raises KeeperException if it is rejected, MultiFailed if it is a multi with a rejected operation, and JuteError
        if ``body`` is malformed.
        """
        self._session_id, self._identities = session_id, identities
        try:
            if op is OpCode.MULTI:
                return self._multi(body)
            return self._handlers[op](read_record(REQUEST_CLASSES[op], body))
        finally:
            self._outstanding.clear()

    def delete_container(self, path: str) -> Txn:
        """The deletion of a container or of a znode whose time to live has passed, by the server itself."""
        return DeleteTxn(path)

    # ---- Operations ----------------------------------------------------------------------------------------------

    def _create(self, request: CreateRequest | CreateTTLRequest) -> Txn:
        mode = _create_mode(request.flags)
        ttl_ms = request.ttl if isinstance(request, CreateTTLRequest) else _NO_TTL
        self._check_ttl(mode, ttl_ms)
        path = request.path
        if "/" not in path or "\0" in path:
            raise KeeperException(Code.BAD_ARGUMENTS, path)
        acl = fixup_acl(request.acl, self._identities, path)
        above = parent_path(path)
        parent = self._record(above)
        check_acl(parent.acl, Perms.CREATE, self._identities, path)
        if mode.is_sequential:
            path += f"{parent.creations:010d}"
        _check_path(path)
        if self._find(path) is not None:
            raise KeeperException(Code.NODE_EXISTS, path)
        if is_session_owner(parent.owner):
            raise KeeperException(Code.NO_CHILDREN_FOR_EPHEMERALS, path)

        creations = parent.creations + 1
        self._outstanding[above] = replace(parent, creations=creations, child_count=parent.child_count + 1)
        self._outstanding[path] = ChangeRecord(0, 0, 0, 0, self._owner(mode, ttl_ms), acl)
        if mode is CreateMode.CONTAINER:
            return CreateContainerTxn(path, request.data, acl, creations)
        if mode.has_ttl:
            return CreateTTLTxn(path, request.data, acl, creations, ttl_ms)
        return CreateTxn(path, request.data, acl, mode.is_ephemeral, creations)

    def _delete(self, request: DeleteRequest) -> Txn:
        path = request.path
        if "/" not in path or "\0" in path or path in SPECIAL_PATHS:
            raise KeeperException(Code.BAD_ARGUMENTS, path)
        above = parent_path(path)
        parent = self._record(above)
        check_acl(parent.acl, Perms.DELETE, self._identities, path)
        record = self._record(path)
        _next_version(record.version, request.version, path)
        if record.child_count:
            raise KeeperException(Code.NOT_EMPTY, path)
        self._outstanding[above] = replace(parent, child_count=parent.child_count - 1)
        self._outstanding[path] = None
        return DeleteTxn(path)

    def _set_data(self, request: SetDataRequest) -> Txn:
        path = request.path
        _check_path(path)
        record = self._record(path)
        check_acl(record.acl, Perms.WRITE, self._identities, path)
        version = _next_version(record.version, request.version, path)
        self._outstanding[path] = replace(record, version=version)
        return SetDataTxn(path, request.data, version)

    def _set_acl(self, request: SetACLRequest) -> Txn:
        path = request.path
        _check_path(path)
        acl = fixup_acl(request.acl, self._identities, path)
        record = self._record(path)
        check_acl(record.acl, Perms.ADMIN, self._identities, path)
        aversion = _next_version(record.aversion, request.version, path)
        self._outstanding[path] = replace(record, aversion=aversion, acl=acl)
        return SetACLTxn(path, acl, aversion)

    def _check_version(self, request: CheckVersionRequest) -> Txn:
        path = request.path
        _check_path(path)
        record = self._record(path)
        check_acl(record.acl, Perms.READ, self._identities, path)
        return CheckVersionTxn(path, _next_version(record.version, request.version, path))

    def _multi(self, body: JuteReader) -> Txn:
        operations = read_multi(body)
        txns: list[tuple[OpCode, Txn]] = []
        for op, request in operations:
            try:
                txns.append((op, self._handlers[op](request)))
            except KeeperException as refusal:
                done, behind = len(txns), len(operations) - len(txns) - 1
                errors = [Code.OK] * done + [refusal.code] + [Code.RUNTIME_INCONSISTENCY] * behind
                raise MultiFailed(errors) from refusal
        return MultiTxn(txns)

    # ---- State that the operations are decided on ----------------------------------------------------------------

    def _find(self, path: str) -> ChangeRecord | None:
        if path in self._outstanding:
            return self._outstanding[path]
        node = self._tree.nodes.get(path)
        if node is None:
            return None
        kept = node.stat_persisted
        return ChangeRecord(
            kept.version, kept.aversion, kept.cversion, len(node.children), kept.ephemeral_owner, node.acl
        )

    def _record(self, path: str) -> ChangeRecord:
        record = self._find(path)
        if record is None:
            raise KeeperException(Code.NO_NODE, path)
        return record

    def _owner(self, mode: CreateMode, ttl_ms: int) -> int:
        if mode is CreateMode.CONTAINER:
            return CONTAINER_OWNER
        if mode.has_ttl:
            return ttl_owner(ttl_ms)
        return self._session_id if mode.is_ephemeral else 0

    def _check_ttl(self, mode: CreateMode, ttl_ms: int) -> None:
        if mode.has_ttl and not self._extended_types_enabled:
            raise KeeperException(Code.UNIMPLEMENTED)
        if (0 < ttl_ms <= MAX_TTL_MS) if mode.has_ttl else ttl_ms < 0:
            return
        raise KeeperException(Code.BAD_ARGUMENTS)


_CREATES = frozenset({OpCode.CREATE, OpCode.CREATE2, OpCode.CREATE_CONTAINER, OpCode.CREATE_TTL})
_CREATES_BY_FLAGS = {
    CreateMode.CONTAINER: OpCode.CREATE_CONTAINER,
    CreateMode.PERSISTENT_WITH_TTL: OpCode.CREATE_TTL,
    CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL: OpCode.CREATE_TTL,
}
"""In a multi the flags determine the kind of create, whatever its header says; a create2 is treated as a create."""


def read_multi(body: JuteReader) -> list[tuple[OpCode, Any]]:
    """Read a multi: operations, each ``| MultiHeader | request |``, until a header says done. Raises JuteError."""
    operations: list[tuple[OpCode, Any]] = []
    while not (header := read_record(MultiHeader, body)).done:
        if header.type not in REQUEST_CLASSES or header.type == OpCode.SET_ACL:
            raise KeeperException(Code.MARSHALLING_ERROR)
        op = OpCode(header.type)
        request: Any = read_record(REQUEST_CLASSES[op], body)
        operations.append((_CREATES_BY_FLAGS.get(request.flags, OpCode.CREATE) if op in _CREATES else op, request))
    return operations


def _create_mode(flags: int) -> CreateMode:
    try:
        return CreateMode(flags)
    except ValueError:
        raise KeeperException(Code.BAD_ARGUMENTS) from None


def _check_path(path: str) -> None:
    if validate_path(path) is not None:
        raise KeeperException(Code.BAD_ARGUMENTS, path)


def _next_version(current: int, expected: int, path: str) -> int:
    """Return the version after the change. Raises BAD_VERSION unless ``expected`` is -1 (any) or the current one."""
    if expected not in (-1, current):
        raise KeeperException(Code.BAD_VERSION, path)
    # -1 means "any"; a znode that has been written never has that version.
    return current + 1 if current < _MAX_INT else _MIN_INT
