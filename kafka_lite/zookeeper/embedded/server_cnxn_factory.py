"""The server's only thread: accepts connections, reads, processes and commits requests, sends replies.

ZooKeeper 3.8: zookeeper-server/.../server/NIOServerCnxnFactory.java, SyncRequestProcessor.java · book 2.3.2
"""

from __future__ import annotations

import contextlib
import logging
import queue
import selectors
import socket
import ssl
from collections import Counter
from collections.abc import Sequence

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.zookeeper.embedded.four_letter_words import FourLetterWords
from kafka_lite.zookeeper.embedded.keeper_exception import KeeperException
from kafka_lite.zookeeper.embedded.secure_server_cnxn import SecurePort, SecureServerCnxn
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.zookeeper_server import BadPacket, ConnectionRefused, ZooKeeperServer

logger = logging.getLogger(__name__)

_ACCEPTS_PER_TURN = 64
PAUSE_AFTER_ERROR_MS = 100
"""How long no connections are accepted after the operating system refused one, as with too many open files."""
COMMIT_RETRY_MS = 1000
"""How long to wait before retrying a commit that failed."""
SESSIONLESS_TIMEOUT_MS = 10_000
"""How long a connection may exist without requesting a session."""


class ServerCnxnFactory(ShutdownableThread):
    """The selector loop over the listening socket and all connections.

    One iteration reads from every readable connection, processes all whole requests, expires sessions, waits once for
    the disk, and sends all replies. Under load many requests share one wait (group commit); a single request waits for
    no others.

    A full disk is detected before a request is processed, and the request is rejected. If the disk fails later, when
    transactions are to be made durable, everything stops until it works again: no client may learn of a change that is
    not on disk, neither from a reply nor from a read.
    """

    def __init__(
        self,
        server: ZooKeeperServer,
        listeners: Sequence[tuple[socket.socket, SecurePort | None]],
        words: FourLetterWords,
        time: Time,
        *,
        max_packet_bytes: int,
        max_client_cnxns: int,
    ) -> None:
        """``listeners``: the sockets that listen, each with what its clients need for TLS (None: plain text)."""
        super().__init__(f"zookeeper-{listeners[0][0].getsockname()[1]}")
        self._server = server
        self._listeners = dict(listeners)
        self._words = words
        self._time = time
        self._max_packet_bytes = max_packet_bytes
        self._max_client_cnxns = max_client_cnxns
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        for listener in self._listeners:
            self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        self.connections: set[ServerCnxn] = set()
        # Connections with requests that had to wait for their turn; the selector does not report them.
        self._ready: list[ServerCnxn] = []
        # Connections without a session → their deadline, in order of arrival.
        self._newcomers: dict[ServerCnxn, float] = {}
        self._accepts_again_ms: float | None = None
        self._is_failing = False
        # Znodes whose owners other threads have asked to end.
        self._owned_by_the_dead: queue.SimpleQueue[str] = queue.SimpleQueue()

    def wake_up(self) -> None:
        """Interrupt the wait for bytes."""
        # If the thread was between two iterations, it has noticed the shutdown and may have closed everything.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"\0")

    def end_owner_of(self, path: str) -> None:
        """Let the loop close the session that owns an ephemeral znode. May be called by any thread."""
        self._owned_by_the_dead.put(path)
        self.wake_up()

    def do_work(self) -> None:
        """Run one iteration of the loop."""
        ready, self._ready = self._ready, []
        self._accept_again()
        for key, events in self._selector.select(0 if ready else self._ms_to_wait() / 1000):
            if key.fileobj in self._listeners:
                self._accept(key.fileobj)
            elif isinstance(key.data, ServerCnxn) and events & selectors.EVENT_READ and not key.data.has_frame:
                ready.append(key.data)
                self._receive(key.data)
        for connection in ready:
            if not connection.is_closed:
                self._process(connection)
        self._close_late_newcomers()
        self._end_owners()
        self._server.expire_sessions()
        self._server.delete_containers()
        if not self._commit():
            return
        for connection in list(self.connections):
            self._flush(connection)

    def _end_owners(self) -> None:
        while not self._owned_by_the_dead.empty():
            with contextlib.suppress(KeeperException):  # no space in the log: the session ends by its timeout
                self._server.end_owner_of(self._owned_by_the_dead.get_nowait())

    def _commit(self) -> bool:
        """Wait until all processed transactions are on disk. Returns False if the server is shut down before that."""
        database, has_failed = self._server.database, False
        while True:
            try:
                database.commit()
                break
            except OSError as error:
                if not has_failed:
                    logger.error(
                        "ZooKeeper cannot write %s and holds back all responses until it can: %s",
                        database.directory,
                        error,
                    )
                has_failed = True
            if self.pause(COMMIT_RETRY_MS):
                return False
        if has_failed:
            logger.info("ZooKeeper can write %s again and continues", database.directory)
            self._server.touch_all_sessions()
        return True

    def on_exit(self) -> None:
        """Close everything. Sessions are kept, so that their clients can use them after a restart."""
        for connection in list(self.connections):
            self._close(connection)
        for listener in self._listeners:
            listener.close()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()
        try:
            self._server.database.close()
        except OSError as error:
            # The log is complete, if longer than need be: a failing disk must not end the thread with an exception.
            logger.warning("Could not trim the log in %s: %s", self._server.database.directory, error)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                sock, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                self._pause_accepting(error)
                return
            self._is_failing = False
            if 0 < self._max_client_cnxns <= Counter(c.address for c in self.connections)[address[0]]:
                logger.warning("Too many connections from %s - max is %d", address[0], self._max_client_cnxns)
                sock.close()
                continue
            self._open(sock, address, self._listeners[listener])

    def _open(self, sock: socket.socket, address: tuple[str, int], secure_port: SecurePort | None) -> None:
        try:
            if secure_port is None:
                connection = ServerCnxn(sock, address, self._max_packet_bytes)
            else:
                connection = SecureServerCnxn(sock, address, self._max_packet_bytes, secure_port)
        except OSError as error:
            logger.debug("A connection from %s has ended before it began: %s", address[0], error)
            sock.close()
            return
        self.connections.add(connection)
        self._newcomers[connection] = self._time.hi_res_ms() + SESSIONLESS_TIMEOUT_MS
        self._selector.register(connection.sock, selectors.EVENT_READ, connection)

    def _pause_accepting(self, error: OSError) -> None:
        """Stop accepting for a while: the client stays in the backlog, so the listener would remain readable.

        Existing connections are served in the meantime.
        """
        if not self._is_failing:
            logger.warning("Could not accept a connection: %s", error)
        self._is_failing = True
        for listener in self._listeners:
            self._selector.unregister(listener)
        self._accepts_again_ms = self._time.hi_res_ms() + PAUSE_AFTER_ERROR_MS

    def _accept_again(self) -> None:
        if self._accepts_again_ms is not None and self._accepts_again_ms <= self._time.hi_res_ms():
            self._accepts_again_ms = None
            for listener in self._listeners:
                self._selector.register(listener, selectors.EVENT_READ)

    def _ms_to_wait(self) -> float:
        """How long there is nothing to do unless bytes arrive."""
        until_ms = min(self._server.ms_until_next_check(), self._ms_until_next_newcomer_is_late())
        if self._accepts_again_ms is None:
            return until_ms
        return min(until_ms, max(0.0, self._accepts_again_ms - self._time.hi_res_ms()))

    def _ms_until_next_newcomer_is_late(self) -> float:
        first = next(iter(self._newcomers.values()), None)
        return SESSIONLESS_TIMEOUT_MS if first is None else max(0.0, first - self._time.hi_res_ms())

    def _close_late_newcomers(self) -> None:
        now_ms = self._time.hi_res_ms()
        for connection, deadline_ms in list(self._newcomers.items()):
            if connection.is_initialized:
                del self._newcomers[connection]
            elif deadline_ms <= now_ms:
                logger.warning("Closing %s: no session in %d ms", connection, SESSIONLESS_TIMEOUT_MS)
                self._close(connection)

    def _receive(self, connection: ServerCnxn) -> None:
        try:
            if not connection.receive():
                self._close(connection)
        except ssl.SSLError as error:
            logger.warning("Closing %s: TLS failed: %s", connection, error)
            self._close(connection)
        except (OSError, MemoryError, KafkaError) as error:
            logger.debug("Connection %s failed: %r", connection, error)
            self._close(connection)

    def _process(self, connection: ServerCnxn) -> None:
        try:
            word = connection.take_command()
            if word is not None and self._words.is_known(word):
                connection.send_text(self._words.response_to(word, self.connections))
                connection.close_after_send()
                return
            for frame in connection.frames():
                self._server.stats.packets_received += 1
                if connection.is_initialized:
                    self._server.process_packet(connection, frame)
                else:
                    self._server.process_connect(connection, frame)
        except BadPacket as error:
            logger.warning("Closing %s: %s", connection, error)
            self._close(connection)
        except ConnectionRefused as error:
            logger.debug("Closing %s: %s", connection, error)
            self._close(connection)

    def _flush(self, connection: ServerCnxn) -> None:
        try:
            if not connection.flush():
                self._close(connection)
                return
        except (OSError, KafkaError) as error:
            logger.debug("Connection %s failed: %s", connection, error)
            self._close(connection)
            return
        events = selectors.EVENT_READ * connection.wants_read | selectors.EVENT_WRITE * connection.wants_write
        self._set_interest(connection, events)
        if connection.wants_read and connection.has_frame:
            self._ready.append(connection)

    def _set_interest(self, connection: ServerCnxn, events: int) -> None:
        key = self._selector.get_key(connection.sock)
        if events and key.events != events:
            self._selector.modify(connection.sock, events, connection)

    def _close(self, connection: ServerCnxn) -> None:
        if connection.is_closed:
            return
        connection.is_closed = True
        self._server.detach(connection)
        self.connections.discard(connection)
        self._newcomers.pop(connection, None)
        self._selector.unregister(connection.sock)
        connection.sock.close()
