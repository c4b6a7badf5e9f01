"""The module ``_ssl``: TLS over the world's sockets.

Not in Kafka. OpenSSL takes records from memory here and puts its own there; what waits is the world's. Python's own
``ssl.py`` is loaded again on top of it::

    ssl.SSLSocket ── read, write ──▶ Engine ── read, write ──▶ OpenSSL
                                        │  ◀─── records ──────
                                     recv, send
                                        ▼
                                     _socket of the world

OpenSSL's random numbers are not the seed's: what it sends has other bytes in every run. But it has as many, so a run
takes the same course: keys are those of Ed25519, whose signatures have one length, and a server sends no tickets, which
would have several. The network leaves those bytes out of the events (``Network.encrypted_ports``).

A non-blocking connection has no such socket: its transport gives OpenSSL two buffers (``SslTransportLayer``).
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar

from kafka_lite.testing.simulation.system.kernel import NotSimulatedError, stand_in
from kafka_lite.testing.simulation.system.sockets import SocketBase

T = TypeVar("T")
READ_BYTES: Final = 64 * 1024


class Engine:
    """``_ssl._SSLSocket``: one connection. It waits as its socket does, and raises what that raises."""

    def __init__(self, sock: SocketBase, tls: types.ModuleType, connect: Callable[[Any, Any], Any]) -> None:
        """``connect``: makes OpenSSL's part, of the buffers for what comes in and for what goes out."""
        self._sock = sock
        self._want_read = tls.SSLWantReadError
        self._incoming, self._outgoing = tls.MemoryBIO(), tls.MemoryBIO()
        self._ssl = connect(self._incoming, self._outgoing)

    def __getattr__(self, name: str) -> Any:
        """Questions that only OpenSSL answers: ``version``, ``getpeercert``, ``pending`` and others."""
        return getattr(self._ssl, name)

    def do_handshake(self) -> None:
        """Exchange messages until both ends know each other."""
        self._exchange(self._ssl.do_handshake)

    def read(self, *arguments: Any) -> Any:
        """Decrypted bytes, or their number if a buffer is given."""
        return self._exchange(lambda: self._ssl.read(*arguments))

    def write(self, data: Any) -> int:
        """Encrypt and send all of it."""
        return self._exchange(lambda: int(self._ssl.write(data)))

    def shutdown(self) -> SocketBase:
        """Tell the peer that nothing follows, and wait until it has said so, too."""
        self._exchange(self._ssl.shutdown)
        return self._sock

    def _exchange(self, step: Callable[[], T]) -> T:
        if self._sock.gettimeout() == 0:
            raise NotSimulatedError("TLS on a socket that does not wait is not simulated")
        while True:
            try:
                result = step()
            except self._want_read:
                self._flush()
                self._fill()
                continue
            except OSError:
                with contextlib.suppress(OSError):
                    self._flush()  # an alert that says why
                raise
            self._flush()
            return result

    def _flush(self) -> None:
        records = memoryview(self._outgoing.read())
        while records:
            records = records[SocketBase.send(self._sock, records) :]  # that of the class would encrypt them again

    def _fill(self) -> None:
        data = SocketBase.recv(self._sock, READ_BYTES)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()


def tls_module(tls: types.ModuleType) -> types.ModuleType:
    """The stand-in for ``_ssl``, which is ``tls``."""

    class Context(tls._SSLContext):  # type: ignore[misc, name-defined]
        """OpenSSL's settings, as they must be in a world."""

        def __new__(cls, protocol: int) -> Any:
            context = super().__new__(cls, protocol)
            if protocol == tls.PROTOCOL_TLS_SERVER:
                context.num_tickets = 0
            return context

        def _wrap_socket(
            self, sock: SocketBase, server_side: bool, server_hostname: str | None = None, *, owner: Any, session: Any
        ) -> Engine:
            def connect(incoming: Any, outgoing: Any) -> Any:
                return self._wrap_bio(incoming, outgoing, server_side, server_hostname, owner=owner, session=session)

            return Engine(sock, tls, connect)

    return stand_in("_ssl", tls, {"_SSLContext": Context})
