"""The queues between the network threads and the request handlers.

Kafka 0.10.2: core/.../network/RequestChannel.scala · book 2.3.3
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request_log import log_completed, request_logger
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message

SMALL_RESPONSE_BYTES: Final = 64 * 1024
LOOK_AT_LOG_LEVEL_EVERY_MS: Final = 100.0
"""So often the log of requests is asked whether anybody reads it: the question is dear beside a small request."""

_UNSET_MS: Final = -1.0


class Request:
    """A request on its way through the broker, with the times at which it passed from one hand to the next.

    ::

        processor          handler                          (purgatory)                processor
        start ─ queued ─▶ request_dequeue ─ local ─▶ api_local_complete ─ remote ─▶ response_complete
                                                      response_dequeue ─ send ─▶ (the last byte is out)

    The times are readings of ``Time.hi_res_ms``; -1 where the request has not been yet.
    """

    __slots__ = (
        "_following_taken",
        "api_local_complete_time_ms",
        "api_remote_complete_time_ms",
        "body",
        "client_address",
        "connection_id",
        "following",
        "following_may_begin",
        "header",
        "listener_name",
        "principal",
        "processor",
        "request_dequeue_time_ms",
        "response_complete_time_ms",
        "response_dequeue_time_ms",
        "security_protocol",
        "size_in_bytes",
        "start_time_ms",
        "unsupported_api_version",
    )

    def __init__(
        self,
        processor: int,
        connection_id: str,
        listener_name: str,
        security_protocol: str,
        client_address: str,
        header: RequestHeader,
        body: Message,
        size_in_bytes: int,
        start_time_ms: float,
        unsupported_api_version: bool = False,
    ) -> None:
        self.processor = processor
        """Number of the processor that owns the connection."""
        self.connection_id = connection_id
        self.listener_name = listener_name
        self.security_protocol = security_protocol
        self.client_address = client_address
        """IP address of the peer."""
        self.header = header
        self.body = body
        self.size_in_bytes = size_in_bytes
        """Size of the frame without its prefix."""
        self.start_time_ms = start_time_ms
        self.unsupported_api_version = unsupported_api_version
        """An ApiVersions request of a version nobody knows: the one that is answered (error 35) and not refused."""
        self.principal = "User:ANONYMOUS"
        self.following: Request | None = None
        """The request that the client sent behind this one without waiting for the answer. It begins when this one is
        answered: in the same handler if that happens at once, else by way of the processor. See ``take_following``."""
        self.following_may_begin = False
        """Whether this request has been answered, the connection goes on, and the client need not read much first."""
        self.request_dequeue_time_ms = _UNSET_MS
        self.api_local_complete_time_ms = _UNSET_MS
        self.api_remote_complete_time_ms = _UNSET_MS
        self.response_complete_time_ms = _UNSET_MS
        self.response_dequeue_time_ms = _UNSET_MS
        self._following_taken: threading.Lock | None = None

    def follow_with(self, request: Request) -> None:
        """Let ``request`` be the following one."""
        self.following = request
        self._following_taken = threading.Lock()

    def take_following(self) -> Request | None:
        """The following request, for the first who asks; None for anybody else, and when there is none."""
        if self._following_taken is None or not self._following_taken.acquire(blocking=False):
            return None
        return self.following

    def times(self, end_time_ms: float) -> RequestTimes:
        """How long each phase took, when the answer was out at ``end_time_ms``.

        A request that did not wait in a purgatory has no remote time. One that was answered by another thread before
        its handler returned may lack the local mark, or have it late: no phase is negative.
        """
        complete = self.response_complete_time_ms
        local = self.api_local_complete_time_ms if self.api_local_complete_time_ms >= 0 else complete
        remote = self.api_remote_complete_time_ms if self.api_remote_complete_time_ms >= 0 else complete
        return RequestTimes(
            request_queue_ms=max(self.request_dequeue_time_ms - self.start_time_ms, 0),
            local_ms=max(local - self.request_dequeue_time_ms, 0),
            remote_ms=max(remote - local, 0),
            throttle_ms=max(complete - remote, 0),
            response_queue_ms=max(self.response_dequeue_time_ms - complete, 0),
            response_send_ms=max(end_time_ms - self.response_dequeue_time_ms, 0),
            total_ms=end_time_ms - self.start_time_ms,
        )


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """The phases of one request, in ms: what Kafka's RequestMetrics are made of."""

    request_queue_ms: float
    local_ms: float
    remote_ms: float
    throttle_ms: float
    response_queue_ms: float
    response_send_ms: float
    total_ms: float


class ResponseAction(Enum):
    """What the processor is to do with a response."""

    SEND = "SendAction"
    NO_OP = "NoOpAction"
    """Nothing to send (acks=0): read the connection's next request."""
    CLOSE_CONNECTION = "CloseConnectionAction"


# Python 3.11 computes a member of an Enum anew whenever it is asked for, which is a cost for every response.
_NO_OP: Final = ResponseAction.NO_OP


class Response:
    """The end of a request; ``send`` is there for ``ResponseAction.SEND`` only."""

    __slots__ = ("action", "request", "send")

    def __init__(
        self, request: Request, send: NetworkSend | None = None, action: ResponseAction = ResponseAction.SEND
    ) -> None:
        self.request = request
        self.send = send
        self.action = action

    @property
    def lets_following_begin(self) -> bool:
        """Not after the end of a connection. Nor after much, lest answers pile up for a client that does not read."""
        if self.send is not None:
            return self.send.size_in_bytes <= SMALL_RESPONSE_BYTES
        return self.action is _NO_OP


QuickHandler = Callable[[Request], Request | None]
"""Handles a request in the calling thread if that needs no waiting, and then those that its client sent behind it;
returns the first that is left, which must be queued."""


class RequestChannel:
    """One queue of requests for all handlers, one queue of responses for each processor.

    Any handler may take any request; the answer must go back to the processor that owns the connection. The request
    queue is bounded by ``queued.max.requests``: when the handlers cannot keep up, the processors stand still in
    ``send_request`` and read nothing more from the network. Responses are not bounded, for there is at most one per
    connection.

    From thread to thread a request takes several times as long as a quick one is at work, for only one thread at a time
    runs Python. So there can be a way around the queue, the *quick handler*: ``dispatch`` asks it first.
    """

    def __init__(self, num_processors: int, queue_size: int, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._queue_size = queue_size
        # SimpleQueue is written in C and hands over without Python's Condition; the bound is added in _wait_for_room.
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._responses: list[deque[Response]] = [deque() for _ in range(num_processors)]
        self.quick_handler: QuickHandler | None = None
        """Called by ``dispatch``; None: every request is queued, as in Kafka."""
        self._response_listeners: list[Callable[[int], None]] = []
        self._completion_listeners: list[Callable[[Request, float], None]] = []
        self._is_logging_requests = False
        self._looked_at_log_level_ms = -LOOK_AT_LOG_LEVEL_EVERY_MS
        self._room = threading.Condition()
        self._waiting_processors = 0
        self._closed = False

    # ── Requests: from the processors to the handlers ─────────────────────────────────────────────────────────────

    def dispatch(self, request: Request) -> None:
        """Let the quick handler have a request, and queue it (or one behind it) if there is something left to do."""
        left: Request | None = request
        quick_handler = self.quick_handler  # looked at once: a shutdown takes it away
        if quick_handler is not None:
            left = quick_handler(request)
        if left is not None:
            self.send_request(left)

    def send_request(self, request: Request) -> None:
        """Queue a request for the handlers; blocks while ``queue_size`` are waiting already.

        Looking and putting are two steps, so several processors can overshoot the bound by one request each.
        """
        if self._requests.qsize() >= self._queue_size:
            self._wait_for_room()
        self._requests.put(request)

    def _wait_for_room(self) -> None:
        """Wait until the queue of requests is not full, or the channel is closed."""
        with self._room:
            # Raised before the queue is looked at again: a handler that makes room after that look sees the mark.
            self._waiting_processors += 1
            try:
                while self._requests.qsize() >= self._queue_size and not self._closed:
                    self._room.wait()
            finally:
                self._waiting_processors -= 1

    def receive_request(self, timeout_ms: float | None = None) -> Request | None:
        """The next request; None after ``timeout_ms`` without one (None: wait for ever), or for ``wake_up_handler``."""
        try:
            request = self._requests.get(timeout=None if timeout_ms is None else timeout_ms / 1000)
        except queue.Empty:
            return None
        if self._waiting_processors:
            with self._room:
                self._room.notify()
        return request

    def wake_up_handler(self) -> None:
        """Make one ``receive_request`` return None, behind the requests that wait: so a pool tells a thread to end."""
        self._requests.put(None)

    @property
    def num_processors(self) -> int:
        """How many processors there are, numbered from 0."""
        return len(self._responses)

    @property
    def request_queue_size(self) -> int:
        """Requests that wait for a handler."""
        return self._requests.qsize()

    # ── Responses: from anybody back to the processor of the connection ───────────────────────────────────────────

    def send_response(self, response: Response) -> None:
        """Give a response to the processor that owns its connection, and wake that up. Never blocks."""
        request = response.request
        request.response_complete_time_ms = self._time.hi_res_ms()
        request.following_may_begin = response.lets_following_begin
        self._responses[request.processor].append(response)
        for on_response in self._response_listeners:
            on_response(request.processor)

    def no_operation(self, request: Request) -> None:
        """The request has no answer; its connection goes on."""
        self.send_response(Response(request, action=_NO_OP))

    def close_connection(self, request: Request) -> None:
        """The request cannot be answered; its connection is closed."""
        self.send_response(Response(request, action=ResponseAction.CLOSE_CONNECTION))

    def receive_response(self, processor: int) -> Response | None:
        """The next response for a processor, None when there is none now."""
        try:
            response = self._responses[processor].popleft()
        except IndexError:
            return None
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
            response.request.response_dequeue_time_ms = now_ms
        return responses

    @property
    def response_queue_size(self) -> int:
        """Responses that wait for their processors."""
        return sum(map(len, self._responses))

    def response_queue_size_of(self, processor: int) -> int:
        """Responses that wait for one processor."""
        return len(self._responses[processor])

    # ── Listeners ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_response_listener(self, on_response: Callable[[int], None]) -> None:
        """Call ``on_response(processor)`` after each response put into that processor's queue."""
        self._response_listeners.append(on_response)

    def add_completion_listener(self, on_completion: Callable[[Request, float], None]) -> None:
        """Call ``on_completion(request, end_time_ms)`` in the network thread for each request that has ended.

        ``Request.times`` tells how long each phase took; whoever needs that of many requests can work it out later.
        """
        self._completion_listeners.append(on_completion)

    def request_completed(self, request: Request) -> None:
        """The last byte of the answer is out, or there was none to send, or nobody to take it."""
        end_time_ms = self._time.hi_res_ms()
        for on_completion in self._completion_listeners:
            on_completion(request, end_time_ms)
        if end_time_ms - self._looked_at_log_level_ms >= LOOK_AT_LOG_LEVEL_EVERY_MS:
            self._looked_at_log_level_ms = end_time_ms
            self._is_logging_requests = request_logger.isEnabledFor(logging.DEBUG)
        if self._is_logging_requests:
            log_completed(request, request.times(end_time_ms))

    def shutdown(self) -> None:
        """Drop the requests that wait and let go of processors that wait for room."""
        with self._room:
            self._closed = True
            self._room.notify_all()
        while True:
            try:
                self._requests.get_nowait()
            except queue.Empty:
                return
