"""kazoo's handler of threads with a cheaper ``select``, and with TLS as the rest of Kafka has it.

Kafka 0.10.2: ZkClient (I0Itec): the connection below it (ClientCnxnSocketNIO; with TLS
ClientCnxnSocketNetty) · book 7.1.3
"""

from __future__ import annotations

import math
import select
import socket
import ssl
from collections.abc import Callable, Collection
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

WrapSocket = Callable[[socket.socket, str], socket.socket]
"""The client's TLS handshake on a connected socket, with a server of this name; raises OSError if one end refuses."""


class PollHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """Waits for sockets with ``poll``, one system call.

    kazoo waits four times for every request, each time with a selector of its own: with epoll, that is a file opened,
    a call for each socket, the wait, and a file closed. A controller that takes over reads a znode for every partition.
    """

    def __init__(self, wrap_socket: WrapSocket | None = None) -> None:
        """``wrap_socket``: what TLS needs; None for connections in plain text."""
        super().__init__()
        self._wrap_socket = wrap_socket
        self.last_refusal: OSError | None = None
        """Why the last handshake has failed; None if it has not."""

    def create_connection(
        self,
        address: tuple[str, int],
        hostname: str | None = None,
        timeout: float | None = None,
        **_kazoos_own_tls: Any,
    ) -> socket.socket:
        """Connect. Raises OSError, also for a handshake that fails."""
        if self._wrap_socket is None:
            connected: socket.socket = super().create_connection(address, hostname=hostname, timeout=timeout)
            return connected
        sock = socket.create_connection(address, timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            secured = self._wrap_socket(sock, hostname or address[0])
        except OSError as error:
            self.last_refusal = error
            sock.close()
            raise
        self.last_refusal = None
        return secured

    def select(
        self, readers: Collection[Any], writers: Collection[Any], _exceptional: object, timeout_s: float | None = None
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Like ``select.select``, for files of any number. A file with an error counts as ready, so its use fails.

        So does one whose bytes are decrypted and wait in memory. Raises ValueError for a closed file.
        """
        if self._wrap_socket is not None:
            decrypted = [each for each in readers if isinstance(each, ssl.SSLSocket) and each.pending()]
            if decrypted:
                return decrypted, [], []
        poll = select.poll()
        for reader in readers:
            poll.register(reader, select.POLLIN | select.POLLPRI)
        for writer in writers:
            poll.register(writer, select.POLLOUT)
        ready = {number for number, _ in poll.poll(None if timeout_s is None else math.ceil(timeout_s * 1000))}
        return (
            [reader for reader in readers if reader.fileno() in ready],
            [writer for writer in writers if writer.fileno() in ready],
            [],
        )
