"""The queues between the network threads and the request handlers.

Kafka 0.10.2: core/.../network/RequestChannel.scala (Response, ResponseAction) · book 2.3.3
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.large_requests import LARGE_PRODUCES_AT_ONCE, OF_CONTROLLER, LargeRequests
from kafka_lite.network.memory_pool import MemoryPool
from kafka_lite.network.request import Request
from kafka_lite.network.request_log import log_completed, request_logger
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.api_key import ApiKey

SMALL_RESPONSE_BYTES: Final = 64 * 1024
LOG_LEVEL_CHECK_INTERVAL_MS: Final = 100.0
"""How often the level of the request log is checked: a check costs much beside a small request."""


class ResponseAction(Enum):
    """The processor's action for a response."""

    SEND = "SendAction"
    NO_OP = "NoOpAction"
    """Nothing to send (acks=0): the processor reads the connection's next request."""
    CLOSE_CONNECTION = "CloseConnectionAction"
    START_THROTTLING = "StartThrottlingAction"
    """A quota delays the connection: read nothing more from it, also after the response, which follows."""
    END_THROTTLING = "EndThrottlingAction"
    """The delay is over: read on."""


# Python 3.11 looks up a member of an Enum on every access: a cost on every response.
_NO_OP: Final = ResponseAction.NO_OP


class Response:
    """The end of a request, or of its delay by a quota. Only ``ResponseAction.SEND`` has a ``send``."""

    __slots__ = ("action", "request", "send")

    def __init__(
        self, request: Request, send: NetworkSend | None = None, action: ResponseAction = ResponseAction.SEND
    ) -> None:
        self.request = request
        self.send = send
        self.action = action

    @property
    def lets_following_begin(self) -> bool:
        """False if the connection ends or is delayed, or if the response is large: these must not pile up."""
        if self.request.api_throttle_time_ms:
            return False
        if self.send is not None:
            return self.send.size_in_bytes <= SMALL_RESPONSE_BYTES
        return self.action is _NO_OP

    @property
    def ends_request(self) -> bool:
        """False if it only says that a delay begins or ends."""
        return self.action is not ResponseAction.START_THROTTLING and self.action is not ResponseAction.END_THROTTLING


QuickHandler = Callable[[Request], Request | None]
"""Handles a request in the calling thread if it need not wait, then those that its client sent after it. Returns the
first one that is left, which must be queued."""


class RequestChannel:
    """One queue of requests for all request handlers, one queue of responses for each processor.

    Any handler may take any request; the response must go back to the processor that owns the connection. The request
    queue is bounded by ``queued.max.requests``: if the handlers cannot keep up, the processors block in
    ``send_request`` and read nothing more from the network. The response queues need no bound, since a connection has
    at most one request in progress.

    Because of the GIL, handing a request to another thread costs several times what a quick request costs. So requests
    can bypass the queue: ``dispatch`` first offers them to the *quick handler*, if there is one.
    """

    def __init__(self, num_processors: int, queue_size: int, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._queue_size = queue_size
        # SimpleQueue is written in C and needs no Condition for a hand-over; _wait_for_room adds the bound.
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self.large_requests = LargeRequests(self._requests.put)
        self.large_produces = LargeRequests(self._requests.put, LARGE_PRODUCES_AT_ONCE)
        self.large_requests_of_controller = LargeRequests(self._requests.put)
        self.heavy_requests = LargeRequests(self._requests.put)
        """Decoded requests that must not be handled beside each other; a handler sends them here."""
        self._lanes = (
            self.large_requests, self.large_produces, self.large_requests_of_controller, self.heavy_requests,
        )  # fmt: skip
        self.memory_pool = MemoryPool()
        """The memory of large requests; a socket server sets its size, ``queued.max.request.bytes``."""
        self._responses: list[deque[Response]] = [deque() for _ in range(num_processors)]
        self.quick_handler: QuickHandler | None = None
        """Called by ``dispatch``. None: every request is queued, as in Kafka."""
        self._response_listeners: list[Callable[[int], None]] = []
        self._completion_listeners: list[Callable[[Request, float], None]] = []
        self.on_connection_ended: Callable[[str], None] | None = None
        """Called by network threads with the id of a connection that has ended."""
        self._is_logging_requests = False
        self._log_level_checked_ms = -LOG_LEVEL_CHECK_INTERVAL_MS
        self._room = threading.Condition()
        self._waiting_processors = 0
        self._closed = False

    # ── Requests: from the processors to the handlers ─────────────────────────────────────────────────────────────

    def dispatch(self, request: Request) -> None:
        """Offer a request to the quick handler, and queue the rest: the request itself, or one that follows it."""
        left: Request | None = request
        quick_handler = self.quick_handler  # read only once: a shutdown sets it to None
        if quick_handler is not None:
            left = quick_handler(request)
        if left is not None:
            self.send_request(left)

    def send_request(self, request: Request) -> None:
        """Queue a request for the handlers; blocks while ``queue_size`` requests are waiting.

        Checking the size and putting are two steps, so each processor can overshoot the bound by one request.
        """
        if self._requests.qsize() >= self._queue_size:
            self._wait_for_room()
        self._requests.put(request)

    def send_large_request(self, request: Request) -> None:
        """Queue a request that is not decoded yet, after the large requests of its kind before it. Never blocks."""
        api_key = request.header.api_key
        if api_key in OF_CONTROLLER:
            self.large_requests_of_controller.send(request)
        elif api_key == ApiKey.PRODUCE:
            self.large_produces.send(request)
        else:
            self.large_requests.send(request)

    def let_next_in(self, request: Request) -> None:
        """The handler is done with a request, before which others wait if it is a large or a heavy one."""
        for lane in self._lanes:
            lane.completed(request)

    def _wait_for_room(self) -> None:
        """Wait until the request queue is not full, or the channel is closed."""
        with self._room:
            # Counted before the queue is checked again: a handler that makes room after that check sees the count.
            self._waiting_processors += 1
            try:
                while self._requests.qsize() >= self._queue_size and not self._closed:
                    self._room.wait()
            finally:
                self._waiting_processors -= 1

    def receive_request(self, timeout_ms: float | None = None) -> Request | None:
        """The next request; None for ``wake_up_handler``, or after ``timeout_ms`` (None: no limit) without one."""
        try:
            request = self._requests.get(timeout=None if timeout_ms is None else timeout_ms / 1000)
        except queue.Empty:
            return None
        if self._waiting_processors:
            with self._room:
                self._room.notify()
        return request

    def wake_up_handler(self) -> None:
        """Make one ``receive_request`` return None after the requests that wait: this is how a pool ends a thread."""
        self._requests.put(None)

    @property
    def num_processors(self) -> int:
        """How many processors there are, numbered from 0."""
        return len(self._responses)

    @property
    def request_queue_size(self) -> int:
        """Requests that wait for a handler."""
        return self._requests.qsize() + sum(map(len, self._lanes))

    # ── Responses: from any thread back to the processor of the connection ────────────────────────────────────────

    def send_response(self, response: Response) -> None:
        """Give a response to the processor that owns its connection, and wake that processor up. Never blocks."""
        request = response.request
        request.response_complete_time_ms = self._time.hi_res_ms()
        request.following_may_begin = response.lets_following_begin
        self._responses[request.processor].append(response)
        for on_response in self._response_listeners:
            on_response(request.processor)

    def no_operation(self, request: Request) -> None:
        """The request has no response; its connection stays open."""
        self.send_response(Response(request, action=_NO_OP))

    def close_connection(self, request: Request) -> None:
        """The request cannot get a response: close its connection."""
        self.send_response(Response(request, action=ResponseAction.CLOSE_CONNECTION))

    def start_throttling(self, request: Request) -> None:
        """Mute the request's connection until ``end_throttling``. Call it before the response is sent."""
        self._tell_processor(request, ResponseAction.START_THROTTLING)

    def end_throttling(self, request: Request) -> None:
        """Read on, once the request has its response."""
        self._tell_processor(request, ResponseAction.END_THROTTLING)

    def _tell_processor(self, request: Request, action: ResponseAction) -> None:
        """Queue what does not end the request."""
        self._responses[request.processor].append(Response(request, action=action))
        for on_response in self._response_listeners:
            on_response(request.processor)

    def receive_response(self, processor: int) -> Response | None:
        """The next response for a processor; None if there is none now."""
        try:
            response = self._responses[processor].popleft()
        except IndexError:
            return None
        if response.ends_request:
            response.request.response_dequeue_time_ms = self._time.hi_res_ms()
        return response

    def receive_responses(self, processor: int) -> list[Response]:
        """All responses that wait for a processor now."""
        waiting = self._responses[processor]
        if not waiting:
            return []
        now_ms = self._time.hi_res_ms()
        responses = [waiting.popleft() for _ in range(len(waiting))]  # others may append meanwhile, but not take
        for response in responses:
            request = response.request
            if request.response_dequeue_time_ms < 0:  # the end of a delay comes long after the response
                request.response_dequeue_time_ms = now_ms
        return responses

    def response_queue(self, processor: int) -> deque[Response]:
        """The queue of one processor, which looks several times per request whether it is empty."""
        return self._responses[processor]

    @property
    def response_queue_size(self) -> int:
        """Responses that wait for their processors."""
        return sum(map(len, self._responses))

    def response_queue_size_of(self, processor: int) -> int:
        """Responses that wait for one processor."""
        return len(self._responses[processor])

    # ── Listeners ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_response_listener(self, on_response: Callable[[int], None]) -> None:
        """Call ``on_response(processor)`` after each response that is put into that processor's queue."""
        self._response_listeners.append(on_response)

    def add_completion_listener(self, on_completion: Callable[[Request, float], None]) -> None:
        """Call ``on_completion(request, end_time_ms)`` in the network thread for each request that has ended.

        ``Request.times`` says how long each phase took; a listener can work that out later, for many requests at once.
        """
        self._completion_listeners.append(on_completion)

    def request_completed(self, request: Request) -> None:
        """The last byte of the response was sent, or there was none to send, or the connection is closed."""
        if request.lease is not None:
            request.lease.release()
        end_time_ms = self._time.hi_res_ms()
        for on_completion in self._completion_listeners:
            on_completion(request, end_time_ms)
        if end_time_ms - self._log_level_checked_ms >= LOG_LEVEL_CHECK_INTERVAL_MS:
            self._log_level_checked_ms = end_time_ms
            self._is_logging_requests = request_logger.isEnabledFor(logging.DEBUG)
        if self._is_logging_requests:
            log_completed(request, request.times(end_time_ms))

    def shutdown(self) -> None:
        """Drop the requests that wait, and release processors that wait for room."""
        with self._room:
            self._closed = True
            self._room.notify_all()
        for lane in self._lanes:
            lane.clear()
        while True:
            try:
                self._requests.get_nowait()
            except queue.Empty:
                return
