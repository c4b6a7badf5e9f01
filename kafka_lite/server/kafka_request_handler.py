"""The threads that handle requests.

Kafka 0.10.2: core/.../server/KafkaRequestHandler.scala · book 2.3.4
"""

from __future__ import annotations

import logging
from typing import Protocol

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.request_channel import Request, RequestChannel

logger = logging.getLogger(__name__)


class ApiRequestHandler(Protocol):
    """What knows the answers: KafkaApis, or a stand-in in a test."""

    def handle(self, request: Request) -> None:
        """Answer through the request channel, now or later; must not raise for what a client can do."""
        ...


class KafkaRequestHandler(ShutdownableThread):
    """Takes a request from the channel, gives it to the apis, takes the next one."""

    def __init__(self, number: int, request_channel: RequestChannel, apis: ApiRequestHandler, time: Time) -> None:
        super().__init__(f"kafka-request-handler-{number}")
        self._request_channel = request_channel
        self._apis = apis
        self._time = time

    def do_work(self) -> None:
        """Wait for a request and handle it, and those that its client sent behind it."""
        request = self._request_channel.receive_request()
        while request is not None:  # None: woken up to stop
            request = self._handle(request)

    def _handle(self, request: Request) -> Request | None:
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
            request.api_local_complete_time_ms = self._time.hi_res_ms()
        return request.take_following() if request.following_may_begin else None


class KafkaRequestHandlerPool:
    """``num.io.threads`` handlers on one request channel; they run from the start."""

    def __init__(
        self, num_threads: int, request_channel: RequestChannel, apis: ApiRequestHandler, time: Time = SYSTEM_TIME
    ) -> None:
        self._request_channel = request_channel
        self._handlers = [KafkaRequestHandler(number, request_channel, apis, time) for number in range(num_threads)]
        for handler in self._handlers:
            handler.start()

    def shutdown(self) -> None:
        """Let the requests at work end, then stop."""
        for handler in self._handlers:
            handler.initiate_shutdown()
        for _ in self._handlers:
            self._request_channel.wake_up_handler()
        for handler in self._handlers:
            handler.await_shutdown()
