"""A network client that blocks, for the user's thread and the heartbeat thread.

Kafka 0.10.2: clients/.../consumer/internals/ConsumerNetworkClient.java · book 4.2.3
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from kafka_lite.clients.client_request import ClientRequest, ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.clients.request_future import DisconnectError, RequestFuture
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.timer import Timer
from kafka_lite.protocol.schema_error import SchemaError

logger = logging.getLogger(__name__)

MAX_POLL_TIMEOUT_MS = 5000.0


class _RequestHandler:
    """A request, its future, and the outcome with which the future is to be completed."""

    __slots__ = ("awaits_connection", "background", "created_ms", "error", "future", "request", "response")

    def __init__(self, created_ms: float, background: bool) -> None:
        self.future: RequestFuture[ClientResponse] = RequestFuture()
        self.created_ms = created_ms
        self.background = background
        self.awaits_connection = False
        """Whether it was the next to be sent, and its node was not ready."""
        self.request: ClientRequest
        self.response: ClientResponse | None = None
        self.error: Exception | None = None

    def fire(self) -> None:
        """Complete the future, which runs its listeners."""
        if self.error is not None:
            self.future.fail(self.error)
            return
        response = self.response
        assert response is not None
        if response.was_disconnected:
            logger.debug("Cancelled %s request to node %s: disconnected", response.api_key.name, response.destination)
            self.future.fail(DisconnectError(f"Disconnected from node {response.destination}"))
        elif response.version_mismatch is not None:
            self.future.fail(Errors.UNSUPPORTED_VERSION.exception(str(response.version_mismatch)))
        else:
            self.future.complete(response)


class ConsumerNetworkClient:
    """Requests return futures. A caller that needs the outcome polls until the future is done.

    ::

        send ─▶ unsent, by node ─ poll: try_send ─▶ NetworkClient ─ wire ─▶ responses ─▶ completed ─ fire ─▶ futures
          │                          (if the node is ready)                  (under the lock)      (without the lock)
          └─ any thread; wakes up the polling thread

    Two threads poll: the user's and the heartbeat thread. Only one at a time does I/O (``_lock``). Futures are
    completed without the lock, because their listeners take other locks and send requests. Requests of the heartbeat
    thread (``background``) are completed by either thread, because the user may not poll for minutes. All others are
    completed in the user's thread, so that subscription and fetcher belong to that thread alone. In 0.10.2 any thread
    completes any request.

    ``wakeup`` makes the current or the next poll of the user's thread raise WakeupError. Nothing is lost: requests in
    progress remain in progress.
    """

    def __init__(
        self,
        client: NetworkClient,
        metadata: Metadata,
        *,
        retry_backoff_ms: float = 100,
        unsent_expiry_ms: float = 30_000,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._client = client
        self._metadata = metadata
        self._retry_backoff_ms = retry_backoff_ms
        self._unsent_expiry_ms = unsent_expiry_ms
        self._time = time
        self._lock = threading.RLock()
        self._unsent_lock = threading.Lock()
        self._unsent: dict[str, tuple[Node, deque[_RequestHandler]]] = {}
        self._completed: deque[_RequestHandler] = deque()
        self._completed_in_background: deque[_RequestHandler] = deque()
        self._disconnects: deque[Node] = deque()
        self._wakeup = False
        self._wakeup_disabled = False
        self._checked_version = 0

    # ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def send(
        self,
        node: Node,
        builder: RequestBuilder,
        *,
        background: bool = False,
        request_timeout_ms: float | None = None,
    ) -> RequestFuture[ClientResponse]:
        """Send a request when the node is ready. Fails with DisconnectError, or if it stays unsent for too long.

        Never blocks. Any thread may call it; the request is sent by the next poll of any thread.
        """
        now_ms = self._time.hi_res_ms()
        handler = _RequestHandler(now_ms, background)
        with self._unsent_lock:
            handler.request = self._client.new_client_request(
                node.id_string,
                builder,
                now_ms,
                callback=lambda response: self._on_complete(handler, response),
                request_timeout_ms=request_timeout_ms,
            )
            self._unsent.setdefault(node.id_string, (node, deque()))[1].append(handler)
        self._client.wakeup()
        return handler.future

    def _on_complete(self, handler: _RequestHandler, response: ClientResponse) -> None:
        handler.response = response
        (self._completed_in_background if handler.background else self._completed).append(handler)

    def _on_failure(self, handler: _RequestHandler, error: Exception) -> None:
        handler.error = error
        (self._completed_in_background if handler.background else self._completed).append(handler)

    def _try_send(self, now_ms: float) -> bool:
        """Send what can be sent; returns whether there was anything. Called with the lock held."""
        sent = False
        for node, requests in self._nodes_with_unsent():
            while requests and self._client.ready(node, now_ms):
                with self._unsent_lock:
                    handler = requests.popleft()
                try:
                    self._client.send(handler.request, now_ms)
                except SchemaError as error:  # it cannot be encoded: that concerns the sender, not the polling thread
                    self._on_failure(handler, error)
                sent = True
            if requests:
                requests[0].awaits_connection = True
        return sent

    def _nodes_with_unsent(self) -> list[tuple[Node, deque[_RequestHandler]]]:
        if not self._unsent:
            return []
        with self._unsent_lock:
            self._unsent = {name: entry for name, entry in self._unsent.items() if entry[1]}
            return list(self._unsent.values())

    def _check_disconnects(self) -> None:
        """Fail the unsent requests of nodes whose connection has failed, instead of letting them wait.

        Not those that the other thread has added during this poll: nobody has tried to connect for them yet. Kafka's
        client fails them, too, but it connects as soon as it has found the coordinator.
        """
        for node, requests in self._nodes_with_unsent():
            if requests[0].awaits_connection and self._client.connection_failed(node):
                self._fail_unsent(requests, f"Could not connect to {node}")

    def _fail_expired_requests(self, now_ms: float) -> None:
        for _node, requests in self._nodes_with_unsent():
            while requests and now_ms - requests[0].created_ms >= self._unsent_expiry_ms:
                with self._unsent_lock:
                    handler = requests.popleft()
                expired = f"Failed to send request after {self._unsent_expiry_ms:g} ms."
                self._on_failure(handler, Errors.REQUEST_TIMED_OUT.exception(expired))

    def _fail_unsent(self, requests: deque[_RequestHandler], reason: str) -> None:
        with self._unsent_lock:
            failed = list(requests)
            requests.clear()
        for handler in failed:
            self._on_failure(handler, DisconnectError(reason))

    # ── Polling ───────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(
        self, timer: Timer, should_block: Callable[[], bool] | None = None, *, disable_wakeup: bool = False
    ) -> None:
        """Send, receive and complete futures. Waits for the network until the timer expires, if ``should_block`` says
        so.

        Raises WakeupError after ``wakeup``, ApiError for topics that are invalid or not authorized, and
        AuthenticationError as long as the brokers do not accept this client, or this client does not accept them.
        """
        self._fire_completed()
        with self._lock:
            self._disconnect_pending()
            now_ms = timer.update()
            self._try_send(now_ms)
            if not self._has_completed and (should_block is None or should_block()):
                timeout_ms = min(timer.remaining_ms, MAX_POLL_TIMEOUT_MS)
                # With nothing in flight, nothing would wake us up when a backoff ends.
                if self._client.in_flight_request_count() == 0:
                    timeout_ms = min(timeout_ms, self._retry_backoff_ms)
                self._client.poll(timeout_ms, now_ms)
            else:
                self._client.poll(0, now_ms)
            self._after_poll(timer.update(), disable_wakeup)
        self._fire_completed()
        if not disable_wakeup:
            self._maybe_raise_metadata_error()

    def _after_poll(self, now_ms: float, disable_wakeup: bool) -> None:
        self._check_disconnects()
        # After the disconnects, so that the next poll completes the futures of lost requests even if this one is woken
        # up.
        if not disable_wakeup:
            self.maybe_trigger_wakeup()
        if self._try_send(now_ms):  # a connection may be ready now, or an in-flight slot free
            self._client.poll(0, now_ms)
        self._fail_expired_requests(now_ms)

    def poll_no_wakeup(self) -> None:
        """Send and receive without waiting. Does not raise WakeupError."""
        self.poll(Timer(self._time, 0), disable_wakeup=True)

    def poll_in_background(self) -> None:
        """The heartbeat thread's poll: does the I/O unless the other thread does, and completes its own futures."""
        if self._lock.acquire(blocking=False):
            try:
                now_ms = self._time.hi_res_ms()
                self._disconnect_pending()
                self._try_send(now_ms)
                self._client.poll(0, now_ms)
                self._after_poll(self._time.hi_res_ms(), disable_wakeup=True)
            finally:
                self._lock.release()
        self._fire(self._completed_in_background)

    def poll_future(self, future: RequestFuture[Any], timer: Timer) -> bool:
        """Poll until the future is done or the timer expires; returns whether it is done."""
        while True:
            self.poll(timer, lambda: future.should_block)
            if future.is_done:
                return True
            if timer.is_expired:
                return False

    @property
    def _has_completed(self) -> bool:
        return bool(self._completed) or bool(self._completed_in_background)

    def _fire_completed(self) -> None:
        self._fire(self._completed_in_background)
        self._fire(self._completed)

    @staticmethod
    def _fire(completed: deque[_RequestHandler]) -> None:
        while completed:
            try:
                handler = completed.popleft()
            except IndexError:
                return  # the other thread has taken it
            handler.fire()

    # ── Wakeup ────────────────────────────────────────────────────────────────────────────────────────────────────

    def wakeup(self) -> None:
        """Make the poll in progress, or else the next one, raise WakeupError. Thread-safe."""
        self._wakeup = True
        self._client.wakeup()

    def wake_up(self) -> None:
        """Make the poll in progress, or else the next one, return soon, without an error. Thread-safe."""
        self._client.wakeup()

    def disable_wakeups(self) -> None:
        """Ignore ``wakeup`` from now on, because the consumer is closing."""
        self._wakeup_disabled = True

    def maybe_trigger_wakeup(self) -> None:
        """Raise WakeupError if ``wakeup`` was called since the last time."""
        if self._wakeup and not self._wakeup_disabled:
            self._wakeup = False
            raise WakeupError("the consumer was woken up")

    # ── Metadata ──────────────────────────────────────────────────────────────────────────────────────────────────

    def await_metadata_update(self, timer: Timer, *, disable_wakeup: bool = False) -> bool:
        """Request metadata and wait for it; false if the timer expires first."""
        version = self._metadata.request_update()
        while self._metadata.version == version:
            self.poll(timer, disable_wakeup=disable_wakeup)
            if timer.is_expired:
                break
        return self._metadata.version > version

    def ensure_fresh_metadata(self, timer: Timer, *, disable_wakeup: bool = False) -> bool:
        """Wait for metadata if an update is due; false if the timer expires first."""
        if self._metadata.update_requested or self._metadata.time_to_next_update(timer.update()) == 0:
            return self.await_metadata_update(timer, disable_wakeup=disable_wakeup)
        return True

    def why_timed_out(self) -> str:
        """A suffix for the message of a timeout, as ``Metadata.why_timed_out``."""
        return self._metadata.why_timed_out()

    def _maybe_raise_metadata_error(self) -> None:
        """Raise the error of a metadata update, once per update, and that of a failed authentication."""
        self._metadata.raise_authentication_error()
        version = self._metadata.version
        if version == self._checked_version:
            return
        self._checked_version = version
        cluster = self._metadata.fetch()
        if cluster.unauthorized_topics:
            names = ", ".join(sorted(cluster.unauthorized_topics))
            raise Errors.TOPIC_AUTHORIZATION_FAILED.exception(f"Not authorized to access topics: [{names}]")
        if cluster.invalid_topics:
            raise Errors.INVALID_TOPIC_EXCEPTION.exception(f"Invalid topics: {sorted(cluster.invalid_topics)}")

    # ── nodes (without the lock, whose holder may be waiting for the network) ─────────────────────────────────────

    def least_loaded_node(self) -> Node | None:
        """The broker with the fewest requests in flight; None while all are in backoff."""
        return self._client.least_loaded_node(self._time.hi_res_ms())

    def connection_failed(self, node: Node) -> bool:
        """Whether there is no connection to the node, and none being established."""
        return self._client.connection_failed(node)

    def is_unavailable(self, node: Node) -> bool:
        """Whether the connection to the node was lost, and its reconnect backoff is not over."""
        delay_ms = self._client.connection_delay_ms(node, self._time.hi_res_ms())
        return self._client.connection_failed(node) and delay_ms > 0

    def disconnect_async(self, node: Node) -> None:
        """With the next poll, fail all requests to a node as disconnected. Without any, the connection stays open."""
        self._disconnects.append(node)
        self._client.wakeup()

    def _disconnect_pending(self) -> None:
        while self._disconnects:
            node = self._disconnects.popleft()
            with self._unsent_lock:
                _, requests = self._unsent.get(node.id_string, (node, deque()))
            self._fail_unsent(requests, f"Disconnected from {node}")
            if self._client.in_flight_request_count(node.id_string):
                self._client.disconnect(node.id_string, self._time.hi_res_ms())

    def pending_request_count(self, node: Node | None = None) -> int:
        """The number of requests that are unsent or in flight, to one node or to all."""
        with self._unsent_lock:
            if node is not None:
                entry = self._unsent.get(node.id_string)
                unsent = len(entry[1]) if entry is not None else 0
            else:
                unsent = sum(len(requests) for _, requests in self._unsent.values())
        return unsent + self._client.in_flight_request_count(node.id_string if node is not None else None)

    def await_pending_requests(self, node: Node, timer: Timer) -> bool:
        """Poll until no request to the node is pending; false if the timer expires first."""
        while self.pending_request_count(node) > 0 and timer.not_expired:
            self.poll(timer, disable_wakeup=True)
        return self.pending_request_count(node) == 0

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._client.close()
