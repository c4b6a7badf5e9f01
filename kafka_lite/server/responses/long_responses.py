"""Responses with many elements: encoded in slices, counted as memory, and not made for clients that have left.

Kafka 0.10.2: none; there a response is serialized in one go, and only the heap bounds them · book 2.3.5
"""

from __future__ import annotations

import copy
import logging
import time
from typing import Final

from kafka_lite.common.process.short_turns import short_turns
from kafka_lite.common.sendable import Buffer, Part, size_of
from kafka_lite.network.memory_pool import MemoryLease
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_channel import Response as ChannelResponse
from kafka_lite.network.request_log import request_logger
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.framing import encode_response_slices
from kafka_lite.protocol.schema import Message, Response
from kafka_lite.protocol.wire_types import Array

logger = logging.getLogger(__name__)

PAUSE_S: Final = 0.0001
"""How long the encoding thread sleeps between slices: a thread that waits for the GIL takes it then. Without a sleep
the encoding thread would take it again before the other one is awake."""


class LongResponses:
    """Encodes and sends long responses.

    ::

        a network thread    ──┤ other requests ├──┤ other requests ├──────────┤ the buffers, one after the other
        the handler         slice ──▶ lease · sleep ─ slice ──▶ lease · sleep ─ ... ─▶ send_response

    The bytes of all long responses have one bound, ``queued.max.request.bytes``. Clients that read slowly could fill
    the memory otherwise, each with a response that it does not take. The connection of one more is closed.
    """

    def __init__(self, channel: RequestChannel) -> None:
        self._channel = channel

    def send(self, request: Request, version: int, response: Response) -> None:
        """Encode a response in slices and send it. Raises ``SchemaError``.

        Ends the request without a response if the client leaves meanwhile, and closes the connection for want of
        memory.
        """
        lease = self._channel.memory_pool.new_response()
        parts: list[Part] = []
        with short_turns():
            for slice_ in encode_response_slices(response, version, request.header.correlation_id):
                if parts:
                    time.sleep(PAUSE_S)
                if request.client_has_left:
                    self._channel.no_operation(request)
                    return
                if not lease.grow(_bytes_in_memory(slice_)):
                    self._refuse(request)
                    return
                parts += slice_
        self._send(request, NetworkSend(request.connection_id, parts), lease)

    def send_encoded(self, request: Request, send: NetworkSend, parts: list[Part]) -> None:
        """Send a response whose ``parts`` have many bytes, which count as well; slices of files do not."""
        lease = self._channel.memory_pool.new_response()
        if lease.grow(_bytes_in_memory(parts)):
            self._send(request, send, lease)
        else:
            self._refuse(request)

    def _send(self, request: Request, send: NetworkSend, lease: MemoryLease) -> None:
        send.lease = lease  # ends with it, when the last byte is out or the connection has ended
        if not request_logger.isEnabledFor(logging.DEBUG):
            # Fifty thousand elements take ten times as much as their response, which its client may read slowly.
            request.body = _without_arrays(request.body)
        self._channel.send_response(ChannelResponse(request, send))

    def _refuse(self, request: Request) -> None:
        logger.warning(
            "Closing connection %s: responses that clients have not read yet take all memory of responses",
            request.connection_id,
        )
        self._channel.close_connection(request)


def _bytes_in_memory(parts: list[Part]) -> int:
    return sum(size_of(part) for part in parts if isinstance(part, Buffer))


def _without_arrays(body: Message) -> Message:
    """The same message with empty arrays. Metrics look at its numbers when the response is out."""
    rest = copy.copy(body)
    for field in body.FIELDS:
        if isinstance(field.type, Array):
            setattr(rest, field.name, [])
    return rest
