"""The threads that handle requests.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala · book 2.3.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request_channel import Request, RequestChannel

logger = logging.getLogger(__name__)


class ApiRequestHandler(Protocol):
    """What knows the answers: KafkaApis, or a stand-in in a test."""

    def handle(self, request: Request) -> None:
        """Answer through the request channel, now or later; must not raise for what a client can do."""
        ...


class RequestRunner:
    """What every thread does that handles a request, be it a request handler or a network thread."""

    def __init__(self, request_channel: RequestChannel, apis: ApiRequestHandler, time: Time) -> None:
        self._request_channel = request_channel
        self._apis = apis
        self._time = time

    def run(self, request: Request) -> Request | None:
        """Handle one request; the one to go on with, if its client sent another behind it and it is answered."""
        request.request_dequeue_time_ms = self._time.hi_res_ms()
        try:
            self._apis.handle(request)
        except Exception:
            # An error of ours. The client learns of it by the end of its connection, and other clients not at all.
            logger.exception(
                "Error when handling a request of %s, apiKey %s", request.connection_id, request.header.api_key
            )
            self._request_channel.close_connection(request)
        if request.api_local_complete_time_ms < 0:
            request.api_local_complete_time_ms = self._time.hi_res_ms()
        return request.take_following() if request.following_may_begin else None


class KafkaRequestHandler(ShutdownableThread):
    """Takes a request from the channel, gives it to the apis, takes the next one."""

    def __init__(self, number: int, request_channel: RequestChannel, runner: RequestRunner, time: Time) -> None:
        super().__init__(f"kafka-request-handler-{number}")
        self._request_channel = request_channel
        self._runner = runner
        self._time = time
        # How long it has waited in all, and since when it waits again: one value, so that nobody sees half a change.
        self._idle: tuple[float, float | None] = (0.0, time.hi_res_ms())

    def idle_ms(self) -> float:
        """For how long this thread has had nothing to do, up to now."""
        total_ms, since_ms = self._idle
        return total_ms if since_ms is None else total_ms + self._time.hi_res_ms() - since_ms

    def do_work(self) -> None:
        """Wait for a request and handle it, and those that its client sent behind it."""
        self._idle = (self._idle[0], self._time.hi_res_ms())
        request = self._request_channel.receive_request()
        self._idle = (self.idle_ms(), None)
        while request is not None:  # None: woken up to stop
            request = self._runner.run(request)


class InlineRequestHandler:
    """Handles requests in the network threads that have read them, as far as those are quick.

    ::

        Processor ─▶ RequestChannel.dispatch ─┬─ quick ───▶ InlineRequestHandler, here and now ─▶ response queue
                                              └─ else ─▶ request queue ─▶ KafkaRequestHandler ─▶ response queue

    Computing is no reason to hand a request over: only one thread at a time runs Python, so a handler that computes
    keeps the network threads waiting just the same. Waiting is one: for the disk (fsync), for ZooKeeper, for room in
    a queue.
    """

    def __init__(
        self, request_channel: RequestChannel, runner: RequestRunner, is_quick: Callable[[Request], bool]
    ) -> None:
        self._request_channel = request_channel
        self._runner = runner
        self._is_quick = is_quick
        # One per network thread, held while that handles a request: how shutdown knows that none does.
        self._at_work = [threading.Lock() for _ in range(request_channel.num_processors)]

    def start(self) -> None:
        """Handle what the network threads dispatch from now on."""
        self._request_channel.quick_handler = self.handle

    def handle(self, request: Request) -> Request | None:
        """Handle a request and those behind it until one is not quick, which is returned."""
        left: Request | None = request
        with self._at_work[request.processor]:
            # (Not after a shutdown that came between the look at quick_handler and the lock.)
            while left is not None and self._request_channel.quick_handler is not None and self._is_quick(left):
                left = self._runner.run(left)
        return left

    def shutdown(self) -> None:
        """Let the requests at work end; what comes from now on is queued."""
        self._request_channel.quick_handler = None
        for lock in self._at_work:
            with lock:
                pass


class KafkaRequestHandlerPool:
    """``num.io.threads`` handlers on one request channel, which run from the start.

    Given ``is_quick``, they get those requests only of which it says no: see ``InlineRequestHandler``.
    """

    def __init__(
        self,
        num_threads: int,
        request_channel: RequestChannel,
        apis: ApiRequestHandler,
        time: Time = SYSTEM_TIME,
        is_quick: Callable[[Request], bool] | None = None,
    ) -> None:
        self._request_channel = request_channel
        runner = RequestRunner(request_channel, apis, time)
        self._handlers = [KafkaRequestHandler(number, request_channel, runner, time) for number in range(num_threads)]
        self._inline_handler: InlineRequestHandler | None = None
        for handler in self._handlers:
            handler.start()
        if is_quick is not None:
            self._inline_handler = InlineRequestHandler(request_channel, runner, is_quick)
            self._inline_handler.start()

    def average_idle_ns(self) -> float:
        """For how long a thread has had nothing to do, in the mean: RequestHandlerAvgIdlePercent is the rate of it."""
        return sum(handler.idle_ms() for handler in self._handlers) / len(self._handlers) * 1_000_000

    def shutdown(self) -> None:
        """Let the requests at work end, then stop."""
        if self._inline_handler is not None:
            self._inline_handler.shutdown()
        for handler in self._handlers:
            handler.initiate_shutdown()
        for _ in self._handlers:
            self._request_channel.wake_up_handler()
        for handler in self._handlers:
            handler.await_shutdown()
