"""The threads that handle requests.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala; resized: Kafka 1.1 · book 2.3.4
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.server.inline_request_handler import InlineRequestHandler
from kafka_lite.server.request_runner import ApiRequestHandler, RequestRunner


class KafkaRequestHandler(ShutdownableThread):
    """Takes a request from the channel, gives it to the apis, takes the next one; ends when it is given none."""

    def __init__(self, number: int, request_channel: RequestChannel, runner: RequestRunner, time: Time) -> None:
        super().__init__(f"kafka-request-handler-{number}")
        self.number = number
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
        request = self._request_channel.receive_request()
        idle_ms = self.idle_ms()
        self._idle = (idle_ms, None)
        if request is None:  # woken up to stop
            self.initiate_shutdown()
            return
        while request is not None:
            request = self._runner.run(request)
        self._idle = (idle_ms, self._time.hi_res_ms())


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
        self._time = time
        self._runner = RequestRunner(request_channel, apis, time)
        self._lock = threading.Lock()
        self._is_shut_down = False
        self._size = 0
        self._handlers: list[KafkaRequestHandler] = []  # those, too, that are yet to end
        self._ended_idle_ms = 0.0
        self._idle_at_resize_ms = (0.0, 0.0)  # of a thread in the mean, and of all
        self._start_handlers(num_threads)
        self._inline_handler: InlineRequestHandler | None = None
        if is_quick is not None:
            self._inline_handler = InlineRequestHandler(request_channel, self._runner, is_quick)
            self._inline_handler.start()

    def _start_handlers(self, num_threads: int) -> None:
        """Until there are so many, with the lowest numbers that are free."""
        taken = {handler.number for handler in self._handlers}
        free = (number for number in itertools.count() if number not in taken)
        for number in itertools.islice(free, num_threads - self._size):
            handler = KafkaRequestHandler(number, self._request_channel, self._runner, self._time)
            handler.start()
            self._handlers.append(handler)
            self._size += 1

    def resize(self, num_threads: int) -> None:
        """So many threads from now on; at least one.

        More of them begin at once. Those that are too many end behind the requests that wait now, each when it has
        nothing at hand any more: no request is lost, and nobody waits for that here. Nothing happens after the end.
        """
        with self._lock:
            if self._is_shut_down:
                return
            total_ms = self._total_idle_ms()
            self._idle_at_resize_ms = (self._average_idle_ms(total_ms), total_ms)
            self._forget_ended()
            while self._size > num_threads:
                self._request_channel.wake_up_handler()
                self._size -= 1
            self._start_handlers(num_threads)

    def _forget_ended(self) -> None:
        ended = [handler for handler in self._handlers if not handler.is_alive()]
        self._ended_idle_ms += sum(handler.idle_ms() for handler in ended)
        self._handlers = [handler for handler in self._handlers if handler not in ended]

    def average_idle_ns(self) -> float:
        """For how long a thread has had nothing to do, in the mean: RequestHandlerAvgIdlePercent is the rate of it."""
        with self._lock:
            return self._average_idle_ms(self._total_idle_ms()) * 1_000_000

    def _average_idle_ms(self, total_ms: float) -> float:
        average_ms, of_all_ms = self._idle_at_resize_ms
        return average_ms + (total_ms - of_all_ms) / max(self._size, 1)

    def _total_idle_ms(self) -> float:
        return self._ended_idle_ms + sum(handler.idle_ms() for handler in self._handlers)

    def shutdown(self) -> None:
        """Let the requests at work end, then stop."""
        if self._inline_handler is not None:
            self._inline_handler.shutdown()
        with self._lock:
            self._is_shut_down = True  # no handler begins any more: it might take what is to wake up another one
            handlers = list(self._handlers)
        for handler in handlers:
            handler.initiate_shutdown()
        for _ in handlers:
            self._request_channel.wake_up_handler()
        for handler in handlers:
            handler.await_shutdown()
