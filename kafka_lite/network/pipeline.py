"""The requests of one connection that are in progress, and their responses.

Kafka 0.10.2: core/.../network/SocketServer.scala (Processor.inflightResponses) · book 2.3.2
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Final

from kafka_lite.network.request import ClientInformation, Request
from kafka_lite.network.request_channel import Response
from kafka_lite.network.send import NetworkSend

MAX_PIPELINED_REQUESTS: Final = 16
"""How many requests of one connection go to a handler at once: see ``Request.following``."""


class Pipeline:
    """A processor's state for one of its connections.

    A client that pipelines sends requests without waiting for the responses. Requests of a connection are handled one
    at a time, in the order in which they came, but those that have arrived go to the handler together, as a chain::

        frames that have arrived ─▶ request ─ following ─▶ request ─ following ─▶ request    one of them is handled
                                       │
        socket ◀─ send ◀── responses ◀─┘                                                     in the same order
    """

    __slots__ = (
        "client_address",
        "client_information",
        "connection_id",
        "in_progress",
        "is_throttled",
        "responses",
        "throttled_after",
    )

    def __init__(self, connection_id: str, client_address: str) -> None:
        self.connection_id = connection_id
        self.client_address = client_address
        """IP address of the peer."""
        self.client_information = ClientInformation()
        self.in_progress: Request | None = None
        """The request that is being handled; those behind it follow it. None if there is none."""
        self.responses: deque[Response] = deque()
        """The responses that are not out yet, in the order of their requests; the first one may be partly out."""
        self.is_throttled = False
        """Whether a quota delays the connection: it stays muted when the response is out."""
        self.throttled_after: Request | None = None
        """The last request that ended during the delay; the next one begins, or is read, when the delay is over."""

    def join_waiting(self, send: NetworkSend) -> None:
        """Append to the first response's frame the later ones that can be sent in the same system call."""
        for response in itertools.islice(self.responses, 1, None):
            if response.send is None:
                break
            send.append(response.send)

    def client_has_left(self) -> None:
        """Tell the requests in progress that nobody reads their responses any more."""
        request = self.in_progress
        while request is not None:
            request.note_client_left()
            request = request.following
