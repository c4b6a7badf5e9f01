"""Builds responses: performs reads, and encodes the results of applied transactions.

ZooKeeper 3.8: zookeeper-server/.../server/FinalRequestProcessor.java · book 7.1.3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kafka_lite.zookeeper.embedded.authentication import check_acl, masked
from kafka_lite.zookeeper.embedded.data_tree import DataTree, ProcessTxnResult
from kafka_lite.zookeeper.embedded.jute import JuteReader, read_record, write_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.protocol import (
    MULTI_END,
    AddWatchRequest,
    Create2Response,
    ErrorResponse,
    GetACLResponse,
    GetAllChildrenNumberResponse,
    GetChildren2Response,
    GetDataResponse,
    Id,
    MultiHeader,
    OpCode,
    PathRequest,
    PathResponse,
    PathsResponse,
    PathWatchRequest,
    Perms,
    SetWatches,
    SetWatches2,
    WatcherTypeRequest,
    WhoAmIResponse,
)
from kafka_lite.zookeeper.embedded.watch_manager import Watcher, WatcherMode, WatchManager

_WATCHER_TYPE_CHILDREN, _WATCHER_TYPE_DATA, _WATCHER_TYPE_ANY = 1, 2, 3
_MULTI_RESULTS = {OpCode.CREATE_CONTAINER: OpCode.CREATE2, OpCode.CREATE_TTL: OpCode.CREATE2}
"""Operations whose results in a multi have another operation's type."""
_ADD_WATCH_MODES = {0: WatcherMode.PERSISTENT, 1: WatcherMode.PERSISTENT_RECURSIVE}


class Client(Watcher, Protocol):
    """The connection, as reads see it."""

    session_id: int
    identities: list[Id]


class FinalRequestProcessor:
    """Builds response bodies. Reads raise KeeperException if rejected, and JuteError if the request is malformed."""

    def __init__(self, tree: DataTree) -> None:
        self._tree = tree
        self._reads: dict[OpCode, tuple[type, Callable[[Any, Client, bytearray], None]]] = {
            OpCode.EXISTS: (PathWatchRequest, self._exists),
            OpCode.GET_DATA: (PathWatchRequest, self._get_data),
            OpCode.GET_ACL: (PathRequest, self._get_acl),
            OpCode.GET_CHILDREN: (PathWatchRequest, self._get_children),
            OpCode.GET_CHILDREN2: (PathWatchRequest, self._get_children2),
            OpCode.SYNC: (PathRequest, self._sync),
            OpCode.GET_EPHEMERALS: (PathRequest, self._get_ephemerals),
            OpCode.GET_ALL_CHILDREN_NUMBER: (PathRequest, self._get_all_children_number),
            OpCode.SET_WATCHES: (SetWatches, self._set_watches),
            OpCode.SET_WATCHES2: (SetWatches2, self._set_watches2),
            OpCode.ADD_WATCH: (AddWatchRequest, self._add_watch),
            OpCode.CHECK_WATCHES: (WatcherTypeRequest, self._check_watches),
            OpCode.REMOVE_WATCHES: (WatcherTypeRequest, self._remove_watches),
        }

    @property
    def read_ops(self) -> frozenset[OpCode]:
        """The operations that ``read`` handles."""
        return frozenset(self._reads) | {OpCode.WHO_AM_I, OpCode.MULTI_READ}

    def read(self, op: OpCode, body: JuteReader, client: Client) -> bytes:
        """Return the response to a request that changes no znode."""
        out = bytearray()
        if op is OpCode.WHO_AM_I:
            write_record(out, WhoAmIResponse([Id(who.scheme, who.id.partition(":")[0]) for who in client.identities]))
        elif op is OpCode.MULTI_READ:
            self._multi_read(body, client, out)
        else:
            request_class, handler = self._reads[op]
            handler(read_record(request_class, body), client, out)
        return bytes(out)

    def written(self, op: OpCode, result: ProcessTxnResult) -> bytes:
        """Return the response to a request whose transaction has been applied."""
        out = bytearray()
        if op is OpCode.MULTI:
            for sub_op, sub_result in result.multi:
                result_op = _MULTI_RESULTS.get(sub_op, sub_op)
                write_record(out, MultiHeader(result_op, False, Code.OK))
                _write_result(out, result_op, sub_result)
            write_record(out, MULTI_END)
        else:
            _write_result(out, op, result)
        return bytes(out)

    def multi_failed(self, errors: Sequence[Code]) -> bytes:
        """Return the response to a rejected multi: success in the header, and an error for each operation."""
        out = bytearray()
        for code in errors:
            write_record(out, MultiHeader(OpCode.ERROR, False, code))
            write_record(out, ErrorResponse(code))
        write_record(out, MULTI_END)
        return bytes(out)

    # ---- Reads ---------------------------------------------------------------------------------------------------

    def _exists(self, request: PathWatchRequest, client: Client, out: bytearray) -> None:
        write_record(out, self._tree.stat_node(_path(request), _watcher(request, client)))

    def _get_data(self, request: PathWatchRequest, client: Client, out: bytearray) -> None:
        self._check_readable(request, client)
        data, stat = self._tree.get_data(request.path, _watcher(request, client))
        write_record(out, GetDataResponse(data, stat))

    def _get_children(self, request: PathWatchRequest, client: Client, out: bytearray) -> None:
        self._check_readable(request, client)
        children, _stat = self._tree.get_children(request.path, _watcher(request, client))
        write_record(out, PathsResponse(children))

    def _get_children2(self, request: PathWatchRequest, client: Client, out: bytearray) -> None:
        self._check_readable(request, client)
        children, stat = self._tree.get_children(request.path, _watcher(request, client))
        write_record(out, GetChildren2Response(children, stat))

    def _get_acl(self, request: PathRequest, client: Client, out: bytearray) -> None:
        node = self._tree.get_node(_path(request))
        check_acl(node.acl, Perms.READ | Perms.ADMIN, client.identities, request.path)
        acl = node.acl
        try:
            check_acl(acl, Perms.ADMIN, client.identities)
        except KeeperException:
            acl = masked(acl)
        write_record(out, GetACLResponse(acl, node.stat()))

    def _get_ephemerals(self, request: PathRequest, client: Client, out: bytearray) -> None:
        paths = self._tree.ephemerals(client.session_id)
        write_record(out, PathsResponse([path for path in paths if path.startswith(request.path)]))

    def _get_all_children_number(self, request: PathRequest, client: Client, out: bytearray) -> None:
        self._check_readable(request, client)
        write_record(out, GetAllChildrenNumberResponse(self._tree.get_all_children_number(request.path)))

    def _sync(self, request: PathRequest, _client: Client, out: bytearray) -> None:
        # A single server is always in sync; the order of responses does the rest.
        write_record(out, PathResponse(request.path))

    def _multi_read(self, body: JuteReader, client: Client, out: bytearray) -> None:
        while not (header := read_record(MultiHeader, body)).done:
            if header.type not in (OpCode.GET_DATA, OpCode.GET_CHILDREN):
                raise KeeperException(Code.MARSHALLING_ERROR)
            try:
                result = self.read(OpCode(header.type), body, client)
                write_record(out, MultiHeader(header.type, False, Code.OK))
                out += result
            except KeeperException as refusal:
                write_record(out, MultiHeader(OpCode.ERROR, False, refusal.code))
                write_record(out, ErrorResponse(refusal.code))
        write_record(out, MULTI_END)

    def _check_readable(self, request: PathRequest | PathWatchRequest, client: Client) -> None:
        check_acl(self._tree.get_node(_path(request)).acl, Perms.READ, client.identities, request.path)

    # ---- Watches -------------------------------------------------------------------------------------------------

    def _set_watches(self, request: SetWatches, client: Client, _out: bytearray) -> None:
        self._tree.set_watches(*request, client)

    def _set_watches2(self, request: SetWatches2, client: Client, _out: bytearray) -> None:
        self._tree.set_watches(*request[:4], client)
        for path in request.persistent_watches:
            self._tree.add_watch(path, client, WatcherMode.PERSISTENT)
        for path in request.persistent_recursive_watches:
            self._tree.add_watch(path, client, WatcherMode.PERSISTENT_RECURSIVE)

    def _add_watch(self, request: AddWatchRequest, client: Client, out: bytearray) -> None:
        mode = _ADD_WATCH_MODES.get(request.mode)
        if mode is None:
            raise KeeperException(Code.MARSHALLING_ERROR, request.path)
        self._tree.add_watch(_path(request), client, mode)
        write_record(out, ErrorResponse(Code.OK))

    def _check_watches(self, request: WatcherTypeRequest, client: Client, _out: bytearray) -> None:
        if not any(manager.contains_watcher(request.path, client) for manager in self._managers(request.type)):
            raise KeeperException(Code.NO_WATCHER, request.path)

    def _remove_watches(self, request: WatcherTypeRequest, client: Client, _out: bytearray) -> None:
        removed = [manager.remove_watch(request.path, client) for manager in self._managers(request.type)]
        if not any(removed):
            raise KeeperException(Code.NO_WATCHER, request.path)

    def _managers(self, watcher_type: int) -> list[WatchManager]:
        children, data = self._tree.child_watches, self._tree.data_watches
        if watcher_type == _WATCHER_TYPE_CHILDREN:
            return [children]
        if watcher_type == _WATCHER_TYPE_DATA:
            return [data]
        if watcher_type == _WATCHER_TYPE_ANY:
            return [children, data]
        raise KeeperException(Code.MARSHALLING_ERROR)


def _path(request: PathRequest | PathWatchRequest | AddWatchRequest) -> str:
    if "\0" in request.path:
        raise KeeperException(Code.BAD_ARGUMENTS, request.path)
    return request.path


def _watcher(request: PathWatchRequest, client: Client) -> Client | None:
    return client if request.watch else None


def _write_result(out: bytearray, op: OpCode, result: ProcessTxnResult) -> None:
    if op is OpCode.CREATE:
        write_record(out, PathResponse(result.path))
    elif op in (OpCode.CREATE2, OpCode.CREATE_CONTAINER, OpCode.CREATE_TTL) and result.stat is not None:
        write_record(out, Create2Response(result.path, result.stat))
    elif op in (OpCode.SET_DATA, OpCode.SET_ACL) and result.stat is not None:
        write_record(out, result.stat)
