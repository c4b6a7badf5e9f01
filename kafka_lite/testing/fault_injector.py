"""Wraps the request handlers of a test broker: logs requests and injects faults.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handle) · book 2.3.5
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.request_channel import Response as ChannelResponse
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.error_responses import error_response, mark_metadata, merge_responses
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.kafka_apis import OWN_CONNECTION
from kafka_lite.testing.damaged_send import CutSend, SlowSend, join_parts
from kafka_lite.testing.fault import Ending, Fault
from kafka_lite.testing.fault_list import FaultList
from kafka_lite.testing.request_log import RequestLog
from kafka_lite.testing.shifted_time import ShiftedTime

logger = logging.getLogger(__name__)

OWN_CLIENT_ID = "kafka-lite-testing"
"""The client.id of the cluster's own helpers: their requests are neither logged nor affected by faults."""


class FaultInjector:
    """Applies the faults of one broker and of its cluster; the first one that matches a request applies to it.

    ::

        processor ─▶ handler thread ─▶ [ note ─▶ paused? ─▶ fault? ─▶ delay ] ─▶ handler of the API
                                                              │                     │ respond
        processor ◀── close, error ◀──────────────────────────┘   ◀── [ delay ─▶ drop, cut, slow ]

    Delays do not block the broker's threads: the remaining steps run as a scheduler task. The injector survives broker
    restarts.
    """

    def __init__(
        self,
        time: ShiftedTime,
        faults: Sequence[FaultList],
        requests: RequestLog,
        clients_requests: RequestLog | None,
        broker_id: int | None,
        sender_of: Callable[[Request], int | None],
    ) -> None:
        """``requests`` logs all requests; ``clients_requests``, which all brokers share, only those of clients.

        ``broker_id`` is None in a cluster of one; ``sender_of`` finds the broker that has sent a request.
        """
        self.requests = requests
        self._clients_requests = clients_requests
        self._time = time
        self._faults = faults
        self._broker_id = broker_id
        self._sender_of = sender_of
        self._lock = threading.Lock()
        self._scheduler: KafkaScheduler | None = None
        self._paused = False
        self._held: list[Callable[[], None]] = []

    # ── for tests ─────────────────────────────────────────────────────────────────────────────────────────────────

    def pause(self) -> None:
        """Stop handling requests and sending responses, like a stopped process; connections stay open."""
        with self._lock:
            self._paused = True

    def resume(self) -> None:
        """Continue, first with what has piled up, in order."""
        while True:
            with self._lock:
                held, self._held = self._held, []
                if not held:
                    self._paused = False
                    return
            for step in held:
                step()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Pause for the duration of the block."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def shutdown(self) -> None:
        """Discard requests and responses that are held or delayed."""
        with self._lock:
            scheduler, self._scheduler = self._scheduler, None
            self._held.clear()
            self._paused = False
        if scheduler is not None:
            scheduler.shutdown()

    # ── for the broker ────────────────────────────────────────────────────────────────────────────────────────────

    def wrap(self, key: ApiKey, handler: Handler, channel: Callable[[], RequestChannel]) -> Handler:
        """A handler that logs, applies faults, and calls ``handler``."""

        def intercepted(request: Request, body: Any, respond: Respond) -> None:
            if request.connection_id == OWN_CONNECTION or request.header.client_id == OWN_CLIENT_ID:
                handler(request, body, respond)
                return
            sender = self._sender_of(request)
            now_ms = self._time.milliseconds()
            seen = self.requests.add(key, request, now_ms, broker_id=self._broker_id, from_broker=sender)
            if self._clients_requests is not None and sender is None:
                self._clients_requests.append(seen)
            taken = (faults.take(key, request.header, body, sender) for faults in self._faults)
            fault = next((fault for fault in taken if fault is not None), None)
            passage = _Passage(request, body, respond, handler, channel(), self)
            if fault is None:
                self.pass_gate(passage.guarded(passage.handle))
            else:
                seen.fault = str(fault)
                self.pass_gate(lambda: self.after(fault.delay_ms, passage.guarded(lambda: passage.meet(fault))))

        return intercepted

    def pass_gate(self, step: Callable[[], None]) -> None:
        """Run ``step`` now, or at the end of the pause."""
        with self._lock:
            if self._paused:
                self._held.append(step)
                return
        step()

    def after(self, delay_ms: float, step: Callable[[], None]) -> None:
        """Run ``step`` now, or after a delay on the broker's clock."""
        if not delay_ms:
            step()
            return
        with self._lock:
            if self._scheduler is None:
                self._scheduler = KafkaScheduler(1, "kafka-lite-faults-", self._time)
                self._scheduler.startup()
            self._scheduler.schedule("a delayed request", step, delay_ms)


class _Passage:
    """One request on its way to its handler and back."""

    def __init__(
        self,
        request: Request,
        body: Any,
        respond: Respond,
        handler: Handler,
        channel: RequestChannel,
        injector: FaultInjector,
    ) -> None:
        self._request = request
        self._body = body
        self._respond = respond
        self._handler = handler
        self._channel = channel
        self._injector = injector

    def handle(self) -> None:
        """Handle without a fault; a pause that begins meanwhile still holds the response."""
        self._handler(self._request, self._body, self._respond_after_pause)

    def _respond_after_pause(self, response: Response | None) -> None:
        self._injector.pass_gate(lambda: self._respond(response))

    def guarded(self, step: Callable[[], None]) -> Callable[[], None]:
        """Wrap ``step``, which may run in a thread that does not handle its exceptions."""
        key = self._request.header.api_key

        def run() -> None:
            try:
                step()
            except Exception:
                logger.exception("Error when handling a request of %s, api key %d", self._request.connection_id, key)
                self._close()

        return run

    def meet(self, fault: Fault) -> None:
        """Apply the fault, after its delay."""
        if fault.ending is Ending.DROP_REQUEST:
            self._close()
        elif fault.error is not None:
            self._fail(fault, fault.error)
        else:
            self._handler(self._request, self._body, self._later(fault, lambda response: self._end(fault, response)))

    def _later(self, fault: Fault, end: Respond) -> Respond:
        """A ``respond`` that first waits for the fault's response delay and for a pause to end."""

        def respond(response: Response | None) -> None:
            step = self.guarded(lambda: end(response))
            self._injector.after(fault.response_delay_ms, lambda: self._injector.pass_gate(step))

        return respond

    def _close(self) -> None:
        self._channel.close_connection(self._request)

    # ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _fail(self, fault: Fault, error: Errors) -> None:
        version = self._request.header.api_version
        respond = self._later(fault, self._respond)
        if self._request.header.api_key == ApiKey.METADATA:
            self._fail_metadata(fault, error, respond)
            return
        split = error_response(self._body, version, error, fault.selects if fault.is_partial else None)
        if split.rest is None:
            self._respond_error(split.response, respond)
        elif split.response is None:
            self._handler(self._request, split.rest, respond)
        else:
            self._fail_partly(split.response, split.rest, version, respond)

    def _respond_error(self, response: Response | None, respond: Respond) -> None:
        """Respond with the error; with acks=0, which has no response, close the connection instead."""
        if getattr(self._body, "acks", None) == 0:
            self._close()
        else:
            respond(response)

    def _fail_partly(self, errors: Response, rest: Any, version: int, respond: Respond) -> None:
        def merged(real: Response | None) -> None:
            if real is None:
                self._respond_error(None, respond)
                return
            merge_responses(errors, real, version)
            respond(real)

        self._handler(self._request, rest, merged)

    def _fail_metadata(self, fault: Fault, error: Errors, respond: Respond) -> None:
        def marked(real: Response | None) -> None:
            if real is not None:
                mark_metadata(real, error, fault.selects)
            respond(real)

        self._handler(self._request, self._body, marked)

    # ── damaged responses ─────────────────────────────────────────────────────────────────────────────────────────

    def _end(self, fault: Fault, response: Response | None) -> None:
        if fault.ending is Ending.DROP_RESPONSE:
            self._close()
        elif response is None or fault.ending is Ending.RESPONSE:
            self._respond(response)
        elif fault.ending in (Ending.CUT_RESPONSE, Ending.SLOW_RESPONSE):
            self._send_damaged(fault, response)

    def _send_damaged(self, fault: Fault, response: Response) -> None:
        header = self._request.header
        data = join_parts(encode_response(response, header.api_version, header.correlation_id))
        cut = fault.ending is Ending.CUT_RESPONSE
        part = CutSend(data, fault.cut_after_bytes) if cut else SlowSend(data, fault.bytes_per_s)
        send = NetworkSend(self._request.connection_id, [part])
        self._channel.send_response(ChannelResponse(self._request, send))
