"""A request in the broker, and the times of its passage through it.

Kafka 0.10.2: core/.../network/RequestChannel.scala (Request) · book 2.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kafka_lite.common.security.kafka_principal import ANONYMOUS
from kafka_lite.network.memory_pool import MemoryLease
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message

_UNSET_MS: Final = -1.0


UNKNOWN_SOFTWARE: Final = "unknown"


class ClientInformation:
    """The software at the other end of a connection, as its ApiVersions request has said (KIP-511)."""

    __slots__ = ("software_name", "software_version")

    def __init__(self) -> None:
        self.software_name = self.software_version = UNKNOWN_SOFTWARE


class Request:
    """A request with everything the broker knows about it, and the times at which it changed hands.

    ::

        processor          handler                          (purgatory)                processor
        start ─ queued ─▶ request_dequeue ─ local ─▶ api_local_complete ─ remote ─▶ response_complete
                                                      response_dequeue ─ send ─▶ (the last byte is out)

    The times are readings of ``Time.hi_res_ms``; -1 means that the request has not got there yet.
    """

    __slots__ = (
        "_following_taken",
        "_on_client_left",
        "api_local_complete_time_ms",
        "api_remote_complete_time_ms",
        "api_throttle_time_ms",
        "body",
        "client_address",
        "client_has_left",
        "client_information",
        "connection_id",
        "following",
        "following_may_begin",
        "frame",
        "header",
        "lease",
        "listener_name",
        "principal",
        "processor",
        "record_network_thread_time",
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
        self.frame: memoryview | None = None
        """The bytes of a large request until a handler decodes them; ``body`` is not valid until then."""
        self.lease: MemoryLease | None = None  # of ``frame``, or of the records of a large Produce request
        self.size_in_bytes = size_in_bytes
        """Size of the frame without its prefix."""
        self.start_time_ms = start_time_ms
        self.unsupported_api_version = unsupported_api_version
        """True for an ApiVersions request of an unknown version: it gets error 35, others close their connections."""
        self.client_information: ClientInformation | None = None  # None for a request of this broker to itself
        self.principal = ANONYMOUS  # the user that sent it, as the connection proved
        self.following: Request | None = None
        """The request that the client sent before it had the response to this one. It begins when this one has it: in
        the same thread if that comes at once, otherwise through the processor."""
        self.following_may_begin = False
        """Whether this request has its response, the connection stays open, and the response is not a large one."""
        self.request_dequeue_time_ms = _UNSET_MS
        self.api_local_complete_time_ms = _UNSET_MS
        self.api_remote_complete_time_ms = _UNSET_MS
        self.response_complete_time_ms = _UNSET_MS
        self.response_dequeue_time_ms = _UNSET_MS
        self.api_throttle_time_ms = 0.0
        """How long a quota delays the connection because of this request: see ``RequestHandlerHelper``."""
        self.record_network_thread_time: Callable[[float], None] | None = None
        """Gets the network thread's time for this request, in ms, once it has ended; None if there are no quotas."""
        self.client_has_left = False
        """Whether the client has closed the connection: the response can only be thrown away."""
        self._following_taken: threading.Lock | None = None
        self._on_client_left: Callable[[], object] | None = None

    def follow_with(self, request: Request) -> None:
        """Make ``request`` the following one."""
        self.following = request
        self._following_taken = threading.Lock()

    def take_following(self) -> Request | None:
        """The following request, for the first caller; None for every other caller, and if there is none."""
        if self._following_taken is None or not self._following_taken.acquire(blocking=False):
            return None
        return self.following

    def when_client_leaves(self, do: Callable[[], object] | None) -> None:
        """Call ``do`` when the client leaves, or now if it has left. It may be called twice, and from any thread.

        It replaces an earlier one; None: do nothing.
        """
        self._on_client_left = do
        if self.client_has_left and do is not None:  # read after the other is set, as note_client_left does
            do()

    def note_client_left(self) -> None:
        """The network thread has found the connection closed."""
        self.client_has_left = True
        do = self._on_client_left
        if do is not None:
            do()

    def times(self, end_time_ms: float) -> RequestTimes:
        """How long each phase took, if the last byte of the response was out at ``end_time_ms``.

        A request that did not wait in a purgatory has no remote time. If another thread responded before the handler
        returned, the local mark is missing or late; no phase is negative. The throttle time is that of a response which
        was held back, or of a connection that is muted once the response is out; the latter is no part of the total.
        """
        complete = self.response_complete_time_ms
        local = self.api_local_complete_time_ms if self.api_local_complete_time_ms >= 0 else complete
        remote = self.api_remote_complete_time_ms if self.api_remote_complete_time_ms >= 0 else complete
        return RequestTimes(
            request_queue_ms=max(self.request_dequeue_time_ms - self.start_time_ms, 0),
            local_ms=max(local - self.request_dequeue_time_ms, 0),
            remote_ms=max(remote - local, 0),
            throttle_ms=max(complete - remote, self.api_throttle_time_ms),
            response_queue_ms=max(self.response_dequeue_time_ms - complete, 0),
            response_send_ms=max(end_time_ms - self.response_dequeue_time_ms, 0),
            total_ms=end_time_ms - self.start_time_ms,
        )


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """The phases of one request, in ms. Kafka's RequestMetrics are made of them."""

    request_queue_ms: float
    local_ms: float
    remote_ms: float
    throttle_ms: float
    response_queue_ms: float
    response_send_ms: float
    total_ms: float
