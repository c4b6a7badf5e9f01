"""Handles quick requests where they have been read, without a passage from thread to thread.

Kafka 0.10.2: none; there every request goes through the request queue · book 2.3.4
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.server.request_runner import RequestRunner

SHUTDOWN_LOOK_S = 0.001
"""How long shutdown sleeps before it looks again whether requests are at work."""


class InlineRequestHandler:
    """Handles requests in the network threads that have read them, as far as those are quick.

    ::

        Processor ─▶ RequestChannel.dispatch ─┬─ quick ───▶ InlineRequestHandler, here and now ─▶ response queue
                                              └─ else ─▶ request queue ─▶ KafkaRequestHandler ─▶ response queue

    Computing is no reason to hand a request over: only one thread at a time runs Python, so a handler that computes
    keeps the network threads waiting just the same. Waiting is one: for the disk (fsync), for ZooKeeper, for room in
    a queue.
    """

    def __init__(
        self, request_channel: RequestChannel, runner: RequestRunner, is_quick: Callable[[Request], bool]
    ) -> None:
        self._request_channel = request_channel
        self._runner = runner
        self._is_quick = is_quick
        # Of each network thread, whether it handles a request: how shutdown knows that none does.
        self._at_work = [False] * request_channel.num_processors

    def start(self) -> None:
        """Handle what the network threads dispatch from now on."""
        self._request_channel.quick_handler = self.handle

    def handle(self, request: Request) -> Request | None:
        """Handle a request and those behind it until one is not quick, which is returned."""
        left: Request | None = request
        self._at_work[request.processor] = True
        try:
            # Looked at after at_work has been set, and by shutdown in the other order: one of them sees the other.
            while left is not None and self._request_channel.quick_handler is not None and self._is_quick(left):
                left = self._runner.run(left)
        finally:
            self._at_work[request.processor] = False
        return left

    def shutdown(self) -> None:
        """Let the requests at work end; what comes from now on is queued."""
        self._request_channel.quick_handler = None
        while any(self._at_work):
            time.sleep(SHUTDOWN_LOOK_S)
