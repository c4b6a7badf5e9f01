"""The queue of what a herder is asked to do.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (HerderRequest, addRequest) · book
8.3.4
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from kafka_lite.connect.api.errors import ConnectError

logger = logging.getLogger(__name__)

T = TypeVar("T")


class HerderRequest(NamedTuple):
    """A call to be made by the herder's thread. Ordered by time, then in the order of arrival."""

    at_ms: float
    sequence: int
    action: Callable[[], Any]
    future: Future[Any]

    def run(self) -> None:
        """Make the call, and complete the future."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.action()
        except Exception as error:  # noqa: BLE001  the caller gets it
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class HerderRequests:
    """Any thread adds requests; the herder's thread takes those whose time has come.

    ::

        REST thread   add ─▶ ┌ now: create a ┐
        REST thread   add ─▶ │ now: list     │ ─▶ take_due ─▶ run ─▶ future
        herder        add ─▶ └ in 250 ms: …  ┘
    """

    def __init__(self, wake_up: Callable[[], None]) -> None:
        """``wake_up`` interrupts the herder's wait. It is called if a request comes before all others."""
        self._wake_up = wake_up
        self._lock = threading.Lock()
        self._sequence = itertools.count()
        self._queue: list[HerderRequest] = []
        self._closed = False

    def add(self, action: Callable[[], T], at_ms: float) -> Future[T]:
        """Have the herder make a call at a time (monotonic). Fails with ConnectError if the worker stops before."""
        future: Future[T] = Future()
        with self._lock:
            request = HerderRequest(at_ms, next(self._sequence), action, future)
            if not self._closed:
                heapq.heappush(self._queue, request)
            is_closed, is_first = self._closed, self._queue[:1] == [request]
        if is_closed:
            _refuse(request)
        elif is_first:
            self._wake_up()
        return future

    def take_due(self, now_ms: float) -> HerderRequest | None:
        """The next request whose time has come; it is removed."""
        with self._lock:
            if self._queue and self._queue[0].at_ms <= now_ms:
                return heapq.heappop(self._queue)
            return None

    def time_to_next_ms(self, now_ms: float) -> float:
        """How long to wait for the time of the next request; infinity if there is none."""
        with self._lock:
            return max(0.0, self._queue[0].at_ms - now_ms) if self._queue else math.inf

    def close(self) -> None:
        """Fail all requests, and those that come later."""
        with self._lock:
            self._closed = True
            refused, self._queue = self._queue, []
        for request in refused:
            _refuse(request)


def _refuse(request: HerderRequest) -> None:
    if request.future.set_running_or_notify_cancel():
        request.future.set_exception(ConnectError("Worker is shutting down"))
