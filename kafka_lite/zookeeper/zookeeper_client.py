"""Reads, writes and watches of znodes that survive lost connections and expired sessions.

Kafka 0.10.2: ZkClient (I0Itec), as used by core/.../utils/ZkUtils.scala; later core/.../zookeeper/ZooKeeperClient.scala
· book 7.1.3
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from kazoo import exceptions as kazoo_exceptions
from kazoo.protocol.serialization import CheckVersion, Create, Delete, SetData

from kafka_lite.zookeeper.node_operations import (
    ANY_VERSION,
    CheckNode,
    CreateNode,
    DeleteNode,
    Operation,
    SetNode,
    ZnodeStat,
    stat_of,
)
from kafka_lite.zookeeper.watches import Watch
from kafka_lite.zookeeper.zk_acls import default_acls
from kafka_lite.zookeeper.zk_errors import (
    FencedError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    ZkConnectionError,
    ZkError,
    without_frames,
    zk_error,
)
from kafka_lite.zookeeper.zookeeper_session import ZooKeeperSession

NO_ROOM = kazoo_exceptions.SystemZookeeperError
MAX_OPERATIONS_AT_ONCE = 500
"""Maximum number of operations in a transaction, or in flight at a time; far below ZooKeeper's request size limit."""


def _result(done: Any) -> int | ZkError | None:
    """The result of an operation: the new version of a set; None for a create (which returns a path) or a delete."""
    if isinstance(done, ZkError):
        return done
    if isinstance(done, Exception):
        return zk_error(done)
    return getattr(done, "version", None)


class ZooKeeperClient(ZooKeeperSession):
    """Node operations on one session. If the connection is lost, calls block until it is back, as in Kafka's clients.

    A write also blocks until ZooKeeper has space for it, except within ``with client.refusing_without_room()``.

    Calls raise NoNodeError, NodeExistsError, BadVersionError or NotEmptyError, and ZkConnectionError after ``close``.
    A create or conditional set whose response was lost is sent again, and may then find its own effect. Callers for
    which this matters (elections, registrations, conditional writes) compare the existing data with their own.
    """

    # ------------------------------------------------------------------------------------------------------------ nodes

    @contextlib.contextmanager
    def fenced_by(self, path: str, version: int) -> Iterator[None]:
        """Let this thread write within the block only while another node has a version. Raises FencedError afterwards.

        For a controller that is replaced without noticing, in a long pause or because its session expires: this client
        sends its last write again, in a new session.
        """
        self._thread.fence = CheckNode(path, version)
        try:
            yield
        finally:
            self._thread.fence = None

    @property
    def _fence(self) -> CheckNode | None:
        return getattr(self._thread, "fence", None)

    def get(self, path: str) -> tuple[bytes | None, ZnodeStat]:
        """Data (None: null) and stat. Raises NoNodeError."""
        data, stat = self._call(self._client.get, path)
        return data, stat_of(stat)

    def exists(self, path: str) -> ZnodeStat | None:
        """The stat, or None if the node does not exist."""
        stat = self._call(self._client.exists, path)
        return None if stat is None else stat_of(stat)

    def children(self, path: str) -> list[str]:
        """Names of the children, sorted; empty if the node does not exist."""
        try:
            return sorted(self._call(self._client.get_children, path))
        except NoNodeError:
            return []

    def create(self, path: str, data: bytes | None, *, ephemeral: bool = False, sequential: bool = False) -> str:
        """Create a node whose parent exists. Returns its path, including the number if ``sequential``."""
        if self._fence is not None and not sequential:
            self._write_fenced(CreateNode(path, data, ephemeral))
            return path
        acl = default_acls(self._set_acl, path)
        return str(self._call(self._client.create, path, data, acl=acl, ephemeral=ephemeral, sequence=sequential))

    def create_recursive(self, path: str, data: bytes | None = None) -> None:
        """Create a persistent node and any missing parents, which get null data."""
        try:
            self.create(path, data)
        except NoNodeError:
            self.ensure_path(path.rpartition("/")[0])
            self.create(path, data)

    def ensure_path(self, path: str) -> None:
        """Create the missing nodes of a path, with null data as in Kafka."""
        with contextlib.suppress(NodeExistsError):
            self.create_recursive(path)

    def ensure_paths(self, wanted: Iterable[str]) -> None:
        """Create the missing nodes of several paths, in one transaction if all of them are missing."""
        # A dict serves as an ordered set: each node once, parents before children.
        nodes = dict.fromkeys(
            path[:end] for path in wanted for end in range(1, len(path) + 1) if path[end : end + 1] in ("/", "")
        )
        for result in self.write_all([CreateNode(node, None) for node in nodes]):
            if isinstance(result, ZkError) and not isinstance(result, NodeExistsError):
                raise result

    def set(self, path: str, data: bytes | None, version: int = ANY_VERSION) -> int:
        """Write data if the node still has ``version``. Returns the new version."""
        if self._fence is not None:
            return self._write_fenced(SetNode(path, data, version)) or 0
        return int(self._call(self._client.set, path, data, version=version).version)

    def set_or_create(self, path: str, data: bytes) -> None:
        """Write data, creating the node and missing parents if necessary."""
        try:
            self.set(path, data)
        except NoNodeError:
            try:
                self.create_recursive(path, data)
            except NodeExistsError:
                self.set(path, data)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a node without children."""
        if self._fence is not None:
            self._write_fenced(DeleteNode(path, version))
            return
        self._call(self._client.delete, path, version=version)

    def delete_recursive(self, path: str) -> bool:
        """Delete a node and all nodes below it. Returns False if it does not exist."""
        while True:
            results = self.write_all([DeleteNode(each) for each in reversed(self._tree(path))])
            for error in results:
                if isinstance(error, ZkError) and not isinstance(error, NoNodeError | NotEmptyError):
                    raise error
            if not isinstance(results[-1], NotEmptyError):  # otherwise a child was created meanwhile
                return not isinstance(results[-1], NoNodeError)

    def _tree(self, path: str) -> list[str]:
        """A node and all nodes below it, parents before children."""
        found, level = [path], [path]
        while level:
            children = self._pipeline([(self._client.get_children, self._client.get_children_async, p) for p in level])
            level = [
                f"{parent.rstrip('/')}/{name}"
                for parent, names in zip(level, children, strict=True)
                if not isinstance(names, ZkError)
                for name in sorted(names)
            ]
            found += level
        return found

    # --------------------------------------------------------------------------------------------- many nodes at a time

    def get_all(self, paths: Sequence[str]) -> list[tuple[bytes | None, ZnodeStat] | ZkError]:
        """Like ``get`` for many nodes in a pipeline; an error is returned as the node's result, not raised."""
        found = self._pipeline([(self._client.get, self._client.get_async, path) for path in paths])
        return [each if isinstance(each, ZkError) else (each[0], stat_of(each[1])) for each in found]

    def write_all(self, operations: Sequence[Operation]) -> list[int | ZkError | None]:
        """Create, write and delete many nodes, in order. Each has its own result: after a set, the new version.

        They are sent as transactions, each of which takes one request and one wait for the disk. If one operation in a
        transaction is rejected, all of them are; they are then sent again one by one, in a pipeline.
        """
        results: list[int | ZkError | None] = []
        remaining = iter(operations)
        while chunk := list(islice(remaining, MAX_OPERATIONS_AT_ONCE)):
            results += self._write_chunk(chunk)
        return results

    def _write_chunk(self, chunk: list[Operation]) -> list[int | ZkError | None]:
        if len(chunk) > 1:
            done = self.commit(chunk)
            if not any(isinstance(each, ZkError) for each in done):
                return done
        if self._fence is None:
            return list(map(_result, self._pipeline([self._single(operation) for operation in chunk])))
        return [self.commit([operation])[0] for operation in chunk]

    def commit(self, operations: Sequence[Operation]) -> list[int | ZkError | None]:
        """Make all changes, or none if one result is a ZkError. The transaction has at most 500 operations."""
        fence = self._fence
        if fence is None:
            return list(map(_result, self._call(self._commit, operations)))
        check, *done = self._call(self._commit, [fence, *operations])
        if isinstance(check, kazoo_exceptions.BadVersionError | kazoo_exceptions.NoNodeError):
            raise FencedError(f"{fence.path} has changed since version {fence.version}")
        return list(map(_result, done))

    def _write_fenced(self, operation: Operation) -> int | None:
        (result,) = self.commit([operation])
        if isinstance(result, ZkError):
            raise result
        return result

    def _commit(self, operations: Iterable[Operation]) -> list[Any]:
        transaction = self._client.transaction()
        transaction.operations += [self._kazoo_operation(operation) for operation in operations]
        results = list(transaction.commit())
        if no_room := next((each for each in results if isinstance(each, NO_ROOM)), None):
            raise no_room
        return results

    def _kazoo_operation(self, operation: Operation) -> Create | SetData | Delete | CheckVersion:
        """Create the operation directly, because ``create`` of kazoo's transactions does not support null data."""
        path = self._chroot + operation.path
        match operation:
            case CreateNode():
                acl = default_acls(self._set_acl, operation.path)
                return Create(path, operation.data, acl, int(operation.ephemeral))
            case SetNode():
                return SetData(path, operation.data, operation.version)
            case DeleteNode():
                return Delete(path, operation.version)
            case CheckNode():
                return CheckVersion(path, operation.version)

    def _single(self, operation: Operation) -> tuple[Any, ...]:
        client = self._client
        match operation:
            case CreateNode(path, data, _):
                return client.create, client.create_async, path, data, default_acls(self._set_acl, path)
            case SetNode(path, data, version):
                return client.set, client.set_async, path, data, version
            case DeleteNode(path, version):
                return client.delete, client.delete_async, path, version
            case _:
                raise ValueError(f"{operation} is for transactions only")

    def _pipeline(self, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Send requests (function, asynchronous function, arguments) in a pipeline. Returns their results or ZkErrors.

        If the connection is lost before the response, a request is sent again on its own. Raises ZkConnectionError.
        """
        results: list[Any] = []
        remaining = iter(calls)
        while chunk := list(islice(remaining, MAX_OPERATIONS_AT_ONCE)):
            self._check_open()
            sent = [asynchronous(*args) for _, asynchronous, *args in chunk]
            results += [self._pipelined_result(*each) for each in zip(sent, chunk, strict=True)]
        return results

    def _pipelined_result(self, sent: Any, call: tuple[Any, ...]) -> Any:
        function, _, *args = call
        try:
            return sent.get()
        except self._retries().retry_exceptions:
            return self._again(function, args)
        except kazoo_exceptions.KazooException as error:
            self._check_alive()
            return zk_error(without_frames(error), args[0])

    def _again(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        try:
            return self._call(function, *args)
        except ZkConnectionError:
            raise
        except ZkError as error:
            return error

    def acl(self, path: str) -> list[tuple[str, str, int]]:
        """(scheme, id, permission bits) for each entry of a node's access control list."""
        entries, _ = self._call(self._client.get_acls, path)
        return [(entry.id.scheme, entry.id.id, entry.perms) for entry in entries]

    def set_default_acl(self, path: str) -> None:
        """Give a node the list that it would have if it were created now."""
        self._call(self._client.set_acls, path, default_acls(self._set_acl, path))

    def tree(self, path: str) -> list[str]:
        """A node and all nodes below it, parents before children; the node itself even if it does not exist."""
        return self._tree(path)

    # -------------------------------------------------------------------------------------------------------- watches

    def watch_children(self, path: str, callback: Callable[[], None]) -> None:
        """Call ``callback`` whenever an existing node's children may have changed, also after a lost connection."""

        def arm(fired: Callable[[Any], None]) -> None:
            try:
                self._call(self._client.get_children, path, watch=fired)
            except NoNodeError:
                self._watches.remove("children", path)

        self._watches.set("children", path, Watch(arm, callback))

    def watch_data(self, path: str, callback: Callable[[], None]) -> None:
        """Call ``callback`` whenever a node may have been created, changed or deleted, also after a lost connection."""
        watch = Watch(lambda fired: self._call(self._client.exists, path, watch=fired), callback)
        self._watches.set("data", path, watch)

    def unwatch(self, path: str) -> None:
        """Stop all watches on a path."""
        self._watches.remove("children", path)
        self._watches.remove("data", path)
