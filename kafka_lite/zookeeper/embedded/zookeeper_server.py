"""Processes packets: handshake, authentication, decision, transaction, response.

ZooKeeper 3.8: zookeeper-server/.../server/ZooKeeperServer.java · book 7.1.1

There are three processors in a row, as in ZooKeeper, but a single thread runs all of them::

    packet ─▶ PrepRequestProcessor ─▶ ZKDatabase.process_txn ─▶ FinalRequestProcessor ─▶ queued reply
              allowed? which txn?     log, tree, watches        the response               │
                                                        commit (fsync) of all that came in ┘ then the replies are sent

A single thread provides ZooKeeper's guarantees without locks: the requests of all sessions have one order; a session
gets replies in the order of its requests; an event is queued before any reply that shows the change.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.zookeeper.digest_md5 import DigestError, DigestMd5Server
from kafka_lite.zookeeper.embedded.authentication import SASL_SCHEME, authenticate
from kafka_lite.zookeeper.embedded.data_tree import ProcessTxnResult
from kafka_lite.zookeeper.embedded.final_request_processor import Client, FinalRequestProcessor
from kafka_lite.zookeeper.embedded.jute import JuteError, JuteReader, encode, read_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.prep_request_processor import REQUEST_CLASSES, MultiFailed, PrepRequestProcessor
from kafka_lite.zookeeper.embedded.protocol import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    Id,
    OpCode,
    ReplyHeader,
    RequestHeader,
    SaslToken,
    Xid,
)
from kafka_lite.zookeeper.embedded.server_stats import ServerStats
from kafka_lite.zookeeper.embedded.session_tracker import SessionTracker, session_password
from kafka_lite.zookeeper.embedded.txns import CloseSessionTxn, CreateSessionTxn, Txn, TxnHeader
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase

logger = logging.getLogger(__name__)

_WRITE_OPS = (frozenset(REQUEST_CLASSES) - {OpCode.CHECK}) | {OpCode.MULTI}
_INTERNAL_OPS = {OpCode.CREATE_SESSION, OpCode.ERROR, OpCode.DELETE_CONTAINER}
"""Request types that clients may not send."""
_KNOWN_OPS = frozenset(OpCode) - _INTERNAL_OPS
_NO_PASSWORD = bytes(16)
CONTAINER_CHECK_INTERVAL_MS = 60_000
EXPIRY_RETRY_MS = 1000
"""How long to wait before retrying to expire sessions, after the log had no space for it."""


class Connection(Client, Protocol):
    """A client's connection, as the server uses it."""

    address: str
    is_initialized: bool
    sasl_server: DigestMd5Server | None

    def send(self, payload: bytes) -> None:
        """Queue a frame."""
        ...

    def close_after_send(self) -> None:
        """Close once everything queued has been sent; read nothing more."""
        ...

    def close(self) -> None:
        """Close without sending what is queued."""
        ...


class BadPacket(Exception):
    """A packet that no valid client sends: the connection is closed."""


class ConnectionRefused(Exception):
    """The client cannot be served now, through no fault of its own: the connection is closed."""


class ZooKeeperServer:
    """A standalone ZooKeeper: sessions and requests on a database. Not thread-safe: a single thread calls it."""

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
        sasl_users: Mapping[str, str] | None = None,
    ) -> None:
        self.database = database
        self.stats = ServerStats()
        self.session_tracker = SessionTracker(time, tick_time_ms, database.sessions)
        self.tick_time_ms = tick_time_ms
        self.min_session_timeout_ms = min_session_timeout_ms
        self.max_session_timeout_ms = max_session_timeout_ms
        self._time = time
        self._super_digest = super_digest
        self._sasl_users = sasl_users or {}
        self._prep = PrepRequestProcessor(database.tree, extended_types_enabled)
        self._final = FinalRequestProcessor(database.tree)
        self._connections: dict[int, Connection] = {}
        self._next_container_check_ms = time.hi_res_ms() + CONTAINER_CHECK_INTERVAL_MS
        self._next_expiry_ms = time.hi_res_ms()

    # ---- Sessions ------------------------------------------------------------------------------------------------

    def process_connect(self, connection: Connection, frame: bytes) -> None:
        """Handle the handshake: create a session, or continue one on a new connection.

        Raises BadPacket, and ConnectionRefused if a new session cannot be logged.
        """
        reader = JuteReader(frame)
        try:
            request = read_record(ConnectRequest, reader)
        except JuteError as error:
            raise BadPacket(f"not a connect request: {error}") from error
        if request.last_zxid_seen > self.database.last_zxid:
            # The client knows a different data directory, so it must try another server.
            raise BadPacket(
                f"the client has seen zxid {request.last_zxid_seen:#x}, this server is at {self.database.last_zxid:#x}"
            )
        # Clients before 3.4 send no read-only byte and expect none.
        echo = b"\0" if reader.remaining else b""
        timeout_ms = min(max(request.time_out, self.min_session_timeout_ms), self.max_session_timeout_ms)
        session_id = request.session_id
        if session_id == 0:
            session_id = self._create_session(timeout_ms)
        elif not self._reopen_session(session_id, request.passwd, timeout_ms):
            logger.info("Session %#x of %s no longer exists", session_id, connection.address)
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
            raise ConnectionRefused("cannot create a session at the moment") from refusal
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
            # The client reconnected before we noticed that the old connection was lost; a session has only one
            # connection.
            self.detach(previous)
            previous.close()
        self._connections[session_id] = connection
        connection.session_id = session_id
        connection.is_initialized = True

    def detach(self, connection: Connection) -> None:
        """Remove a closed connection and its watches (the client will send them again); the session stays."""
        self.database.tree.remove_watcher(connection)
        if self._connections.get(connection.session_id) is connection:
            del self._connections[connection.session_id]

    def expire_sessions(self) -> None:
        """Close the sessions that have timed out, with their ephemeral znodes.

        If the log has no space for that, they stay alive, as in an ensemble without a leader.
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
            self._disconnect(session_id)

    def end_owner_of(self, path: str) -> None:
        """Close the session that owns an ephemeral znode, as if it had expired; a no-op if there is none."""
        for session_id, owned in self.database.tree.sessions_with_ephemerals().items():
            if path in owned:
                logger.info("Closing session %#x, left behind by an earlier owner of %s", session_id, path)
                self._close_session(session_id, 0)
                self._disconnect(session_id)

    def _disconnect(self, session_id: int) -> None:
        connection = self._connections.get(session_id)
        if connection is not None:
            self.detach(connection)
            connection.close()

    def delete_containers(self) -> None:
        """Delete empty containers and znodes whose time to live has passed, once per check interval."""
        if self._time.hi_res_ms() < self._next_container_check_ms:
            return
        self._next_container_check_ms = self._time.hi_res_ms() + CONTAINER_CHECK_INTERVAL_MS
        for path in list(self.database.tree.removable_containers(self._time.milliseconds())):
            with contextlib.suppress(KeeperException):  # the log may have space again at the next check
                self._process_txn(0, 0, OpCode.DELETE_CONTAINER, self._prep.delete_container(path))

    def ms_until_next_check(self) -> float:
        """How long ``expire_sessions`` and ``delete_containers`` will have nothing to do."""
        until_containers = max(0.0, self._next_container_check_ms - self._time.hi_res_ms())
        until_expiry = self.session_tracker.ms_until_next_expiry()
        if until_expiry is None:
            return until_containers
        return min(until_containers, max(until_expiry, self._next_expiry_ms - self._time.hi_res_ms()))

    def touch_all_sessions(self) -> None:
        """Give every session its full timeout again, because the server could not receive messages for a while."""
        for session_id in self.database.sessions:
            self.session_tracker.touch_session(session_id)

    def _close_session(self, session_id: int, cxid: int) -> None:
        paths = self.database.tree.ephemerals(session_id)
        self._process_txn(session_id, cxid, OpCode.CLOSE_SESSION, CloseSessionTxn(paths))
        self.session_tracker.remove_session(session_id)

    def _process_txn(self, session_id: int, cxid: int, op: OpCode, txn: Txn) -> ProcessTxnResult:
        """Process a transaction. Raises KeeperException SYSTEM_ERROR and changes nothing if the log has no space."""
        header = TxnHeader(session_id, cxid, self.database.last_zxid + 1, self._time.milliseconds(), op)
        try:
            return self.database.process_txn(header, txn)
        except OSError as error:
            raise KeeperException(Code.SYSTEM_ERROR) from error

    # ---- Requests ------------------------------------------------------------------------------------------------

    def process_packet(self, connection: Connection, frame: bytes) -> None:
        """Process one request after the handshake, and queue its reply. Raises BadPacket."""
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
        elif op is OpCode.SASL and self._sasl_users:
            self._authenticate_by_sasl(connection, xid, body)
        elif op is OpCode.CLOSE_SESSION:
            self._end_session(connection, xid)
        else:
            self._respond(connection, xid, op, body)

    def _end_session(self, connection: Connection, xid: int) -> None:
        code = Code.OK
        try:
            self._close_session(connection.session_id, xid)
        except KeeperException as refusal:
            code = refusal.code  # the client leaves anyway; its session expires once the log has space
        self._reply(connection, xid, code)
        connection.close_after_send()

    def _respond(self, connection: Connection, xid: int, op: OpCode, body: JuteReader) -> None:
        """Perform a read or a write; an error is returned in the reply."""
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

    def _authenticate_by_sasl(self, connection: Connection, xid: int, body: JuteReader) -> None:
        """One step; the identity is added after the last one."""
        if connection.sasl_server is None:
            connection.sasl_server = DigestMd5Server(self._sasl_users)
        server = connection.sasl_server
        try:
            response = server.evaluate_response(read_record(SaslToken, body).token or b"")
        except (JuteError, DigestError) as error:
            logger.warning("Authentication of %s by SASL failed: %s", connection.address, error)
            self._reply(connection, xid, Code.AUTH_FAILED)
            connection.close_after_send()
            return
        if server.authorization_id is not None:
            connection.identities.append(Id(SASL_SCHEME, server.authorization_id))
        self._reply(connection, xid, Code.OK, encode(SaslToken(response)))

    def _reply(self, connection: Connection, xid: int, code: Code, body: bytes = b"") -> None:
        connection.send(encode(ReplyHeader(xid, self.database.last_zxid, code)) + body)


_REFUSALS = {
    # Reconfiguration is reported as disabled, and so is SASL without users.
    OpCode.RECONFIG: Code.RECONFIG_DISABLED,
    OpCode.SASL: Code.AUTH_FAILED,
}
