"""The one thread of the server: accepts, reads, processes, makes durable, answers.

ZooKeeper 3.8: zookeeper-server/.../server/NIOServerCnxnFactory.java, SyncRequestProcessor.java · book 2.3.2
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
from collections import Counter

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.zookeeper.embedded.four_letter_words import FourLetterWords
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.zookeeper_server import BadPacket, ConnectionRefused, ZooKeeperServer

logger = logging.getLogger(__name__)

_ACCEPTS_PER_TURN = 64
PAUSE_AFTER_ERROR_MS = 100
"""How long nobody is accepted when the operating system refuses, as it does when too many files are open."""
COMMIT_RETRY_MS = 1000
"""How long to wait before a commit that the disk has refused is tried again."""
SESSIONLESS_TIMEOUT_MS = 10_000
"""How long a connection may exist without having asked for a session."""


class ServerCnxnFactory(ShutdownableThread):
    """The selector's loop over the listening socket and all connections.

    One turn: read from every connection that has something, process all whole requests, expire sessions, wait for the
    disk once, send all replies. Under load more requests share one wait (group commit); a lone one waits for nobody.

    A full disk is noticed before a request is processed, which is then refused. A disk that fails later, when the
    transactions are to be made durable, stops everything until it works again: nobody may be told of what is not on
    disk, neither by a reply nor by what a read shows.
    """

    def __init__(
        self,
        server: ZooKeeperServer,
        listener: socket.socket,
        words: FourLetterWords,
        time: Time,
        *,
        max_packet_bytes: int,
        max_client_cnxns: int,
    ) -> None:
        super().__init__(f"zookeeper-{listener.getsockname()[1]}")
        self._server = server
        self._listener = listener
        self._words = words
        self._time = time
        self._max_packet_bytes = max_packet_bytes
        self._max_client_cnxns = max_client_cnxns
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        self.connections: set[ServerCnxn] = set()
        # Those with requests that had to wait for their turn, of which the selector knows nothing.
        self._ready: list[ServerCnxn] = []
        # Connections that have no session yet → when their patience ends; in the order of their arrival.
        self._newcomers: dict[ServerCnxn, float] = {}
        self._accepts_again_ms: float | None = None
        self._is_failing = False

    def wake_up(self) -> None:
        """Interrupt the wait for the next bytes."""
        # A thread that was between two turns has seen the end for itself, and may have closed everything by now.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"\0")

    def do_work(self) -> None:
        """One turn of the loop."""
        ready, self._ready = self._ready, []
        self._accept_again()
        for key, events in self._selector.select(0 if ready else self._ms_to_wait() / 1000):
            if key.fileobj is self._listener:
                self._accept()
            elif isinstance(key.data, ServerCnxn) and events & selectors.EVENT_READ and not key.data.has_frame:
                ready.append(key.data)
                self._receive(key.data)
        for connection in ready:
            if not connection.is_closed:
                self._process(connection)
        self._close_late_newcomers()
        self._server.expire_sessions()
        self._server.delete_containers()
        if not self._commit():
            return
        for connection in list(self.connections):
            self._flush(connection)

    def _commit(self) -> bool:
        """Wait until what was processed is on disk; false if the server is stopped before."""
        database, has_failed = self._server.database, False
        while True:
            try:
                database.commit()
                break
            except OSError as error:
                if not has_failed:
                    logger.error("ZooKeeper answers nobody until %s can be written: %s", database.directory, error)
                has_failed = True
            if self.pause(COMMIT_RETRY_MS):
                return False
        if has_failed:
            logger.info("ZooKeeper goes on: %s can be written again", database.directory)
            self._server.touch_all_sessions()
        return True

    def on_exit(self) -> None:
        """Close everything. Sessions stay: their clients will find them in the next life of the server."""
        for connection in list(self.connections):
            self._close(connection)
        self._listener.close()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()
        self._server.database.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                sock, address = self._listener.accept()
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
            connection = ServerCnxn(sock, address, self._max_packet_bytes)
            self.connections.add(connection)
            self._newcomers[connection] = self._time.hi_res_ms() + SESSIONLESS_TIMEOUT_MS
            self._selector.register(sock, selectors.EVENT_READ, connection)

    def _pause_accepting(self, error: OSError) -> None:
        """The client stays in the backlog, so the listener stays readable: do not look at it for a while.

        The thread goes on, for those who are connected.
        """
        if not self._is_failing:
            logger.warning("Could not accept a connection: %s", error)
        self._is_failing = True
        self._selector.unregister(self._listener)
        self._accepts_again_ms = self._time.hi_res_ms() + PAUSE_AFTER_ERROR_MS

    def _accept_again(self) -> None:
        if self._accepts_again_ms is not None and self._accepts_again_ms <= self._time.hi_res_ms():
            self._accepts_again_ms = None
            self._selector.register(self._listener, selectors.EVENT_READ)

    def _ms_to_wait(self) -> float:
        """How long nothing is to be done, unless somebody sends something."""
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
        except OSError as error:
            logger.debug("Lost %s: %s", connection, error)
            self._close(connection)

    def _process(self, connection: ServerCnxn) -> None:
        try:
            word = connection.take_command()
            if word is not None and self._words.is_known(word):
                connection.send_text(self._words.answer(word, self.connections))
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
        except OSError as error:
            logger.debug("Lost %s: %s", connection, error)
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
