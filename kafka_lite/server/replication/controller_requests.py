"""The controller's large requests: what their heads say before their bodies are decoded.

Kafka 0.10.2: none; there a request is decoded whole before anything looks at it · book 7.2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.network.large_requests import OF_CONTROLLER
from kafka_lite.network.request import Request
from kafka_lite.network.request_parser import InvalidRequestError
from kafka_lite.protocol.framing import decode_request_head
from kafka_lite.protocol.schema import MAX_ELEMENTS_OF_CLIENTS, Message
from kafka_lite.protocol.schema_error import SchemaError


class LargeRequestChecks(Protocol):
    """The questions of a request handler about a large request, before it decodes the body."""

    def refuse(self, request: Request) -> bool:
        """Whether the request has been refused, with its response sent. Raises InvalidRequestError."""
        ...

    def max_elements(self, request: Request) -> int | None:
        """How many elements its arrays may have; None: as many as a request of its API may have."""
        ...


class ControllerRequests:
    """Refuses a request by the numbers at its start, before a million elements become as many objects.

    ::

        frame   header | controller_id  controller_epoch  broker_epoch | partitions …
                         └──────────── read first ────────────┘          decoded unless these are refused

    Where a broker has a listener for brokers only, the controller uses that one. What comes in through another one has
    the bound of clients' requests.
    """

    def __init__(self, refuse: Callable[[Request, Message], bool], inter_broker_listener_name: str) -> None:
        """``refuse`` gets a request and its head; if it refuses them, it sends the response and returns True."""
        self._refuse = refuse
        self._inter_broker_listener_name = inter_broker_listener_name

    def refuse(self, request: Request) -> bool:
        """Refuse a request whose sender may not send it, or whose epochs are stale. Raises InvalidRequestError."""
        if request.header.api_key not in OF_CONTROLLER:
            return False
        assert request.frame is not None
        try:
            head = decode_request_head(request.frame)
        except SchemaError as error:
            raise InvalidRequestError(str(error)) from error
        return self._refuse(request, head)

    def max_elements(self, request: Request) -> int | None:
        """The bound of clients for a request of the controller that came through another listener than brokers use."""
        if request.header.api_key in OF_CONTROLLER and request.listener_name != self._inter_broker_listener_name:
            return MAX_ELEMENTS_OF_CLIENTS
        return None
