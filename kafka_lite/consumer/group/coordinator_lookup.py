"""Looks up the coordinator of a group, and notices when it is gone.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (lookupCoordinator, ensureCoordinatorReady)
· book 5.1.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import cast

from kafka_lite.clients.client_request import ClientResponse
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.request_future import RequestFuture, RequestFutureAdapter, is_retriable
from kafka_lite.common.errors import Errors
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.group import group_requests
from kafka_lite.consumer.timer import Backoff, Timer
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse

logger = logging.getLogger(__name__)

MAX_INT = 0x7FFFFFFF


class CoordinatorLookup:
    """The coordinator of one group: unknown, being looked up by one request at a time, or known until it is
    unreachable.

    ::

        unknown ── lookup ─▶ FindCoordinator to any broker ──▶ known ── connection lost, NOT_COORDINATOR,
           ▲                                                             session timed out ──┐
           └─────────────────────────────────────────────────────────────────────────────────┘

    Used by the user's thread and the heartbeat's, under the coordinator's ``lock``.
    """

    def __init__(
        self,
        group_id: str,
        client: ConsumerNetworkClient,
        lock: threading.Condition,
        backoff: Backoff,
        *,
        on_found: Callable[[], None],
    ) -> None:
        self._group_id = group_id
        self._client = client
        self._lock = lock
        self._backoff = backoff
        self._on_found = on_found
        self._coordinator: Node | None = None
        self._find_coordinator_future: RequestFuture[None] | None = None
        self._failure: BaseException | None = None
        """Why every lookup would fail, to be raised once."""

    @property
    def coordinator(self) -> Node | None:
        """The coordinator; None if it is unknown or unreachable.

        The node has an id of its own, so that it gets its own connection, on which fetches do not delay heartbeats.
        """
        with self._lock:
            if self._coordinator is not None and self._client.is_unavailable(self._coordinator):
                self.mark_unknown("its connection was lost")
            return self._coordinator

    @property
    def last_known(self) -> Node | None:
        """The last known coordinator, reachable or not."""
        return self._coordinator

    @property
    def is_unknown(self) -> bool:
        """Whether the coordinator must be looked up."""
        return self.coordinator is None

    def mark_unknown(self, cause: str) -> None:
        """Forget the coordinator: it is gone or has moved. Requests to it fail as disconnected."""
        with self._lock:
            if self._coordinator is None:
                return
            logger.info("Group %s: coordinator %s is unavailable: %s", self._group_id, self._coordinator, cause)
            dead, self._coordinator = self._coordinator, None
            self._client.disconnect_async(dead)

    def ensure_ready(self, timer: Timer) -> bool:
        """Look up the coordinator until it is found; false if the timer expires first. Raises fatal errors."""
        while self.is_unknown:
            self._raise_failure()
            if self._find_coordinator_future is None and not self._backoff.is_over(timer):
                return False
            future = self.lookup()
            if not self._client.poll_future(future, timer):
                return False
            if future.failed:
                self._raise_failure()
                logger.debug("Coordinator discovery failed, refreshing metadata: %s", future.exception)
                self._backoff.begin()
                self._client.await_metadata_update(timer)
            elif self.is_unknown:  # it was found and lost again at once, perhaps by another thread
                self._backoff.begin()
            timer.update()
            if timer.is_expired:
                break
        return not self.is_unknown

    def lookup(self) -> RequestFuture[None]:
        """Ask any broker, unless a lookup is in progress."""
        with self._lock:
            if self._find_coordinator_future is not None:
                return self._find_coordinator_future
            node = self._client.least_loaded_node()
            if node is None:
                return RequestFuture.no_brokers_available()
            request = group_requests.find_coordinator(self._group_id)
            future = self._client.send(node, request, background=True).compose(_FindCoordinatorHandler(self))
            if not future.is_done:
                self._find_coordinator_future = future
            future.add_listener(lambda _: None, self._on_lookup_failed)
            return future

    def _on_lookup_failed(self, error: BaseException) -> None:
        """Keep the error for the next caller that needs the coordinator. Nobody may be waiting for this lookup any
        more."""
        with self._lock:
            self._backoff.begin()
            if not is_retriable(error):
                self._failure = error

    def _raise_failure(self) -> None:
        with self._lock:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def found(self, response: FindCoordinatorResponse, future: RequestFuture[None]) -> None:
        """Handle the response. The connection is opened when something is sent."""
        error = Errors.for_code(response.error_code)
        self.lookup_ended()
        if error is not Errors.NONE:
            logger.debug("Group coordinator lookup failed: %s", response.error_message or error.name)
            future.fail(error.exception(f"group {self._group_id}: {error.message}"))
            return
        with self._lock:
            self._failure = None
            self._coordinator = Node(MAX_INT - response.node_id, response.host, response.port)
            logger.info("Group %s: discovered coordinator %s", self._group_id, self._coordinator)
            self._on_found()
        future.complete(None)

    def lookup_ended(self) -> None:
        """Allow the next lookup to send a request."""
        with self._lock:
            self._find_coordinator_future = None


class _FindCoordinatorHandler(RequestFutureAdapter[ClientResponse, None]):
    def __init__(self, manager: CoordinatorLookup) -> None:
        self._manager = manager

    def on_success(self, value: ClientResponse, future: RequestFuture[None]) -> None:
        self._manager.found(cast(FindCoordinatorResponse, value.response), future)

    def on_failure(self, exception: BaseException, future: RequestFuture[None]) -> None:
        self._manager.lookup_ended()
        super().on_failure(exception, future)
