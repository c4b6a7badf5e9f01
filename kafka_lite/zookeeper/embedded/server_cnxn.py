"""A client's connection: frames in, frames out.

ZooKeeper 3.8: zookeeper-server/.../server/NIOServerCnxn.java · book 2.3.2
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from kafka_lite.zookeeper.digest_md5 import DigestMd5Server
from kafka_lite.zookeeper.embedded.jute import encode
from kafka_lite.zookeeper.embedded.protocol import SYNC_CONNECTED, EventType, Id, ReplyHeader, WatcherEvent, Xid
from kafka_lite.zookeeper.embedded.zookeeper_server import BadPacket

_LENGTH = struct.Struct(">i")
_RECEIVE_BYTES = 64 * 1024
_HIGH_WATER_BYTES = 1024 * 1024


class ServerCnxn:
    """The buffers between a non-blocking socket and the server.

    ``send`` and ``process`` only queue bytes; ``flush`` sends them, after the selector loop has made the transactions
    behind them durable. If a client does not read its replies, no more requests are read from it (``wants_read``), so
    that replies do not accumulate in memory.
    """

    def __init__(self, sock: socket.socket, address: tuple[str, int], max_packet_bytes: int) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.address, self.port = address[0], address[1]
        self.identities: list[Id] = [Id("ip", self.address)]
        self.sasl_server: DigestMd5Server | None = None
        self.session_id = 0
        self.is_initialized = False
        self.is_closing = False
        self.is_closed = False
        self.packets_received = 0
        self.packets_sent = 0
        self._max_packet_bytes = max_packet_bytes
        self._incoming = bytearray()
        self._outgoing = bytearray()

    @property
    def wants_read(self) -> bool:
        """Whether more requests should be read from the client."""
        return not self.is_closing and len(self._outgoing) < _HIGH_WATER_BYTES

    @property
    def has_frame(self) -> bool:
        """Whether a whole request has arrived but was not processed, because too many replies were queued."""
        if len(self._incoming) < _LENGTH.size:
            return False
        (length,) = _LENGTH.unpack_from(self._incoming)
        return len(self._incoming) >= _LENGTH.size + int(length)

    @property
    def wants_write(self) -> bool:
        """Whether there are bytes to send."""
        return bool(self._outgoing)

    def receive(self) -> bool:
        """Read what has arrived. Returns False if the client closed the connection. Raises OSError, MemoryError."""
        try:
            data = self.sock.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return True
        self._incoming += data
        return bool(data)

    def take_command(self) -> str | None:
        """The four-letter word with which a new connection may begin instead of a frame's length.

        None if there is none, or fewer than four bytes have arrived; as a length, any four letters would be far too
        large.
        """
        if self.is_initialized or self.packets_received or len(self._incoming) < _LENGTH.size:
            return None
        word = bytes(self._incoming[: _LENGTH.size])
        return word.decode() if word.isalpha() and word.isascii() and word.islower() else None

    def frames(self) -> Iterator[bytes]:
        """Yield the whole frames that have arrived, while ``wants_read``. Raises BadPacket if a length is invalid."""
        while self.wants_read and len(self._incoming) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._incoming)
            if not 0 <= length <= self._max_packet_bytes:
                raise BadPacket(f"packet length {length} is out of range")
            end = _LENGTH.size + length
            if len(self._incoming) < end:
                return
            frame = bytes(self._incoming[_LENGTH.size : end])
            del self._incoming[:end]
            self.packets_received += 1
            yield frame

    def send(self, payload: bytes) -> None:
        """Queue a frame."""
        self._outgoing += _LENGTH.pack(len(payload))
        self._outgoing += payload
        self.packets_sent += 1

    def send_text(self, text: str) -> None:
        """Queue the response to a four-letter word, which is not a frame."""
        self._outgoing += text.encode()

    def process(self, event: EventType, path: str) -> None:
        """Queue a watch event."""
        header = ReplyHeader(Xid.NOTIFICATION, -1, 0)
        self.send(encode(header, WatcherEvent(event, SYNC_CONNECTED, path)))

    def close_after_send(self) -> None:
        """Stop reading, and close once everything queued has been sent."""
        self.is_closing = True

    def close(self) -> None:
        """Close and discard everything queued: the session has ended, or continues on another connection."""
        self.is_closing = True
        self._outgoing.clear()

    def flush(self) -> bool:
        """Send what the socket accepts. Returns False if the connection can be closed. Raises OSError."""
        if self._outgoing:
            try:
                del self._outgoing[: self.sock.send(self._outgoing)]
            except BlockingIOError:
                return True
        return not (self.is_closing and not self._outgoing)

    def reset_stats(self) -> None:
        """Reset the counters."""
        self.packets_received = self.packets_sent = 0

    def __str__(self) -> str:
        return f"/{self.address}:{self.port}"
