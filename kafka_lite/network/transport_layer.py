"""The socket under a channel, the events that the selector watches on it, and the way of bytes through it.

Kafka 0.10.2: clients/.../common/network/TransportLayer.java, PlaintextTransportLayer.java · book 2.1.4
"""

from __future__ import annotations

import errno
import os
import socket
from abc import ABC, abstractmethod

from kafka_lite.common.security.kafka_principal import ANONYMOUS
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.send import NetworkSend


class TransportLayer(ABC):
    """A non-blocking socket with its interest in events.

    Interest is a set of bits as in Java's ``SelectionKey.interestOps``. A socket without interest is not registered at
    all; otherwise the kernel would still report its end, again and again.
    """

    __slots__ = ("_attachment", "_interest", "_selector", "has_buffered_bytes", "principal", "sock")

    def __init__(self, selector: NioSelector, sock: socket.socket) -> None:
        self.sock = sock
        self.has_buffered_bytes = False
        """Whether ``recv_into`` has more bytes that the kernel no longer has, and so reports no event for."""
        self.principal = ANONYMOUS
        """The user that the peer has proved to be."""
        self._selector = selector
        self._interest = 0
        self._attachment: object = None

    def attach(self, attachment: object) -> None:
        """Set what the selector returns with each event of this socket."""
        self._attachment = attachment

    def add_interest(self, events: int) -> None:
        """Watch ``events``, too; does nothing if they are watched already."""
        if events & ~self._interest:
            self._set_interest(self._interest | events)

    def remove_interest(self, events: int) -> None:
        """Stop watching ``events``."""
        if events & self._interest:
            self._set_interest(self._interest & ~events)

    def _set_interest(self, events: int) -> None:
        if not events:
            self._selector.unregister(self.sock)
        elif not self._interest:
            self._selector.register(self.sock, events, self._attachment)
        else:
            self._selector.modify(self.sock, events)
        self._interest = events

    def finish_connect(self) -> None:
        """The outcome of a connect in progress. Raises OSError if it failed."""
        error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, os.strerror(error))

    @abstractmethod
    def handshake(self) -> bool:
        """Do what can be done before the first frame; true once all of it is done. Raises OSError.

        Until then, it watches the events that it waits for, and is called again when there is one.
        """

    @abstractmethod
    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Read up to ``len(buffer)`` bytes; 0 if there are none. Raises OSError, even if the peer just closed."""

    def is_at_end(self) -> bool:
        """Whether the peer has closed the connection and has sent nothing else. The end is not taken off.

        A peer that uses TLS announces the end with a message, so that this only notices one that does not.
        """
        try:
            return not self.sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    @abstractmethod
    def write(self, send: NetworkSend) -> bool:
        """Write until the socket takes no more; true if all of the send is out. Raises OSError."""

    def close(self) -> None:
        """Stop watching and close the socket."""
        self.remove_interest(self._interest)
        self.sock.close()


class PlaintextTransportLayer(TransportLayer):
    """Bytes pass as they are: into the reader's buffer, and from memory or the page cache to the socket."""

    __slots__ = ()

    def handshake(self) -> bool:
        """There is none."""
        return True

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Read up to ``len(buffer)`` bytes; 0 if there are none. Raises OSError, even if the peer just closed."""
        try:
            count = self.sock.recv_into(buffer)
        except BlockingIOError:
            return 0
        if count == 0:
            raise ConnectionError(errno.ECONNRESET, "the peer closed the connection")
        return count

    def write(self, send: NetworkSend) -> bool:
        """Write until the socket takes no more; true if all of the send is out. Raises OSError."""
        return send.write_to(self.sock)
