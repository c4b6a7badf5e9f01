"""The socket under a channel, and the events that the selector watches on it.

Kafka 0.10.2: clients/.../common/network/PlaintextTransportLayer.java · book 2.1.4
"""

from __future__ import annotations

import errno
import os
import socket

from kafka_lite.network.nio_selector import NioSelector


class PlaintextTransportLayer:
    """A non-blocking socket with its interest in events.

    Interest is a set of bits as in Java's ``SelectionKey.interestOps``. A socket without interest is not registered at
    all; otherwise the kernel would still report its end, again and again.
    """

    __slots__ = ("_attachment", "_interest", "_selector", "sock")

    def __init__(self, selector: NioSelector, sock: socket.socket) -> None:
        self.sock = sock
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

    def recv_into(self, buffer: bytearray | memoryview) -> int:
        """Read up to ``len(buffer)`` bytes; 0 if there are none. Raises OSError, even if the peer just closed."""
        try:
            count = self.sock.recv_into(buffer)
        except BlockingIOError:
            return 0
        if count == 0:
            raise ConnectionError(errno.ECONNRESET, "the peer closed the connection")
        return count

    def close(self) -> None:
        """Stop watching and close the socket."""
        self.remove_interest(self._interest)
        self.sock.close()
