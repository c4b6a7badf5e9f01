"""What happens to a packet: handshake, authentication, decision, transaction, answer.

ZooKeeper 3.8: zookeeper-server/.../server/ZooKeeperServer.java · book 7.1.1

Three processors stand in a row, as in ZooKeeper, but one thread walks the whole row::

    packet ─▶ PrepRequestProcessor ─▶ ZKDatabase.process_txn ─▶ FinalRequestProcessor ─▶ queued reply
              may it? which txn?      log, tree, watches        what to answer             │
                                                        commit (fsync) of all that came in ┘ then the replies are sent

One thread gives what ZooKeeper promises without a lock: requests of all sessions have one order; a session's replies
come in the order of its requests; an event is queued before any reply that shows what it tells of.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.zookeeper.embedded.authentication import authenticate
from kafka_lite.zookeeper.embedded.data_tree import ProcessTxnResult
from kafka_lite.zookeeper.embedded.final_request_processor import Client, FinalRequestProcessor
from kafka_lite.zookeeper.embedded.jute import JuteError, JuteReader, encode, read_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.prep_request_processor import REQUEST_CLASSES, MultiFailed, PrepRequestProcessor
from kafka_lite.zookeeper.embedded.protocol import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    OpCode,
    ReplyHeader,
    RequestHeader,
    Xid,
)
from kafka_lite.zookeeper.embedded.server_stats import ServerStats
from kafka_lite.zookeeper.embedded.session_tracker import SessionTracker, session_password
from kafka_lite.zookeeper.embedded.txns import CloseSessionTxn, CreateSessionTxn, Txn, TxnHeader
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase

logger = logging.getLogger(__name__)

_WRITE_OPS = (frozenset(REQUEST_CLASSES) - {OpCode.CHECK}) | {OpCode.MULTI}
_INTERNAL_OPS = {OpCode.CREATE_SESSION, OpCode.ERROR, OpCode.DELETE_CONTAINER}
"""Types of transactions that no client may ask for."""
_KNOWN_OPS = frozenset(OpCode) - _INTERNAL_OPS
_NO_PASSWORD = bytes(16)
CONTAINER_CHECK_INTERVAL_MS = 60_000
EXPIRY_RETRY_MS = 1000
"""When sessions are looked at again that could not be ended, because the log had no room for it."""


class Connection(Client, Protocol):
    """What the server asks of a client's connection."""

    address: str
    is_initialized: bool

    def send(self, payload: bytes) -> None:
        """Queue a frame."""
        ...

    def close_after_send(self) -> None:
        """Close once all that is queued has left; read nothing more."""
        ...

    def close(self) -> None:
        """Close without waiting for the client to take what is queued."""
        ...


class BadPacket(Exception):
    """Bytes that no client of ours sends: the connection is closed."""


class ConnectionRefused(Exception):
    """Nothing is wrong with the client, but it cannot be served now: the connection is closed."""


class ZooKeeperServer:
    """A single ZooKeeper: sessions and requests over a database. Not thread-safe: one thread calls everything."""

    def __init__(
        self,
        database: ZKDatabase,
        time: Time,
        *,
        tick_time_ms: int,
        min_session_timeout_ms: int,
        max_session_timeout_ms: int,
        extended_types_enabled: bool = False,
        super_digest: str | None = None,
    ) -> None:
        self.database = database
        self.stats = ServerStats()
        self.session_tracker = SessionTracker(time, tick_time_ms, database.sessions)
        self.tick_time_ms = tick_time_ms
        self.min_session_timeout_ms = min_session_timeout_ms
        self.max_session_timeout_ms = max_session_timeout_ms
        self._time = time
        self._super_digest = super_digest
        self._prep = PrepRequestProcessor(database.tree, extended_types_enabled)
        self._final = FinalRequestProcessor(database.tree)
        self._connections: dict[int, Connection] = {}
        self._next_container_check_ms = time.hi_res_ms() + CONTAINER_CHECK_INTERVAL_MS
        self._next_expiry_ms = time.hi_res_ms()

    # ---- Sessions ------------------------------------------------------------------------------------------------

    def process_connect(self, connection: Connection, frame: bytes) -> None:
        """The handshake: a new session, or the old one again on a new connection.

        Raises BadPacket, and ConnectionRefused if a new session cannot be logged.
        """
        reader = JuteReader(frame)
        try:
            request = read_record(ConnectRequest, reader)
        except JuteError as error:
            raise BadPacket(f"not a connect request: {error}") from error
        if request.last_zxid_seen > self.database.last_zxid:
            # This data directory is not the one that the client knows: it must look for another server.
            raise BadPacket(
                f"the client has seen zxid {request.last_zxid_seen:#x}, we are at {self.database.last_zxid:#x}"
            )
        # Clients before 3.4 send no read-only byte and expect none.
        echo = b"\0" if reader.remaining else b""
        timeout_ms = min(max(request.time_out, self.min_session_timeout_ms), self.max_session_timeout_ms)
        session_id = request.session_id
        if session_id == 0:
            session_id = self._create_session(timeout_ms)
        elif not self._reopen_session(session_id, request.passwd, timeout_ms):
            logger.info("Session %#x of %s is gone", session_id, connection.address)
            connection.send(encode(ConnectResponse(0, 0, 0, _NO_PASSWORD)) + echo)
            connection.close_after_send()
            return
        self._attach(session_id, connection)
        connection.send(encode(ConnectResponse(0, timeout_ms, session_id, session_password(session_id))) + echo)

    def _create_session(self, timeout_ms: int) -> int:
        session_id = self.session_tracker.create_session(timeout_ms)
        try:
            self._process_txn(session_id, 0, OpCode.CREATE_SESSION, CreateSessionTxn(timeout_ms))
        except KeeperException as refusal:
            self.session_tracker.remove_session(session_id)
            raise ConnectionRefused("no session can be created now") from refusal
        return session_id

    def _reopen_session(self, session_id: int, password: bytes | None, timeout_ms: int) -> bool:
        if not self.session_tracker.is_tracking(session_id) or password != session_password(session_id):
            return False
        self.session_tracker.touch_session(session_id, timeout_ms)
        self.database.sessions[session_id] = timeout_ms
        return True

    def _attach(self, session_id: int, connection: Connection) -> None:
        previous = self._connections.get(session_id)
        if previous is not None:
            # The client came back before we noticed that it was gone; a session has one connection.
            self.detach(previous)
            previous.close()
        self._connections[session_id] = connection
        connection.session_id = session_id
        connection.is_initialized = True

    def detach(self, connection: Connection) -> None:
        """The connection is gone. Its watches go with it (the client brings them again); its session waits."""
        self.database.tree.remove_watcher(connection)
        if self._connections.get(connection.session_id) is connection:
            del self._connections[connection.session_id]

    def expire_sessions(self) -> None:
        """End the sessions of which nothing was heard in time, with their ephemeral znodes.

        While the log has no room for that they stay, as they do in an ensemble without a leader.
        """
        if self._time.hi_res_ms() < self._next_expiry_ms:
            return
        for session_id in self.session_tracker.expired_sessions():
            timeout_ms = self.database.sessions[session_id]
            try:
                self._close_session(session_id, 0)
            except KeeperException:
                self._next_expiry_ms = self._time.hi_res_ms() + EXPIRY_RETRY_MS
                return
            logger.info("Expiring session %#x, timeout of %d ms exceeded", session_id, timeout_ms)
            connection = self._connections.get(session_id)
            if connection is not None:
                self.detach(connection)
                connection.close()

    def end_owner_of(self, path: str) -> None:
        """End the session that owns an ephemeral znode, as if it had expired; nothing to do when there is no such."""
        for session_id, owned in self.database.tree.sessions_with_ephemerals().items():
            if path in owned:
                logger.info("Ending session %#x, which an earlier owner of %s has left", session_id, path)
                self._close_session(session_id, 0)

    def delete_containers(self) -> None:
        """Once in a while: delete the containers that have become empty, and the znodes that outlived their time."""
        if self._time.hi_res_ms() < self._next_container_check_ms:
            return
        self._next_container_check_ms = self._time.hi_res_ms() + CONTAINER_CHECK_INTERVAL_MS
        for path in list(self.database.tree.removable_containers(self._time.milliseconds())):
            with contextlib.suppress(KeeperException):  # at the next check there may be room in the log
                self._process_txn(0, 0, OpCode.DELETE_CONTAINER, self._prep.delete_container(path))

    def ms_until_next_check(self) -> float:
        """How long neither ``expire_sessions`` nor ``delete_containers`` has anything to do."""
        until_containers = max(0.0, self._next_container_check_ms - self._time.hi_res_ms())
        until_expiry = self.session_tracker.ms_until_next_expiry()
        if until_expiry is None:
            return until_containers
        return min(until_containers, max(until_expiry, self._next_expiry_ms - self._time.hi_res_ms()))

    def touch_all_sessions(self) -> None:
        """Give every session its whole timeout once more: for a while this server could hear nobody."""
        for session_id in self.database.sessions:
            self.session_tracker.touch_session(session_id)

    def _close_session(self, session_id: int, cxid: int) -> None:
        paths = self.database.tree.ephemerals(session_id)
        self._process_txn(session_id, cxid, OpCode.CLOSE_SESSION, CloseSessionTxn(paths))
        self.session_tracker.remove_session(session_id)

    def _process_txn(self, session_id: int, cxid: int, op: OpCode, txn: Txn) -> ProcessTxnResult:
        """Raises KeeperException SYSTEM_ERROR, with nothing changed, if the log has no room."""
        header = TxnHeader(session_id, cxid, self.database.last_zxid + 1, self._time.milliseconds(), op)
        try:
            return self.database.process_txn(header, txn)
        except OSError as error:
            raise KeeperException(Code.SYSTEM_ERROR) from error

    # ---- Requests ------------------------------------------------------------------------------------------------

    def process_packet(self, connection: Connection, frame: bytes) -> None:
        """One request of a connection whose handshake is done: queues its reply. Raises BadPacket."""
        started_ms = self._time.hi_res_ms()
        body = JuteReader(frame)
        try:
            header = read_record(RequestHeader, body)
        except JuteError as error:
            raise BadPacket(f"not a request header: {error}") from error
        self.session_tracker.touch_session(connection.session_id)
        if header.type not in _KNOWN_OPS:
            logger.warning("Closing %s: unknown request type %d", connection.address, header.type)
            self._reply(connection, header.xid, Code.UNIMPLEMENTED)
            connection.close_after_send()
            return
        self._dispatch(connection, header.xid, OpCode(header.type), body)
        self.stats.update_latency(self._time.hi_res_ms() - started_ms)

    def _dispatch(self, connection: Connection, xid: int, op: OpCode, body: JuteReader) -> None:
        if op is OpCode.PING:
            self._reply(connection, Xid.PING, Code.OK)
        elif op is OpCode.AUTH:
            self._authenticate(connection, body)
        elif op is OpCode.CLOSE_SESSION:
            self._end_session(connection, xid)
        else:
            self._answer(connection, xid, op, body)

    def _end_session(self, connection: Connection, xid: int) -> None:
        code = Code.OK
        try:
            self._close_session(connection.session_id, xid)
        except KeeperException as refusal:
            code = refusal.code  # the client goes all the same, and its session expires once there is room in the log
        self._reply(connection, xid, code)
        connection.close_after_send()

    def _answer(self, connection: Connection, xid: int, op: OpCode, body: JuteReader) -> None:
        """A read or a write; what goes wrong becomes the reply's error."""
        try:
            if op in _WRITE_OPS:
                response = self._write(connection, xid, op, body)
            elif op in self._final.read_ops:
                response = self._final.read(op, body, connection)
            else:
                raise KeeperException(_REFUSALS.get(op, Code.UNIMPLEMENTED))
        except KeeperException as refusal:
            self._reply(connection, xid, refusal.code)
        except JuteError as error:
            logger.warning("A %s request of %s cannot be read: %s", op.name, connection.address, error)
            self._reply(connection, xid, Code.MARSHALLING_ERROR)
        else:
            self._reply(connection, xid, Code.OK, response)

    def _write(self, connection: Connection, xid: int, op: OpCode, body: JuteReader) -> bytes:
        try:
            txn = self._prep.prepare(op, body, connection.session_id, connection.identities)
        except MultiFailed as failure:
            return self._final.multi_failed(failure.errors)
        return self._final.written(op, self._process_txn(connection.session_id, xid, op, txn))

    def _authenticate(self, connection: Connection, body: JuteReader) -> None:
        try:
            packet = read_record(AuthPacket, body)
            identities = authenticate(packet.scheme, packet.auth or b"", connection.address, self._super_digest)
        except (JuteError, KeeperException) as error:
            logger.warning("Authentication of %s failed: %s", connection.address, error)
            self._reply(connection, Xid.AUTH, Code.AUTH_FAILED)
            connection.close_after_send()
            return
        connection.identities.extend(who for who in identities if who not in connection.identities)
        self._reply(connection, Xid.AUTH, Code.OK)

    def _reply(self, connection: Connection, xid: int, code: Code, body: bytes = b"") -> None:
        connection.send(encode(ReplyHeader(xid, self.database.last_zxid, code)) + body)


_REFUSALS = {
    # Whoever wants another ensemble or SASL is told that this server has them switched off.
    OpCode.RECONFIG: Code.RECONFIG_DISABLED,
    OpCode.SASL: Code.AUTH_FAILED,
}
