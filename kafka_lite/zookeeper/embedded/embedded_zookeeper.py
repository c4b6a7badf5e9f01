"""A ZooKeeper server within this process, for clusters that need no other and for tests.

ZooKeeper 3.8: zookeeper-server/.../server/ZooKeeperServerMain.java, embedded/ZooKeeperServerEmbedded.java · book 7.1.1
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.zookeeper.embedded.four_letter_words import FourLetterWords
from kafka_lite.zookeeper.embedded.keeper_exception import KeeperException
from kafka_lite.zookeeper.embedded.secure_server_cnxn import SecurePort
from kafka_lite.zookeeper.embedded.server_cnxn_factory import ServerCnxnFactory
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from kafka_lite.zookeeper.embedded.zookeeper_server import ZooKeeperServer

logger = logging.getLogger(__name__)

JUTE_MAX_BUFFER_BYTES = 0xFFFFF
"""The maximum request size, ZooKeeper's ``jute.maxbuffer``: one byte less than a MiB."""


class EmbeddedZooKeeper:
    """A standalone ZooKeeper server of protocol 3.8, in one thread of this process, with one data directory.

    Real clients connect to ``connect_string``. Acknowledged writes survive ``kill -9``, and so do sessions if their
    clients reconnect within the timeout. Session timeouts are limited to between 2 and 20 ticks by default.
    """

    def __init__(
        self,
        data_dir: str | PathLike[str],
        host: str = "127.0.0.1",
        port: int | None = 0,
        tick_time_ms: int = 2000,
        time: Time = SYSTEM_TIME,
        *,
        any_port_if_in_use: bool = False,
        min_session_timeout_ms: int | None = None,
        max_session_timeout_ms: int | None = None,
        force_sync: bool = True,
        snap_count: int = 10_000,
        snap_retain_count: int = 3,
        max_client_cnxns: int = 0,
        max_packet_bytes: int = JUTE_MAX_BUFFER_BYTES,
        extended_types_enabled: bool = False,
        super_digest: str | None = None,
        sasl_users: Mapping[str, str] | None = None,
        secure_port: SecurePort | None = None,
    ) -> None:
        """``port`` 0 is any free one (see ``port`` after ``start``), as is a port in use with ``any_port_if_in_use``.

        ``port`` None: none in plain text. ``secure_port``: one with TLS, and what it needs.

        ``max_client_cnxns``: limit of connections per address, 0 for no limit.
        ``super_digest``: ``user:base64(sha1(user:password))`` of a user with all rights.
        ``sasl_users``: user → password of those who may authenticate by SASL (DIGEST-MD5); None: nobody.
        ``extended_types_enabled``: allow znodes with a time to live.
        """
        self.data_dir = Path(data_dir)
        self.host = host
        self.tick_time_ms = tick_time_ms
        self._requested_port = port
        self._secure = secure_port
        self._secure_port = 0
        self._any_port_if_in_use = any_port_if_in_use
        self._time = time
        self._min_session_timeout_ms = min_session_timeout_ms or 2 * tick_time_ms
        self._max_session_timeout_ms = max_session_timeout_ms or 20 * tick_time_ms
        self._force_sync = force_sync
        self._snap_count = snap_count
        self._snap_retain_count = snap_retain_count
        self._max_client_cnxns = max_client_cnxns
        self._max_packet_bytes = max_packet_bytes
        self._extended_types_enabled = extended_types_enabled
        self._super_digest = super_digest
        self._sasl_users = dict(sasl_users or {})
        self._factory: ServerCnxnFactory | None = None
        self._port = 0

    @property
    def port(self) -> int:
        """The port that the server listens on; kept after ``shutdown``, so that a restart uses it again."""
        return self._port or self._requested_port or 0

    @property
    def connect_string(self) -> str:
        """A broker's ``zookeeper.connect``: of the secure port if it is the only one."""
        if self._requested_port is None and self._secure is not None:
            return self.secure_connect_string
        return f"{_in_address(self.host)}:{self.port}"

    @property
    def secure_connect_string(self) -> str:
        """The connect string for clients with TLS."""
        assert self._secure is not None
        return f"{_in_address(self._secure.host or self.host)}:{self._secure_port or self._secure.port}"

    @property
    def is_running(self) -> bool:
        """Whether the server is running."""
        return self._factory is not None and self._factory.is_running

    def start(self, *, end_owners_of: Iterable[str] = ()) -> None:
        """Load the data and listen. Raises OSError (address or directory in use, damaged files, a full disk).

        Sessions that own the ephemeral znodes ``end_owners_of`` are ended before any client connects. So a process that
        was killed, and that restarts together with its ZooKeeper, need not wait for its old session to expire.
        After an error everything is closed, and the server can be started again.
        """
        if self._factory is not None:
            raise RuntimeError("this server has already been started")
        with contextlib.ExitStack() as opened:
            database = ZKDatabase(
                self.data_dir,
                force_sync=self._force_sync,
                snap_count=self._snap_count,
                snap_retain_count=self._snap_retain_count,
            )
            opened.callback(database.close)
            replayed = self._load(database)
            listeners = self._listeners(opened)
            logger.info(
                "ZooKeeper at %s: zxid %#x, %d transactions replayed", self.connect_string, database.last_zxid, replayed
            )
            server = self._server(database)
            self._end_owners(server, end_owners_of)
            factory = ServerCnxnFactory(
                server,
                listeners,
                FourLetterWords(server, self._config()),
                self._time,
                max_packet_bytes=self._max_packet_bytes,
                max_client_cnxns=self._max_client_cnxns,
            )
            opened.pop_all()
            opened.callback(factory.on_exit)
            _start_thread(factory)
            opened.pop_all()
        self._factory = factory

    def _server(self, database: ZKDatabase) -> ZooKeeperServer:
        return ZooKeeperServer(
            database,
            self._time,
            tick_time_ms=self.tick_time_ms,
            min_session_timeout_ms=self._min_session_timeout_ms,
            max_session_timeout_ms=self._max_session_timeout_ms,
            extended_types_enabled=self._extended_types_enabled,
            super_digest=self._super_digest,
            sasl_users=self._sasl_users,
        )

    def shutdown(self) -> None:
        """Stop the server; a no-op if it is not running. It can be started again."""
        if self._factory is not None:
            self._factory.shutdown()
            self._factory = None

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        """Wait until another thread has called ``shutdown`` and the server has ended; False after ``timeout_s``."""
        factory = self._factory
        if factory is None:
            return True
        factory.await_shutdown(timeout_s)
        return not factory.is_alive()

    def end_owner_of(self, path: str) -> None:
        """Soon end the session that owns an ephemeral znode, as if it had expired; a no-op if there is none.

        So a test that has killed a broker need not wait for the end of its session, which can then be long enough for
        brokers that live on a busy machine. Raises RuntimeError if the server is not running.
        """
        if self._factory is None:
            raise RuntimeError("this server is not running")
        self._factory.end_owner_of(path)

    def _load(self, database: ZKDatabase) -> int:
        try:
            return database.load()
        except OSError as error:
            if error.errno is None or error.filename is not None:
                raise
            # For example a full disk: the user must know which one.
            raise OSError(error.errno, error.strerror, str(self.data_dir)) from error

    def _end_owners(self, server: ZooKeeperServer, paths: Iterable[str]) -> None:
        try:
            for path in paths:
                server.end_owner_of(path)
        except KeeperException as refusal:  # no client is waiting for its error code
            cause = refusal.__cause__
            number, reason = (cause.errno, cause.strerror) if isinstance(cause, OSError) else (errno.EIO, str(refusal))
            raise OSError(number, reason, str(self.data_dir)) from refusal

    def _listeners(self, opened: contextlib.ExitStack) -> list[tuple[socket.socket, SecurePort | None]]:
        """Sockets that listen, and the ports that they have got."""
        listeners: list[tuple[socket.socket, SecurePort | None]] = []
        if self._requested_port is not None:
            plain = opened.enter_context(self._listen(self.host, self.port))
            self._port = plain.getsockname()[1]
            listeners.append((plain, None))
        if self._secure is not None:
            port = self._secure_port or self._secure.port
            secure = opened.enter_context(self._listen(self._secure.host or self.host, port))
            self._secure_port = secure.getsockname()[1]
            listeners.append((secure, self._secure))
        return listeners

    def _listen(self, host: str, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._bind(listener, host, port)
            listener.listen()
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise OSError(error.errno, f"ZooKeeper server failed to bind to {host}:{port}: {error.strerror}") from error
        return listener

    def _bind(self, listener: socket.socket, host: str, port: int) -> None:
        try:
            listener.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or not self._any_port_if_in_use:
                raise
            listener.bind((host, 0))
            found = listener.getsockname()[1]
            logger.warning("Port %d of %s is in use; ZooKeeper listens on port %d instead", port, host, found)

    def _config(self) -> dict[str, object]:
        return {
            "clientPort": self.port,
            "secureClientPort": -1 if self._secure is None else self._secure_port,
            "dataDir": self.data_dir / "version-2",
            "dataLogDir": self.data_dir / "version-2",
            "tickTime": self.tick_time_ms,
            "maxClientCnxns": self._max_client_cnxns,
            "minSessionTimeout": self._min_session_timeout_ms,
            "maxSessionTimeout": self._max_session_timeout_ms,
            "serverId": 0,
        }

    def __enter__(self) -> EmbeddedZooKeeper:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown()


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _start_thread(factory: ServerCnxnFactory) -> None:
    try:
        factory.start()
    except RuntimeError as error:  # no memory for a thread
        raise OSError(errno.EAGAIN, f"ZooKeeper server failed to start its thread: {error}") from error
