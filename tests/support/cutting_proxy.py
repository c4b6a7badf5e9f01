"""A TCP proxy that cuts connections after a number of bytes, anywhere in a frame."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self

HOST = "127.0.0.1"


class CuttingProxy:
    """Forwards bytes between clients and the broker on ``broker_port``, which is set before the first connection.

    ``cut(n)`` forwards n more bytes to the broker, of all connections together, and then closes all of them.
    """

    def __init__(self) -> None:
        self.broker_port = 0
        self.cuts = 0
        """How often it has cut."""
        self._listener = socket.create_server((HOST, 0))
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._bytes_left: int | None = None
        self._threads: list[threading.Thread] = []

    @property
    def port(self) -> int:
        """The address for clients."""
        port: int = self._listener.getsockname()[1]
        return port

    def __enter__(self) -> Self:
        self._spawn(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._close_all()
        for thread in self._threads:
            thread.join()

    def cut(self, after_bytes: int) -> None:
        """Close all connections after this many more bytes have been sent to the broker."""
        with self._lock:
            self._bytes_left = after_bytes

    def _spawn(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    broker = socket.create_connection((HOST, self.broker_port))
                except OSError:
                    client.close()
                    continue
                with self._lock:
                    self._sockets |= {client, broker}
                self._spawn(self._pump, client, broker, True)
                self._spawn(self._pump, broker, client, False)

    def _pump(self, source: socket.socket, target: socket.socket, is_to_broker: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                passing, cut = self._passing(data) if is_to_broker else (data, False)
                target.sendall(passing)
                if cut:
                    self._close_all()
        self._close(source)
        self._close(target)

    def _passing(self, data: bytes) -> tuple[bytes, bool]:
        """The part of the data to forward, and whether to close then."""
        with self._lock:
            if self._bytes_left is None:
                return data, False
            passing = data[: self._bytes_left]
            self._bytes_left -= len(passing)
            if self._bytes_left > 0:
                return passing, False
            self._bytes_left = None
            self.cuts += 1
            return passing, True

    def _close_all(self) -> None:
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            self._close(sock)

    def _close(self, sock: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(sock)
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
        sock.close()
