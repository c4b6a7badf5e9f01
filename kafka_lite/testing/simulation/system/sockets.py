"""The module ``_socket``: sockets over the world's network.

Not in Kafka. Python's own ``socket.py`` is loaded again on top of it, so files, ``create_connection`` and the
rest work as usual.
"""

from __future__ import annotations

import _socket
import errno
import socket as real_socket
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from kafka_lite.testing.simulation.endpoint import Address, Endpoint, Listener, Watched
from kafka_lite.testing.simulation.network import Network
from kafka_lite.testing.simulation.system import linux
from kafka_lite.testing.simulation.system.kernel import Kernel, NotSimulatedError, stand_in
from kafka_lite.testing.simulation.system.polling import wait_for

Buffer = bytes | bytearray | memoryview
_BUFFERS: Final = {linux.SO_SNDBUF: "send_bytes", linux.SO_RCVBUF: "receive_bytes"}


class SocketBase:
    """``_socket.socket``: a descriptor of the world, with Python's timeouts."""

    kernel: ClassVar[Kernel]
    default_timeout: ClassVar[list[float | None]]
    __slots__ = ("_bound", "_family", "_fd", "_options", "_timeout_s", "_type", "proto")

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        self._family = linux.AF_INET if family == -1 else family
        kind = linux.SOCK_STREAM if type == -1 else type
        self._type = kind & ~(linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC)
        self.proto = 0 if proto == -1 else proto
        if self._type != linux.SOCK_STREAM:
            raise NotSimulatedError(f"sockets of type {self._type} are not simulated")
        self._timeout_s = 0.0 if kind & linux.SOCK_NONBLOCK else self.default_timeout[0]
        self._bound: Address | None = None
        self._options: dict[tuple[int, int], int] = {}
        kernel = self.kernel
        self._fd = kernel.open_socket(Endpoint(self._network, kernel.machine)) if fileno is None else fileno

    @property
    def family(self) -> int:
        """The address family."""
        return self._family

    @property
    def type(self) -> int:
        """The kind of socket: a stream."""
        return self._type

    @property
    def _network(self) -> Network:
        network = self.kernel.network
        if network is None:
            raise NotSimulatedError("sockets are not simulated while modules are imported")
        return network

    @property
    def _watched(self) -> Watched:
        try:
            return self.kernel.sockets[self._fd]
        except KeyError:
            raise OSError(errno.EBADF, "Bad file descriptor") from None

    @property
    def _endpoint(self) -> Endpoint:
        watched = self._watched
        if not isinstance(watched, Endpoint):
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return watched

    # ── timeouts and options ──────────────────────────────────────────────────────────────────────────────────────

    def fileno(self) -> int:
        """The descriptor; -1 if closed."""
        return self._fd

    @property
    def timeout(self) -> float | None:
        """The timeout in seconds; None to wait for ever, 0 not to wait."""
        return self._timeout_s

    def gettimeout(self) -> float | None:
        """The same."""
        return self._timeout_s

    def settimeout(self, timeout_s: float | None) -> None:
        """Set it. Raises ValueError if it is negative."""
        if timeout_s is not None and timeout_s < 0:
            raise ValueError("Timeout value out of range")
        self._timeout_s = None if timeout_s is None else float(timeout_s)

    def setblocking(self, is_blocking: bool) -> None:
        """Wait for ever, or not at all."""
        self._timeout_s = None if is_blocking else 0.0

    def getblocking(self) -> bool:
        """Whether calls may wait."""
        return self._timeout_s != 0

    def setsockopt(self, level: int, option: int, value: Any = None, length: int | None = None) -> None:
        """Remember the option. The sizes of the buffers count, as Linux sets them: twice what is asked for."""
        del length
        watched = self._watched
        if isinstance(value, int):
            self._options[level, option] = int(value)
            if level == linux.SOL_SOCKET and option in _BUFFERS and isinstance(watched, Endpoint | Listener):
                watched.buffers = replace(watched.buffers, **{_BUFFERS[option]: 2 * value})

    def getsockopt(self, level: int, option: int, size: int = 0) -> int | bytes:
        """An option; ``SO_ERROR`` is the pending error."""
        watched = self._watched
        if (level, option) == (linux.SOL_SOCKET, linux.SO_TYPE):
            return self._type
        if (level, option) == (linux.SOL_SOCKET, linux.SO_ERROR):
            number, watched_error = 0, watched if isinstance(watched, Endpoint) else None
            if watched_error is not None:
                number, watched_error.error = watched_error.error, 0
            return number
        value = self._options.get((level, option), 0)
        return value.to_bytes(size, "little") if size else value

    # ── listening and connecting ──────────────────────────────────────────────────────────────────────────────────

    def bind(self, address: Address) -> None:
        """Take an address. Raises OSError if it is taken."""
        host = self._resolve(address[0] or "0.0.0.0")
        self._bound = self._network.bind(self.kernel.machine, (host, address[1]))
        self._endpoint.local = self._bound

    def listen(self, backlog: int = 128) -> None:
        """Take connections."""
        del backlog
        bound = self._bound or self._network.bind(self.kernel.machine, ("0.0.0.0", 0))
        before = self._watched
        if isinstance(before, Listener):
            return
        listener = self._network.listen(self.kernel.machine, bound)
        listener.watchers = before.watchers
        if isinstance(before, Endpoint):
            listener.buffers = before.buffers
        self.kernel.sockets[self._fd] = listener

    def _accept(self) -> tuple[int, Address]:
        listener = self._watched
        if not isinstance(listener, Listener):
            raise OSError(errno.EINVAL, "Invalid argument")
        self._wait(listener, lambda: bool(listener.backlog) or listener.is_closed)
        if not listener.backlog:
            raise OSError(errno.EINVAL, "Invalid argument")
        self.kernel.take_descriptor()  # first: without one, the connection stays in the queue
        endpoint = listener.backlog.pop(0)
        return self.kernel.open_socket(endpoint), endpoint.remote or ("0.0.0.0", 0)

    def connect(self, address: Address) -> None:
        """Connect. Raises OSError, and BlockingIOError if connecting continues in the background."""
        endpoint = self._endpoint
        endpoint.raise_error()
        if endpoint.is_connected:
            raise OSError(errno.EISCONN, "Transport endpoint is already connected")
        if endpoint.is_connecting:
            raise OSError(errno.EALREADY, "Operation already in progress")
        self._network.connect(endpoint, (self._resolve(address[0]), address[1]))
        if self._timeout_s == 0:
            raise BlockingIOError(errno.EINPROGRESS, "Operation now in progress")
        self._wait(endpoint, lambda: not endpoint.is_connecting)
        endpoint.raise_error()

    def connect_ex(self, address: Address) -> int:
        """Connect; returns the errno, 0 for none."""
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.EAGAIN
        return 0

    def _resolve(self, host: str) -> str:
        ip = self._network.resolve(host, self.kernel.machine)
        if ip is None:
            raise real_socket.gaierror(linux.EAI_NONAME, "Name or service not known")
        return ip

    def getsockname(self) -> Address:
        """The own address."""
        watched = self._watched
        return watched.address if isinstance(watched, Listener) else self._endpoint.local

    def getpeername(self) -> Address:
        """The other end's address. Raises OSError if not connected."""
        endpoint = self._endpoint
        if not endpoint.is_connected or endpoint.remote is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return endpoint.remote

    # ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _wait(self, watched: Watched, is_ready: Callable[[], bool]) -> None:
        """Block until ``is_ready``. Raises BlockingIOError without a timeout, and TimeoutError after it."""
        if is_ready():
            return
        if self._timeout_s == 0:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        if not wait_for(self.kernel, watched, is_ready, self.kernel.deadline_ns(self._timeout_s)):
            raise TimeoutError("timed out")

    def send(self, data: Buffer, flags: int = 0) -> int:
        """Send as much as there is room for."""
        del flags
        endpoint = self._endpoint
        self._wait_to_send(endpoint)
        return endpoint.send(_bytes_of(data))

    def _wait_to_send(self, endpoint: Endpoint) -> None:
        if endpoint.is_connected and not endpoint.is_shut_down:
            self._wait(endpoint, lambda: endpoint.is_writable)

    def sendall(self, data: Buffer, flags: int = 0) -> None:
        """Send all of it."""
        view = _bytes_of(data)
        while len(view):
            view = view[self.send(view, flags) :]

    def sendmsg(self, buffers: Sequence[Buffer], ancillary: Any = (), flags: int = 0, address: Any = None) -> int:
        """Send several buffers as one."""
        del ancillary, address
        return self.send(b"".join(buffers), flags)

    def recv(self, count: int, flags: int = 0) -> bytes:
        """Up to ``count`` bytes; none at the end. Raises MemoryError: all of them are taken first."""
        self.kernel.take_memory(count)
        return self._receive(count, flags)

    def _receive(self, count: int, flags: int) -> bytes:
        endpoint = self._endpoint
        if not endpoint.is_readable and endpoint.is_connected:
            self._wait(endpoint, lambda: endpoint.is_readable or endpoint.is_closed)
        return endpoint.receive(count, bool(flags & linux.MSG_PEEK))

    def recv_into(self, buffer: bytearray | memoryview, count: int = 0, flags: int = 0) -> int:
        """Receive into a buffer; returns how many bytes."""
        view = memoryview(buffer).cast("B")
        data = self._receive(count or len(view), flags)
        view[: len(data)] = data
        return len(data)

    # ── ends ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def shutdown(self, how: int) -> None:
        """End one direction, or both."""
        endpoint = self._endpoint
        if not endpoint.is_connected:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        if how != linux.SHUT_RD:
            endpoint.shut_down_writing()
        if how != linux.SHUT_WR:
            endpoint.saw_end = True
        endpoint.notify()

    def close(self) -> None:
        """Close the descriptor."""
        fd, self._fd = self._fd, -1
        close_descriptor(self.kernel, fd)

    def detach(self) -> int:
        """Give the descriptor away."""
        fd, self._fd = self._fd, -1
        return fd


def _bytes_of(data: Buffer) -> memoryview:
    return memoryview(data).cast("B")


def close_descriptor(kernel: Kernel, fd: int) -> None:
    """Close a socket of the world; waiting threads wake up."""
    watched = kernel.sockets.pop(fd, None)
    if isinstance(watched, Listener):
        assert kernel.network is not None
        kernel.network.close_listener(watched)
    elif isinstance(watched, Endpoint):
        watched.close()
        watched.notify()


class SocketFunctions:
    """The functions of ``_socket`` for one process."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._default_timeout: list[float | None] = [None]
        self._class = type(
            "socket", (SocketBase,), {"kernel": kernel, "default_timeout": self._default_timeout, "__slots__": ()}
        )

    def socketpair(self, family: int = -1, type: int = -1, proto: int = -1) -> tuple[Any, Any]:
        """Two connected sockets inside the process."""
        del type
        kernel = self._kernel
        if kernel.network is None:
            raise NotSimulatedError("sockets are not simulated while modules are imported")
        ends = kernel.network.socket_pair(kernel.machine)
        family = linux.AF_UNIX if family == -1 else family
        first, second = (self._class(family, linux.SOCK_STREAM, proto, kernel.open_socket(end)) for end in ends)
        return first, second

    def getaddrinfo(self, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        """The one address of a machine."""
        del type, proto, flags, family
        name = host.decode() if isinstance(host, bytes) else (host or "127.0.0.1")
        ip = self._kernel.network and self._kernel.network.resolve(name, self._kernel.machine)
        if ip is None:
            raise real_socket.gaierror(linux.EAI_NONAME, "Name or service not known")
        return [(linux.AF_INET, linux.SOCK_STREAM, linux.IPPROTO_TCP, "", (ip, int(port or 0)))]

    def gethostname(self) -> str:
        """The machine's name."""
        return self._kernel.machine

    def gethostbyname(self, host: str) -> str:
        """A machine's address."""
        return str(self.getaddrinfo(host, 0)[0][4][0])

    def gethostbyaddr(self, host: str) -> tuple[str, list[str], list[str]]:
        """A machine's name; here each address is its own."""
        return host, [], [host]

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        close_descriptor(self._kernel, fd)

    def module(self) -> types.ModuleType:
        """``_socket`` itself."""

        def set_default_timeout(timeout_s: float | None) -> None:
            self._default_timeout[0] = timeout_s

        names: dict[str, object] = {
            "socket": self._class, "SocketType": self._class, "socketpair": self.socketpair, "CAPI": None,
            "getaddrinfo": self.getaddrinfo, "gethostname": self.gethostname, "gethostbyname": self.gethostbyname,
            "gethostbyaddr": self.gethostbyaddr, "close": self.close, "setdefaulttimeout": set_default_timeout,
            "getdefaulttimeout": lambda: self._default_timeout[0],
        }  # fmt: skip
        return stand_in("_socket", _socket, {**linux.SOCKET, **names})
