"""The request handlers: threads that take requests from the channel and handle them.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala (KafkaRequestHandlerPool); resized: Kafka 1.1 · book 2.3.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext
from time import monotonic
from typing import Final, Protocol

from kafka_lite.common.kafka_thread import KafkaThread
from kafka_lite.common.process.garbage import without_collections
from kafka_lite.common.process.short_turns import short_turns
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_parser import InvalidRequestError, parse_request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.pointless_requests import is_pointless
from kafka_lite.server.replication.controller_requests import LargeRequestChecks

logger = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_S: Final = 10.0
"""How long a stopping broker waits for requests in progress. Service managers kill a process after 30 to 90 s."""


class ApiRequestHandler(Protocol):
    """Handles requests: KafkaApis, or a replacement in a test."""

    def handle(self, request: Request) -> None:
        """Respond through the request channel, now or later. Must not raise for anything that a client can send."""
        ...


class KafkaRequestHandler:
    """Takes a request from the channel, passes it to the apis, and takes the next one. Run by a ``KafkaThread``."""

    def __init__(
        self,
        number: int,
        request_channel: RequestChannel,
        apis: ApiRequestHandler,
        time: Time,
        is_heavy: Callable[[Request], bool] = lambda _request: False,
        large_requests: LargeRequestChecks | None = None,
    ) -> None:
        """``is_heavy``: whether a request must not be handled beside others of which this is true.

        ``large_requests`` may refuse a large request before it is decoded.
        """
        self.number = number
        self._large_requests = large_requests
        self._request_channel = request_channel
        self._apis = apis
        self._time = time
        self._is_heavy = is_heavy
        self.on_stop: Callable[[], object] = _do_nothing
        """Called when this handler has taken the signal to stop; ends the handler's thread."""
        # Total idle time, and since when it has been idle again: one value, so that readers never see half a change.
        self._idle: tuple[float, float | None] = (0.0, time.hi_res_ms())

    def idle_ms(self) -> float:
        """How long this handler has been idle, in ms."""
        total_ms, since_ms = self._idle
        return total_ms if since_ms is None else total_ms + self._time.hi_res_ms() - since_ms

    def do_work(self) -> None:
        """Wait for a request and handle it, then handle the pipelined requests behind it."""
        request = self._request_channel.receive_request()
        idle_ms = self.idle_ms()
        self._idle = (idle_ms, None)
        if request is None:
            self.on_stop()
            return
        while request is not None:
            if _is_for_nobody(request):
                request = self._drop(request)
            elif request.frame is not None:
                self._handle_large(request)
                request = None
            else:
                request = self._handle_or_divert(request)
        self._idle = (idle_ms, self._time.hi_res_ms())

    def _drop(self, request: Request) -> Request | None:
        """End a request without handling it. Return the pipelined request behind it, which may write something."""
        logger.debug("Dropping a request of %s, apiKey %s", request.connection_id, request.header.api_key)
        request.request_dequeue_time_ms = self._time.hi_res_ms()
        request.frame = None
        self._request_channel.let_next_in(request)
        self._request_channel.no_operation(request)
        return request.take_following() if request.following_may_begin else None

    def _handle_large(self, request: Request) -> None:
        """Decode and handle a request that came without its body.

        It becomes a hundred thousand objects, which go as they came: full collections would look at them again and
        again meanwhile, holding the GIL for a tenth of a second each. Meanwhile others get the GIL sooner.
        """
        with without_collections(), short_turns():
            if not self._decode(request):
                self._request_channel.let_next_in(request)
            elif _is_for_nobody(request):  # its client has left meanwhile
                self._drop(request)
            else:
                self._handle_or_divert(request)

    def _handle_or_divert(self, request: Request) -> Request | None:
        """Handle a request, or queue it behind others that must not be handled beside each other.

        If it is a large one, too, the next one is let in when it has been handled: both are in memory until then.
        """
        heavy_requests = self._request_channel.heavy_requests
        is_heavy = request in heavy_requests
        if not is_heavy and self._is_heavy(request):
            heavy_requests.send(request)
            return None
        try:
            with short_turns() if is_heavy else nullcontext():
                return self.handle(request)
        finally:
            self._request_channel.let_next_in(request)

    def _decode(self, request: Request) -> bool:
        """Decode the body; false if the request has ended here: refused, or not a request.

        In the latter case the connection is closed, as by a processor.
        """
        frame = request.frame
        assert frame is not None
        request.request_dequeue_time_ms = self._time.hi_res_ms()
        try:
            if self._large_requests is not None and self._large_requests.refuse(request):
                return False
            max_elements = None if self._large_requests is None else self._large_requests.max_elements(request)
            _, request.body, _ = parse_request(frame, max_elements)
            if request.lease is not None and request.header.api_key != ApiKey.PRODUCE:
                request.lease.release()  # as in Kafka: it may wait long for its response, and its bytes are gone
            return True
        except InvalidRequestError as error:
            logger.warning("Closing connection %s: %s", request.connection_id, error)
        except Exception:
            logger.exception("Closing connection %s: its request cannot be decoded", request.connection_id)
        finally:
            request.frame = None
        self._request_channel.close_connection(request)
        return False

    def wake_up(self) -> None:
        """No-op: the pool wakes a handler through the channel, and any handler will do."""

    def handle(self, request: Request) -> Request | None:
        """Handle one request. Return the pipelined request behind it if that may start now.

        It is dequeued now. If handling it raises an Exception, its connection is closed, and nobody else is affected.
        Its local time ends with the response if there is one by now, otherwise now, unless the apis have said when.
        """
        request.request_dequeue_time_ms = self._time.hi_res_ms()
        try:
            self._apis.handle(request)
        except Exception:
            # An error of ours. Its client learns of it because the connection closes; no other client is affected.
            logger.exception(
                "Error when handling a request of %s, apiKey %s", request.connection_id, request.header.api_key
            )
            self._request_channel.close_connection(request)
        if request.api_local_complete_time_ms < 0:
            responded_ms = request.response_complete_time_ms
            request.api_local_complete_time_ms = responded_ms if responded_ms >= 0 else self._time.hi_res_ms()
        return request.take_following() if request.following_may_begin else None


class KafkaRequestHandlerPool:
    """``num.io.threads`` request handlers on one request channel. They start at once."""

    def __init__(
        self,
        num_threads: int,
        request_channel: RequestChannel,
        apis: ApiRequestHandler,
        time: Time = SYSTEM_TIME,
        is_heavy: Callable[[Request], bool] = lambda _request: False,
        large_requests: LargeRequestChecks | None = None,
    ) -> None:
        """``is_heavy`` and ``large_requests`` are those of ``KafkaRequestHandler``."""
        self._large_requests = large_requests
        self._request_channel = request_channel
        self._apis = apis
        self._time = time
        self._is_heavy = is_heavy
        self._lock = threading.Lock()
        self._is_shut_down = False
        self._size = 0
        # By number, including handlers that have been told to stop and have not ended yet.
        self._handlers: dict[int, KafkaRequestHandler] = {}
        self._threads: dict[int, KafkaThread] = {}
        self._ended_idle_ms = 0.0
        self._idle_at_resize_ms = (0.0, 0.0)  # the mean of a thread, and the sum of all
        self._start_handlers(num_threads)

    def _start_handlers(self, num_threads: int) -> None:
        """Start handlers until there are ``num_threads``, using the lowest free numbers."""
        number = 0
        while self._size < num_threads:
            if number not in self._handlers:
                self._start_handler(number)
            number += 1

    def _start_handler(self, number: int) -> None:
        handler = KafkaRequestHandler(
            number, self._request_channel, self._apis, self._time, self._is_heavy, self._large_requests
        )
        thread = KafkaThread(f"kafka-request-handler-{number}", handler)
        handler.on_stop = thread.initiate_shutdown
        thread.start()
        self._handlers[number], self._threads[number] = handler, thread
        self._size += 1

    def resize(self, num_threads: int) -> None:
        """Change the number of handlers to ``num_threads``, at least one.

        New handlers start at once. Surplus ones stop after the requests that are queued now, each once it has finished
        its current request: no request is lost, and ``resize`` does not wait for that. A no-op after ``shutdown``.
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
        for number in [number for number, thread in self._threads.items() if not thread.is_alive()]:
            self._ended_idle_ms += self._handlers.pop(number).idle_ms()
            del self._threads[number]

    def average_idle_ns(self) -> float:
        """The mean idle time of a handler; RequestHandlerAvgIdlePercent is its rate."""
        with self._lock:
            return self._average_idle_ms(self._total_idle_ms()) * 1_000_000

    def _average_idle_ms(self, total_ms: float) -> float:
        average_ms, of_all_ms = self._idle_at_resize_ms
        return average_ms + (total_ms - of_all_ms) / max(self._size, 1)

    def _total_idle_ms(self) -> float:
        return self._ended_idle_ms + sum(handler.idle_ms() for handler in self._handlers.values())

    def shutdown(self, timeout_s: float = SHUTDOWN_TIMEOUT_S) -> None:
        """Let each handler finish its current request, then stop. One that takes longer is left behind."""
        with self._lock:
            self._is_shut_down = True  # no handler starts any more: it might take the wake-up of another one
            threads = list(self._threads.values())
        for thread in threads:
            thread.initiate_shutdown()
        for _ in threads:
            self._request_channel.wake_up_handler()
        deadline_s = monotonic() + timeout_s
        for thread in threads:
            thread.await_shutdown(max(deadline_s - monotonic(), 0))
        busy = [thread.name for thread in threads if thread.is_alive()]
        if busy:
            logger.warning("Stopping while %s still handle a request", ", ".join(sorted(busy)))


def _is_for_nobody(request: Request) -> bool:
    return request.client_has_left and is_pointless(request)


def _do_nothing() -> None:
    """The ``on_stop`` of a handler without a thread."""
