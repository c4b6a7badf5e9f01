"""Large requests: a few at a time, and never decoded in a network thread.

Kafka 0.10.2: none; there the JVM runs threads in parallel, and the network thread decodes every request · book 2.3.3
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey

OF_CONTROLLER: Final = frozenset({ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA})
"""The controller must not wait for clients. It sends a broker one request after the other, so these wait for nothing
unless somebody else sends them."""
LARGE_PRODUCES_AT_ONCE: Final = 2
"""Most bytes of a Produce request are records, which are not decoded: checksums, codecs and files release the GIL."""


class LargeRequests:
    """Lets a few large requests at a time into the request queue.

    ::

        Processor ─ small ─▶ dispatch ───────────────────────────────────────────▶ request queue ─▶ handlers
                  └ large ─▶ LargeRequests: one in progress, the others wait ────▶       │
                                     ▲───────────── completed ◀──────────────────────────┘

    The decoded request is many times as large as its bytes, and two handlers that compute share one GIL: together they
    are no faster, but each takes memory, and keeps the network threads waiting for the GIL once more.

    Any thread may call it; it never blocks.
    """

    def __init__(self, enqueue: Callable[[Request], None], at_once: int = 1) -> None:
        """``enqueue`` gives a request to the handlers, even if their queue is full: there are only ``at_once``."""
        self._enqueue = enqueue
        self._at_once = at_once
        self._lock = threading.Lock()
        self._in_progress: set[Request] = set()
        self._waiting: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, request: object) -> bool:
        """Whether a request has been let in, and is not completed."""
        return request in self._in_progress

    def send(self, request: Request) -> None:
        """Queue a request now, or after those that came before it. ``completed`` must follow its end."""
        with self._lock:
            if len(self._in_progress) >= self._at_once:
                self._waiting.append(request)
                return
            self._in_progress.add(request)
        self._enqueue(request)

    def completed(self, request: Request) -> None:
        """A request has been handled, which does not mean that it has its response: let the next one in.

        Ignores a request that is not in progress, and looks for that without the lock: most requests are not large.
        """
        if request not in self._in_progress:
            return
        with self._lock:
            self._in_progress.discard(request)
            following = self._waiting.popleft() if self._waiting else None
            if following is not None:
                self._in_progress.add(following)
        if following is not None:
            self._enqueue(following)

    def clear(self) -> None:
        """Drop the requests that wait."""
        with self._lock:
            self._waiting.clear()
