"""What a thread does that handles a request, whichever thread it is.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala (run) · book 2.3.4
"""

from __future__ import annotations

import logging
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel

logger = logging.getLogger(__name__)


class ApiRequestHandler(Protocol):
    """What knows the answers: KafkaApis, or a stand-in in a test."""

    def handle(self, request: Request) -> None:
        """Answer through the request channel, now or later; must not raise for what a client can do."""
        ...


class RequestRunner:
    """What every thread does that handles a request, be it a request handler or a network thread."""

    def __init__(self, request_channel: RequestChannel, apis: ApiRequestHandler, time: Time) -> None:
        self._request_channel = request_channel
        self._apis = apis
        self._time = time

    def run(self, request: Request) -> Request | None:
        """Handle one request; the one to go on with, if its client sent another behind it and it is answered."""
        request.request_dequeue_time_ms = self._time.hi_res_ms()
        try:
            self._apis.handle(request)
        except Exception:
            # An error of ours. The client learns of it by the end of its connection, and other clients not at all.
            logger.exception(
                "Error when handling a request of %s, apiKey %s", request.connection_id, request.header.api_key
            )
            self._request_channel.close_connection(request)
        if request.api_local_complete_time_ms < 0:
            answered_ms = request.response_complete_time_ms
            request.api_local_complete_time_ms = answered_ms if answered_ms >= 0 else self._time.hi_res_ms()
        return request.take_following() if request.following_may_begin else None
