"""Connections that a quota keeps waiting, and the thread that releases them.

Kafka 0.10.2: core/.../server/ThrottledResponse.scala, ClientQuotaManager.scala (ThrottledRequestReaper); since 2.0
ThrottledChannel.java, ThrottleCallback.java · book 10.1
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time

logger = logging.getLogger(__name__)

POLL_TIMEOUT_MS = 1000


class ThrottleCallback(Protocol):
    """The effects of a delay on a connection::

    since 2.0     the response goes out at once          the channel is muted ┄┄┄┄┄┄┄▶ and unmuted
                  start_throttling                                             ◀delay▶ end_throttling

    until then    the response is held back ┄┄┄┄┄┄┄▶ and goes out: see ThrottledResponse
    """

    def start_throttling(self) -> None:
        """The delay begins: mute the channel."""
        ...

    def end_throttling(self) -> None:
        """The delay is over: unmute the channel, unless something else keeps it muted."""
        ...


class ThrottledResponse:
    """A ThrottleCallback that holds back the response to a request of an old version, as 0.10.2 does with all.

    Clients of these versions do not wait by themselves after a response with a throttle time.
    """

    def __init__(self, throttle_time_ms: int, send: Callable[[int], None]) -> None:
        """``send`` gets the throttle time, which the response carries."""
        self._throttle_time_ms = throttle_time_ms
        self._send = send

    def start_throttling(self) -> None:
        """Do nothing: while a response is missing, the channel is muted."""

    def end_throttling(self) -> None:
        """Send the response."""
        self._send(self._throttle_time_ms)


class ThrottledChannel:
    """A connection that waits until ``end_ms``."""

    def __init__(self, time: Time, throttle_time_ms: int, callback: ThrottleCallback) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.end_ms = time.hi_res_ms() + throttle_time_ms
        self._callback = callback
        callback.start_throttling()

    def notify_throttling_done(self) -> None:
        """The delay is over."""
        logger.debug("A channel was throttled for %d ms", self.throttle_time_ms)
        self._callback.end_throttling()


class DelayQueue:
    """Channels by the end of their delays (java.util.concurrent.DelayQueue)."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._changed = threading.Condition()
        self._sequence = itertools.count()
        self._heap: list[tuple[float, int, ThrottledChannel]] = []
        self._is_woken = False

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, channel: ThrottledChannel) -> None:
        """Put a channel in. Of equal ends, the one that came first goes first."""
        with self._changed:
            heapq.heappush(self._heap, (channel.end_ms, next(self._sequence), channel))
            self._changed.notify()

    def poll(self, timeout_ms: float) -> ThrottledChannel | None:
        """Wait for the first channel whose delay is over and take it out; None after ``timeout_ms``, or ``wake``."""
        with self._changed:
            deadline_ms = self._time.hi_res_ms() + timeout_ms
            while not self._is_woken:
                now_ms = self._time.hi_res_ms()
                end_ms = self._heap[0][0] if self._heap else deadline_ms
                if self._heap and end_ms <= now_ms:
                    return heapq.heappop(self._heap)[2]
                if now_ms >= deadline_ms:
                    return None
                self._time.wait(self._changed, min(end_ms, deadline_ms) - now_ms)
            self._is_woken = False
            return None

    def wake(self) -> None:
        """Let a thread that waits in ``poll``, or the next one that calls it, return at once."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()


class ThrottledChannelReaper(ShutdownableThread):
    """Takes the channels whose delays are over from a queue, and releases them."""

    def __init__(self, name: str, queue: DelayQueue, on_taken: Callable[[], None]) -> None:
        """``on_taken`` is called for each channel that leaves the queue."""
        super().__init__(name)
        self._queue = queue
        self._on_taken = on_taken

    def do_work(self) -> None:
        """Release one channel, or wait for a second."""
        channel = self._queue.poll(POLL_TIMEOUT_MS)
        if channel is None:
            return
        self._on_taken()
        try:
            channel.notify_throttling_done()
        except Exception:
            # One connection that is broken must not keep all the others waiting for ever.
            logger.exception("A throttled channel could not be released")

    def wake_up(self) -> None:
        """Interrupt the wait."""
        self._queue.wake()
