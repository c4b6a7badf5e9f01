"""A minimal ZooKeeper client: one request, one reply, and the events that came before it."""

from __future__ import annotations

import socket
import struct
from typing import Any, NamedTuple, TypeVar

from kafka_lite.zookeeper.embedded.jute import JuteReader, encode, read_record
from kafka_lite.zookeeper.embedded.protocol import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    EventType,
    OpCode,
    ReplyHeader,
    RequestHeader,
    WatcherEvent,
    Xid,
)

R = TypeVar("R")

RESERVED_XIDS = {OpCode.PING: Xid.PING, OpCode.AUTH: Xid.AUTH, OpCode.SET_WATCHES: Xid.SET_WATCHES}


class Reply(NamedTuple):
    err: int
    zxid: int
    body: bytes

    def read(self, record_class: type[R]) -> R:
        assert self.err == 0, self
        return read_record(record_class, JuteReader(self.body))


class RawClient:
    """A session over one connection; ``events`` collects the events of watches as (type, path)."""

    def __init__(
        self, connect_string: str, timeout_ms: int = 10_000, session: tuple[int, bytes] = (0, bytes(16))
    ) -> None:
        host, port = connect_string.split(":")
        self.sock = socket.create_connection((host, int(port)), 60)
        self.events: list[tuple[EventType, str]] = []
        self._next_xid = 1
        self.send_frame(encode(ConnectRequest(0, 0, timeout_ms, *session)) + b"\0")
        try:
            response = read_record(ConnectResponse, JuteReader(self.receive_frame()))
        except OSError:
            self.sock.close()
            raise
        self.timeout_ms = response.time_out
        self.session_id = response.session_id
        self.password = response.passwd or b""

    def call(self, op: int, *records: tuple[Any, ...]) -> Reply:
        """Send a request and wait for its reply."""
        xid = RESERVED_XIDS.get(OpCode(op)) if op in set(OpCode) else None
        if xid is None:
            xid, self._next_xid = self._next_xid, self._next_xid + 1
        self.send_frame(encode(RequestHeader(xid, op), *records))
        while (reply := self._receive())[0] != xid:
            pass
        return reply[1]

    def authenticate(self, scheme: str, auth: bytes) -> Reply:
        return self.call(OpCode.AUTH, AuthPacket(0, scheme, auth))

    def take_events(self) -> list[tuple[EventType, str]]:
        """The events so far; a ping makes sure that none is still in flight."""
        self.call(OpCode.PING)
        events, self.events = self.events, []
        return events

    def close(self) -> None:
        """Close the session."""
        self.call(OpCode.CLOSE_SESSION)
        self.sock.close()

    def disconnect(self) -> None:
        """Close the connection; the session stays."""
        self.sock.close()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def send_frame(self, payload: bytes) -> None:
        self.sock.sendall(struct.pack(">i", len(payload)) + payload)

    def receive_frame(self) -> bytes:
        return self._receive_bytes(struct.unpack(">i", self._receive_bytes(4))[0])

    def _receive(self) -> tuple[int, Reply]:
        reader = JuteReader(self.receive_frame())
        header = read_record(ReplyHeader, reader)
        if header.xid == Xid.NOTIFICATION:
            event = read_record(WatcherEvent, reader)
            self.events.append((EventType(event.type), event.path))
        return header.xid, Reply(header.err, header.zxid, reader.data[reader.offset :])

    def _receive_bytes(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self.sock.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("the server hung up")
            data += chunk
        return data
