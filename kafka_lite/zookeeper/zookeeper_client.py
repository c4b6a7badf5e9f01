"""A ZooKeeper session: reads, writes and watches that outlive broken connections and expired sessions.

Kafka 0.10.2: ZkClient (I0Itec), as used by core/.../utils/ZkUtils.scala; later core/.../zookeeper/ZooKeeperClient.scala
· book 7.1.3
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kazoo import exceptions as kazoo_exceptions
from kazoo.client import KazooClient, KazooState
from kazoo.protocol.states import EventType
from kazoo.retry import KazooRetry

from kafka_lite.common.errors import KafkaError

logger = logging.getLogger(__name__)

ANY_VERSION = -1


class ZkError(KafkaError):
    """Something that ZooKeeper refused."""


class ZkConnectionError(ZkError):
    """No connection: ZooKeeper did not answer in time, or this client was closed."""


class NoNodeError(ZkError):
    """The node does not exist."""


class NodeExistsError(ZkError):
    """The node exists already."""


class BadVersionError(ZkError):
    """Somebody else changed the node since its version was read."""


class NotEmptyError(ZkError):
    """The node has children, so it cannot be deleted."""


class NoChildrenForEphemeralsError(ZkError):
    """An ephemeral node cannot have children."""


_ERRORS: list[tuple[type[Exception], type[ZkError]]] = [
    (kazoo_exceptions.NoNodeError, NoNodeError),
    (kazoo_exceptions.NodeExistsError, NodeExistsError),
    (kazoo_exceptions.BadVersionError, BadVersionError),
    (kazoo_exceptions.NotEmptyError, NotEmptyError),
    (kazoo_exceptions.NoChildrenForEphemeralsError, NoChildrenForEphemeralsError),
    (kazoo_exceptions.ConnectionClosedError, ZkConnectionError),
    (InterruptedError, ZkConnectionError),
    (kazoo_exceptions.KazooException, ZkError),
]


@dataclass(frozen=True)
class ZnodeStat:
    """What ZooKeeper knows about a node besides its data."""

    version: int
    created_ms: int
    modified_ms: int
    ephemeral_owner: int
    czxid: int
    mzxid: int
    pzxid: int
    cversion: int
    aversion: int
    data_length: int
    num_children: int


def _stat(stat: Any) -> ZnodeStat:
    return ZnodeStat(
        version=stat.version,
        created_ms=stat.ctime,
        modified_ms=stat.mtime,
        ephemeral_owner=stat.ephemeralOwner or 0,
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        pzxid=stat.pzxid,
        cversion=stat.cversion,
        aversion=stat.aversion,
        data_length=stat.dataLength,
        num_children=stat.numChildren,
    )


class _Watch:
    """ZooKeeper's watches fire once: this one sets itself again, then tells ``callback`` that there may be news.

    It is set before the callback runs, so whatever happens after the callback has read the node fires it again.
    """

    def __init__(self, arm: Callable[[Callable[[Any], None]], object], callback: Callable[[], None]) -> None:
        self._arm = arm
        self._callback = callback
        self.cancelled = False

    def arm(self) -> None:
        """Set the watch."""
        self._arm(self._fired)

    def _fired(self, event: Any) -> None:
        # Events of type NONE tell of a broken connection; then all watches are set again once it is back.
        if event.type != EventType.NONE:
            self.rearm_and_tell()

    def rearm_and_tell(self) -> None:
        """Set the watch again and call back; called in a thread of the client."""
        if self.cancelled:
            return
        try:
            self.arm()
        except ZkConnectionError:
            return  # closed
        except ZkError:
            logger.exception("Could not set a watch again")
        try:
            self._callback()
        except Exception:
            logger.exception("A watch's callback failed")


class ZooKeeperClient:
    """Node operations on one session. Every call waits for a lost connection to come back, as Kafka's clients do.

    What a call raises: NoNodeError, NodeExistsError, BadVersionError, NotEmptyError; ZkConnectionError once closed.
    A create or conditional set whose answer was lost is sent again, and may then meet its own effect: callers who
    care (elections, registrations, conditional writes) compare what they find with what they wanted to write.
    """

    def __init__(self, connect_string: str, session_timeout_ms: int, connection_timeout_ms: int) -> None:
        self._hosts, slash, chroot = connect_string.partition("/")
        self._chroot = (slash + chroot).rstrip("/")
        self._session_timeout_ms = session_timeout_ms
        self._connection_timeout_ms = connection_timeout_ms
        self._closed = False
        self._started = False
        self._session_lost = False
        self._client = self._new_client(self._hosts + self._chroot)
        self._client.add_listener(self._state_changed)
        self._retry = KazooRetry(max_tries=-1, delay=0.1, backoff=2, max_delay=1, interrupt=lambda: self._closed)
        self._lock = threading.Lock()
        self._watches: dict[tuple[str, str], _Watch] = {}
        self._session_listeners: list[Callable[[], None]] = []

    def _new_client(self, hosts: str) -> Any:
        forever = {"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1}
        return KazooClient(hosts, timeout=self._session_timeout_ms / 1000, connection_retry=forever)

    def connect(self) -> None:
        """Connect; raises ZkConnectionError when ``connection_timeout_ms`` passed without an answer."""
        self._connect(self._client)
        self._started = True

    def create_chroot(self) -> None:
        """Create the path at the end of the connect string, under which all other paths lie."""
        if not self._chroot:
            return
        client = self._new_client(self._hosts)
        self._connect(client)
        try:
            client.ensure_path(self._chroot)
        except kazoo_exceptions.KazooException as error:
            raise ZkError(f"cannot create the chroot {self._chroot} in ZooKeeper: {error!r}") from error
        finally:
            client.stop()
            client.close()

    def _connect(self, client: Any) -> None:
        # Not client.start(): it warns of a chroot that does not exist, which create_chroot will change.
        if not client.start_async().wait(self._connection_timeout_ms / 1000):
            client.stop()
            client.close()
            timeout = f"timeout of {self._connection_timeout_ms} ms"
            raise ZkConnectionError(
                f"Unable to connect to zookeeper server '{self._hosts}' with {timeout}: is ZooKeeper running there?"
            )

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return bool(self._client.connected)

    def close(self) -> None:
        """End the session: its ephemeral nodes go at once. Calls that wait for an answer raise ZkConnectionError."""
        if self._closed:
            return
        self._closed = True
        self._client.stop()
        self._client.close()

    @property
    def session_id(self) -> int:
        """The session's id, 0 without a connection; ``ZnodeStat.ephemeral_owner`` of our ephemeral nodes."""
        client_id = self._client.client_id
        return client_id[0] if client_id else 0

    # ---------------------------------------------------------------------------------------------------------- nodes

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call kazoo until there is an answer, and turn its errors into ours."""
        if self._closed:
            raise ZkConnectionError("this ZooKeeper client is closed")
        try:
            return self._retry.copy()(function, *args, **kwargs)
        except (kazoo_exceptions.KazooException, InterruptedError) as error:
            kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
            detail = str(error) or type(error).__name__
            raise kind(f"{detail} ({args[0]})" if args else detail) from error

    def get(self, path: str) -> tuple[bytes | None, ZnodeStat]:
        """Data (None: null) and stat."""
        data, stat = self._call(self._client.get, path)
        return data, _stat(stat)

    def exists(self, path: str) -> ZnodeStat | None:
        """The stat, None when there is no such node."""
        stat = self._call(self._client.exists, path)
        return None if stat is None else _stat(stat)

    def children(self, path: str) -> list[str]:
        """Names of the children, sorted; none when the node does not exist."""
        try:
            return sorted(self._call(self._client.get_children, path))
        except NoNodeError:
            return []

    def create(self, path: str, data: bytes | None, *, ephemeral: bool = False, sequential: bool = False) -> str:
        """Create a node whose parent exists; returns its path (with the number, when ``sequential``)."""
        return str(self._call(self._client.create, path, data, ephemeral=ephemeral, sequence=sequential))

    def create_recursive(self, path: str, data: bytes | None = None) -> None:
        """Create a persistent node and, with null data, the parents that are missing."""
        try:
            self.create(path, data)
        except NoNodeError:
            self.ensure_path(path.rpartition("/")[0])
            self.create(path, data)

    def ensure_path(self, path: str) -> None:
        """Create what is missing of a path, with null data as Kafka does."""
        with contextlib.suppress(NodeExistsError):
            self.create_recursive(path)

    def set(self, path: str, data: bytes | None, version: int = ANY_VERSION) -> int:
        """Write data if the node still has ``version``; returns the new version."""
        return int(self._call(self._client.set, path, data, version=version).version)

    def set_or_create(self, path: str, data: bytes) -> None:
        """Write data, creating the node and its parents when they are missing."""
        try:
            self.set(path, data)
        except NoNodeError:
            try:
                self.create_recursive(path, data)
            except NodeExistsError:
                self.set(path, data)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete a node without children."""
        self._call(self._client.delete, path, version=version)

    def delete_recursive(self, path: str) -> bool:
        """Delete a node and all below it; false when there is none."""
        while True:
            for child in self.children(path):
                self.delete_recursive(f"{path.rstrip('/')}/{child}")
            try:
                self.delete(path)
            except NoNodeError:
                return False
            except NotEmptyError:
                continue  # somebody created a child meanwhile
            return True

    def acl(self, path: str) -> list[tuple[str, str, int]]:
        """(scheme, id, permission bits) of every entry of a node's access control list."""
        entries, _ = self._call(self._client.get_acls, path)
        return [(entry.id.scheme, entry.id.id, entry.perms) for entry in entries]

    # -------------------------------------------------------------------------------------------------------- watches

    def watch_children(self, path: str, callback: Callable[[], None]) -> None:
        """Call back whenever the children of an existing node may have changed; also after a lost connection."""

        def arm(fired: Callable[[Any], None]) -> None:
            try:
                self._call(self._client.get_children, path, watch=fired)
            except NoNodeError:
                self._forget("children", path)

        self._watch("children", path, arm, callback)

    def watch_data(self, path: str, callback: Callable[[], None]) -> None:
        """Call back whenever a node may have been created, changed or deleted; also after a lost connection."""
        self._watch("data", path, lambda fired: self._call(self._client.exists, path, watch=fired), callback)

    def unwatch(self, path: str) -> None:
        """End all watches of a path."""
        self._forget("children", path)
        self._forget("data", path)

    def _watch(self, kind: str, path: str, arm: Callable[[Any], object], callback: Callable[[], None]) -> None:
        watch = _Watch(arm, callback)
        with self._lock:
            if (old := self._watches.get((kind, path))) is not None:
                old.cancelled = True
            self._watches[kind, path] = watch
        watch.arm()

    def _forget(self, kind: str, path: str) -> None:
        with self._lock:
            watch = self._watches.pop((kind, path), None)
        if watch is not None:
            watch.cancelled = True

    # -------------------------------------------------------------------------------------------------------- session

    def add_session_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when a session has expired and a new one is there: ephemeral nodes must be created again.

        Listeners run one after the other in a thread of the client, before the watches are set again.
        """
        self._session_listeners.append(listener)

    def _state_changed(self, state: str) -> None:
        """Called in kazoo's connection thread, which must not be blocked."""
        if self._closed or not self._started:
            return
        if state == KazooState.LOST:
            logger.warning("The ZooKeeper session has expired")
            self._session_lost = True
        elif state == KazooState.SUSPENDED:
            logger.info("The connection to ZooKeeper is lost")
        elif state == KazooState.CONNECTED:
            expired, self._session_lost = self._session_lost, False
            self._client.handler.spawn(self._reconnected, expired)

    def _reconnected(self, expired: bool) -> None:
        if expired:
            logger.info("A new ZooKeeper session is established")
            for listener in self._session_listeners:
                try:
                    listener()
                except Exception:
                    logger.exception("A listener for new ZooKeeper sessions failed")
        with self._lock:
            watches = list(self._watches.values())
        for watch in watches:
            watch.rearm_and_tell()
