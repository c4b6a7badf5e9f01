"""Requests that are sent, or being sent, and have no response yet.

Kafka 0.10.2: clients/.../clients/InFlightRequests.java, NetworkClient.java (InFlightRequest) · book 2.1.3
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from kafka_lite.clients.client_request import ClientRequest, ClientResponse
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.schema import Response


@dataclass(frozen=True)
class InFlightRequest:
    """A request in flight, with the version that was chosen for it."""

    request: ClientRequest
    api_version: int
    send: NetworkSend
    send_time_ms: float
    is_internal: bool = False
    """Whether it is the network client's own (metadata, versions), so that no caller learns of its outcome."""

    def deadline_ms(self, default_timeout_ms: float) -> float:
        """When the request times out."""
        timeout_ms = self.request.request_timeout_ms
        return self.send_time_ms + (default_timeout_ms if timeout_ms is None else timeout_ms)

    def completed(self, response: Response | None, now_ms: float) -> ClientResponse:
        """The outcome of a request that is complete, with its response if one was expected."""
        return self._ended(response, now_ms, was_disconnected=False)

    def disconnected(self, now_ms: float) -> ClientResponse:
        """The outcome of a request whose connection was lost."""
        return self._ended(None, now_ms, was_disconnected=True)

    def _ended(self, response: Response | None, now_ms: float, was_disconnected: bool) -> ClientResponse:
        request = self.request
        return ClientResponse(
            api_key=request.builder.api_key,
            api_version=self.api_version,
            correlation_id=request.correlation_id,
            destination=request.destination,
            created_time_ms=request.created_time_ms,
            received_time_ms=now_ms,
            was_disconnected=was_disconnected,
            response=response,
            callback=request.callback,
        )


class InFlightRequests:
    """A queue for each broker. Requests enter at the left and leave at the right, because responses keep their order.

    ::

        add ─▶ [ newest │ … │ … │ oldest ] ─▶ complete_next: the next response belongs to the oldest
                  ▲ complete_last_sent: the newest expected no response
    """

    def __init__(self, max_in_flight_requests_per_connection: int) -> None:
        self._max = max_in_flight_requests_per_connection
        self._requests: dict[str, deque[InFlightRequest]] = {}

    def add(self, request: InFlightRequest) -> None:
        """Add a request that is about to be sent."""
        self._requests.setdefault(request.request.destination, deque()).appendleft(request)

    def complete_next(self, node: str) -> InFlightRequest:
        """Remove the oldest request, whose response has arrived. Raises LookupError if there is none."""
        return self._queue(node).pop()

    def last_sent(self, node: str) -> InFlightRequest:
        """The newest request. Raises LookupError if there is none."""
        return self._queue(node)[0]

    def complete_last_sent(self, node: str) -> InFlightRequest:
        """Remove the newest request, which expects no response. Raises LookupError if there is none."""
        return self._queue(node).popleft()

    def can_send_more(self, node: str) -> bool:
        """Whether the last request is completely sent, and fewer requests are in flight than allowed.

        Without the first condition, a second request could be queued after one that does not fit into the socket. It
        could not be taken back from there, while its batches could still grow in the accumulator.
        """
        queue = self._requests.get(node)
        return not queue or (queue[0].send.completed and len(queue) < self._max)

    def count(self, node: str | None = None) -> int:
        """The number of requests in flight, to one broker or to all."""
        if node is not None:
            return len(self._requests.get(node, ()))
        return sum(map(len, self._requests.values()))

    def clear_all(self, node: str) -> list[InFlightRequest]:
        """Remove all requests to a broker; returns them, the oldest first."""
        return list(reversed(self._requests.pop(node, deque())))

    def nodes_with_timed_out_requests(self, now_ms: float, request_timeout_ms: float) -> list[str]:
        """The brokers whose oldest request has timed out, by its own timeout or by this default."""
        return [
            node
            for node, queue in self._requests.items()
            if queue and now_ms >= queue[-1].deadline_ms(request_timeout_ms)
        ]

    def next_timeout_ms(self, now_ms: float, request_timeout_ms: float) -> float:
        """The time until the first request times out, ms, at least 0; infinity if none is in flight."""
        first = min(
            (queue[-1].deadline_ms(request_timeout_ms) for queue in self._requests.values() if queue), default=math.inf
        )
        return max(0.0, first - now_ms)

    def _queue(self, node: str) -> deque[InFlightRequest]:
        queue = self._requests.get(node)
        if not queue:
            raise LookupError(f"there are no in-flight requests to node {node}")
        return queue
