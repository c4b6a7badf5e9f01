"""Waits until sockets are ready: the counterpart of Java's own selector.

Kafka 0.10.2: clients/.../common/network/Selector.java (nioSelector) · book 2.1.4
"""

from __future__ import annotations

import select
import selectors
import socket
from typing import Final, Protocol

READ: Final = 1
WRITE: Final = 4
"""Events, as bits of ``epoll``."""
BOTH: Final = READ | WRITE


class _Poller(Protocol):
    """The methods of ``select.epoll`` that ``NioSelector`` needs."""

    def register(self, fd: int, events: int) -> None: ...

    def modify(self, fd: int, events: int) -> None: ...

    def unregister(self, fd: int) -> None: ...

    def poll(self, timeout_s: float, max_events: int) -> list[tuple[int, int]]: ...

    def close(self) -> None: ...


class NioSelector:
    """The sockets that are watched, each with an attachment.

    ``epoll`` is used directly where it exists, because ``selectors`` makes a named tuple for each event; elsewhere
    ``selectors`` chooses.
    """

    __slots__ = ("_poller", "attachments")

    def __init__(self) -> None:
        self._poller: _Poller = select.epoll() if hasattr(select, "epoll") else SelectorsPoller()
        self.attachments: dict[int, object] = {}
        """The object registered with each socket, by file descriptor."""

    def register(self, sock: socket.socket, events: int, attachment: object) -> None:
        """Begin to watch a socket for events (READ, WRITE or both)."""
        fd = sock.fileno()
        self._poller.register(fd, events)
        self.attachments[fd] = attachment

    def modify(self, sock: socket.socket, events: int) -> None:
        """Watch it for other events."""
        self._poller.modify(sock.fileno(), events)

    def unregister(self, sock: socket.socket) -> None:
        """Stop watching it. To be called before the socket is closed, since another socket may then get its number."""
        fd = sock.fileno()
        del self.attachments[fd]
        self._poller.unregister(fd)

    def select(self, timeout_s: float) -> list[tuple[int, int]]:
        """Wait for events: file descriptors, each with the events that are ready. A negative timeout does not wait.

        There may be more bits than those that are watched, for an error or the end of the connection; reading or
        writing tells which.
        """
        # (A timeout of -1 would be for ever.)
        return self._poller.poll(timeout_s if timeout_s > 0 else 0.0, len(self.attachments) or 1)

    def close(self) -> None:
        """Release the system's resources."""
        self._poller.close()


class SelectorsPoller:
    """The methods of ``select.epoll``, implemented with ``selectors``: kqueue, for instance."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def register(self, fd: int, events: int) -> None:
        """Begin to watch a file descriptor."""
        self._selector.register(fd, _to_selectors(events))

    def modify(self, fd: int, events: int) -> None:
        """Watch it for other events."""
        self._selector.modify(fd, _to_selectors(events))

    def unregister(self, fd: int) -> None:
        """Stop watching it."""
        self._selector.unregister(fd)

    def poll(self, timeout_s: float, max_events: int) -> list[tuple[int, int]]:
        """Wait for events; ``selectors`` needs no maximum."""
        del max_events
        return [(key.fd, _from_selectors(ready)) for key, ready in self._selector.select(timeout_s)]

    def close(self) -> None:
        """Release the system's resources."""
        self._selector.close()


def _to_selectors(events: int) -> int:
    return (selectors.EVENT_READ if events & READ else 0) | (selectors.EVENT_WRITE if events & WRITE else 0)


def _from_selectors(events: int) -> int:
    return (READ if events & selectors.EVENT_READ else 0) | (WRITE if events & selectors.EVENT_WRITE else 0)
