"""A session with ZooKeeper: it outlives lost connections, is replaced if it expires, and says so.

Kafka 0.10.2: ZkClient (I0Itec), as used by core/.../utils/ZkUtils.scala; later core/.../zookeeper/ZooKeeperClient.scala
· book 7.1.3
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from kazoo import exceptions as kazoo_exceptions
from kazoo.client import KazooClient, KazooState
from kazoo.protocol.states import KeeperState
from kazoo.retry import KazooRetry

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.zookeeper.poll_handler import PollHandler, WrapSocket
from kafka_lite.zookeeper.sasl_connection import SaslConnectionHandler, ZkLogin
from kafka_lite.zookeeper.watches import Watches
from kafka_lite.zookeeper.zk_acls import default_acls
from kafka_lite.zookeeper.zk_errors import (
    ZkConnectionError,
    ZkError,
    without_frames,
    zk_error,
)

logger = logging.getLogger(__name__)


class SessionEvent(Enum):
    """Events of a session; the values are the names in Kafka's metrics."""

    DISCONNECTED = "Disconnects"
    SYNC_CONNECTED = "SyncConnects"
    AUTH_FAILED = "AuthFailures"
    CONNECTED_READ_ONLY = "ReadOnlyConnects"
    SASL_AUTHENTICATED = "SaslAuthentications"
    EXPIRED = "Expires"


class ZooKeeperSession:
    """One session at a time. If the connection is lost, calls block until it is back, as in Kafka's clients."""

    def __init__(
        self,
        connect_string: str,
        session_timeout_ms: int,
        connection_timeout_ms: int,
        login: ZkLogin | None = None,
        *,
        set_acl: bool = False,
        wrap_socket: WrapSocket | None = None,
    ) -> None:
        """``login``: authenticate by SASL as this user. ``set_acl``: nobody else may change the nodes it creates.

        ``wrap_socket``: connect with TLS.
        """
        self._hosts, slash, chroot = connect_string.partition("/")
        self._chroot = (slash + chroot).rstrip("/")
        self._session_timeout_ms = session_timeout_ms
        self._connection_timeout_ms = connection_timeout_ms
        self._closed = False
        self._halting_thread: int | None = None
        self._kazoo_log = _logger_of_one_client()
        self._started = False
        self._session_lost = False
        self._login = login
        self._set_acl = set_acl
        self._wrap_socket = wrap_socket
        self._was_asked = threading.Event()
        self._is_accepted = False
        self._event_listeners: list[Callable[[SessionEvent], None]] = []
        self._client = self._new_client(self._hosts + self._chroot)
        self._client.add_listener(self._state_changed)
        self._retry = KazooRetry(max_tries=-1, delay=0.1, backoff=2, max_delay=1, interrupt=lambda: self._closed)
        self._waits_for_room = True
        self._retry_without_room = self._retry.copy()
        self._retry_without_room.retry_exceptions += (kazoo_exceptions.SystemZookeeperError,)
        self._retry_without_room.interrupt = lambda: self._closed or not self._waits_for_room
        self._thread = threading.local()
        self._watches = Watches()
        self._session_listeners: list[Callable[[], None]] = []

    def _new_client(self, hosts: str) -> Any:
        client = KazooClient(
            hosts,
            timeout=self._session_timeout_ms / 1000,
            connection_retry={"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1},
            handler=PollHandler(self._wrap_socket),
            logger=self._kazoo_log,
        )
        if self._login is not None:
            client._connection = SaslConnectionHandler(client, self._login, self._authenticated, self._kazoo_log)
        return client

    def _authenticated(self, is_accepted: bool) -> None:
        """Called in kazoo's connection thread."""
        self._is_accepted = is_accepted
        self._was_asked.set()
        event = SessionEvent.SASL_AUTHENTICATED if is_accepted else SessionEvent.AUTH_FAILED
        for listener in self._event_listeners:
            listener(event)

    def connect(self) -> None:
        """Connect. Raises ZkConnectionError if there is no response within ``connection_timeout_ms``."""
        self._connect(self._client)
        self._started = True

    def create_chroot(self) -> None:
        """Create the path at the end of the connect string, to which all other paths are relative."""
        if not self._chroot:
            return
        client = self._new_client(self._hosts)
        self._connect(client)
        try:
            client.ensure_path(self._chroot, acl=default_acls(self._set_acl, self._chroot))
        except kazoo_exceptions.KazooException as error:
            raise ZkError(f"cannot create the chroot {self._chroot} in ZooKeeper: {error!r}") from error
        finally:
            client.stop()
            client.close()

    def _connect(self, client: Any) -> None:
        # Not client.start(): it warns about a missing chroot, which create_chroot is about to create.
        self._was_asked.clear()
        if not client.start_async().wait(self._connection_timeout_ms / 1000):
            client.stop()
            client.close()
            timeout = f"timeout of {self._connection_timeout_ms} ms"
            raise ZkConnectionError(
                f"Unable to connect to zookeeper server '{self._hosts}' with {timeout}: {self._why_not(client)}"
            )
        if self._login is not None and not self._knows_this_user():
            client.stop()
            client.close()
            raise ZkConnectionError(
                f"The zookeeper server '{self._hosts}' refuses the user {self._login.username}: is the password in the "
                "section Client of the JAAS login file that of the server's, and has the server a section Server?"
            )

    def _why_not(self, client: Any) -> str:
        if self._wrap_socket is None:
            return "is ZooKeeper running there?"
        if client.handler.last_refusal is not None:
            return str(client.handler.last_refusal)
        return "is ZooKeeper running there, with TLS on this port, and does it accept this client's certificate?"

    def _knows_this_user(self) -> bool:
        """Wait for the first authentication of a new client: whether it has succeeded."""
        return self._was_asked.wait(self._connection_timeout_ms / 1000) and self._is_accepted

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at the moment."""
        return bool(self._client.connected)

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` has been called."""
        return self._closed

    def close(self) -> None:
        """End the session, which deletes its ephemeral nodes at once. Calls in progress raise ZkConnectionError."""
        if self._closed:
            return
        self._closed = True
        self._client.stop()
        self._client.close()

    def halt(self) -> None:
        """Let nobody hear of the end of this client, as if its process had been killed; the caller then closes it.

        A call from any other thread, even one in progress, ends its thread, without an error that would be logged.
        """
        self._halting_thread = threading.get_ident()
        self._kazoo_log.disabled = True

    def _check_alive(self) -> None:
        """Raises ProcessKilledError, which silently ends a thread, after ``halt``."""
        if self._halting_thread not in (None, threading.get_ident()):
            raise ProcessKilledError

    def _check_open(self) -> None:
        self._check_alive()
        if self._closed:
            raise ZkConnectionError("this ZooKeeper client is closed")

    @property
    def session_id(self) -> int:
        """The session id, as in ``ZnodeStat.ephemeral_owner`` of our ephemeral nodes; 0 without a connection."""
        client_id = self._client.client_id
        return client_id[0] if client_id else 0

    @property
    def session(self) -> tuple[int, bytes] | None:
        """Id and password of the last session, also without a connection; None if there has not been any.

        Anyone who has them can take over the session, and end it.
        """
        session_id = self._client._session_id
        return (session_id, self._client._session_passwd) if session_id else None

    # ------------------------------------------------------------------------------------------------------------ calls

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call kazoo, retrying until there is a response, and convert its errors to ours."""
        self._check_open()
        try:
            return self._retries().copy()(function, *args, **kwargs)
        except (kazoo_exceptions.KazooException, InterruptedError, ValueError) as error:
            # ValueError: a path with ``..``, for which kazoo asks nobody
            self._check_alive()
            raise zk_error(error, args[0] if args else "") from without_frames(error)

    def _retries(self) -> KazooRetry:
        refuses = getattr(self._thread, "refuses", False) or not self._waits_for_room
        return self._retry if refuses else self._retry_without_room

    @contextlib.contextmanager
    def refusing_without_room(self) -> Iterator[None]:
        """Make this thread's writes within the block raise ZkStorageError at once if ZooKeeper has no space for them.

        For request handlers: a client can retry, but a handler that blocks cannot serve other requests.
        """
        self._thread.refuses = True
        try:
            yield
        finally:
            self._thread.refuses = False

    def stop_waiting_for_room(self) -> None:
        """Stop writes from blocking until ZooKeeper has space; those already blocked raise ZkConnectionError.

        For a shutdown, which cannot wait until space is freed.
        """
        self._waits_for_room = False

    # -------------------------------------------------------------------------------------------------------- listeners

    def add_session_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after a session has expired and been replaced: ephemeral nodes must be created again.

        Listeners run one after another in a thread of the client, before the watches are set again.
        """
        self._session_listeners.append(listener)

    def _state_changed(self, state: str) -> None:
        """Handle a state change; called in kazoo's connection thread, which must not block."""
        if self._closed or self._halting_thread is not None or not self._started:
            return
        self._notify_event_listeners(state)
        if state == KazooState.LOST:
            logger.warning("The ZooKeeper session has expired")
            self._session_lost = True
        elif state == KazooState.SUSPENDED:
            logger.info("The connection to ZooKeeper is lost")
        elif state == KazooState.CONNECTED:
            expired, self._session_lost = self._session_lost, False
            self._client.handler.spawn(self._reconnected, expired)

    def add_event_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Call ``listener`` for every event of the connection and its session, in kazoo's connection thread."""
        self._event_listeners.append(listener)

    def _notify_event_listeners(self, state: str) -> None:
        if state == KazooState.SUSPENDED:
            event = SessionEvent.DISCONNECTED
        elif state == KazooState.LOST:
            refused = self._client.client_state == KeeperState.AUTH_FAILED
            event = SessionEvent.AUTH_FAILED if refused else SessionEvent.EXPIRED
        else:
            read_only = self._client.client_state == KeeperState.CONNECTED_RO
            event = SessionEvent.CONNECTED_READ_ONLY if read_only else SessionEvent.SYNC_CONNECTED
        for listener in self._event_listeners:
            listener(event)

    def _reconnected(self, expired: bool) -> None:
        if expired:
            logger.info("A new ZooKeeper session is established")
            for listener in self._session_listeners:
                try:
                    listener()
                except Exception:
                    logger.exception("A listener for new ZooKeeper sessions failed")
                except ProcessKilledError:
                    return
        self._watches.rearm_all()


def _logger_of_one_client() -> logging.Logger:
    """kazoo's logger for one client alone, which can be silenced without the others."""
    shared = logging.getLogger(KazooClient.__module__)
    own = logging.Logger(shared.name)
    own.parent = shared
    return own
