"""The threads that handle requests.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala · book 2.3.4
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request_channel import Request, RequestChannel
from kafka_lite.server.inline_request_handler import InlineRequestHandler
from kafka_lite.server.request_runner import ApiRequestHandler, RequestRunner


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
