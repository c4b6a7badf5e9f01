"""Large requests: one at a time, and never decoded in a network thread.

Kafka 0.10.2: none; there the JVM runs threads in parallel, and the network thread decodes every request · book 2.3.3
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey

ADMITTED_AT_ONCE: Final = frozenset(
    {ApiKey.PRODUCE, ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA}
)
"""Most bytes of a Produce request are records, which are not decoded; the controller must not wait for clients."""


class LargeRequests:
    """Lets one large request at a time into the request queue.

    ::

        Processor ─ small ─▶ dispatch ───────────────────────────────────────────▶ request queue ─▶ handlers
                  └ large ─▶ LargeRequests: one in progress, the others wait ────▶       │
                                     ▲───────────── completed ◀──────────────────────────┘

    The decoded request is many times as large as its bytes, and two handlers that compute share one GIL: together they
    are no faster, but each takes memory, and keeps the network threads waiting for the GIL once more.

    Any thread may call it; it never blocks.
    """

    def __init__(self, enqueue: Callable[[Request], None]) -> None:
        """``enqueue`` gives a request to the handlers, even if their queue is full: there is only one at a time."""
        self._enqueue = enqueue
        self._lock = threading.Lock()
        self._is_busy = False
        self._waiting: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def send(self, request: Request) -> None:
        """Queue a request now, or after those that came before it. ``completed`` must follow its end."""
        with self._lock:
            if self._is_busy:
                self._waiting.append(request)
                return
            self._is_busy = True
        self._enqueue(request)

    def completed(self) -> None:
        """The request in progress has been handled, which does not mean that it has its response."""
        with self._lock:
            following = self._waiting.popleft() if self._waiting else None
            self._is_busy = following is not None
        if following is not None:
            self._enqueue(following)

    def clear(self) -> None:
        """Drop the requests that wait."""
        with self._lock:
            self._waiting.clear()
