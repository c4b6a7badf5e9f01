"""Sends the heartbeats of a member of KIP-848, and handles the responses.

Kafka 4.1: clients/.../consumer/internals/AbstractHeartbeatRequestManager.java, ConsumerHeartbeatRequestManager.java
· book 4.3.4, 4.3.5
"""

from __future__ import annotations

import logging
import math
import threading
from typing import cast

from kafka_lite.clients.client_request import ClientResponse
from kafka_lite.clients.request_future import DisconnectError, is_retriable
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import Time
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.group.consumer_coordinator_metrics import GroupCoordinatorMetrics
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.modern.heartbeat_errors import (
    CONSUMER_PROTOCOL_NOT_SUPPORTED,
    Reaction,
    heartbeat_error,
    reaction_to,
)
from kafka_lite.consumer.group.modern.heartbeat_request_state import HeartbeatRequestState
from kafka_lite.consumer.group.modern.heartbeat_state import REGEX_NEEDS_BROKERS_OF_4_0, HeartbeatState
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

logger = logging.getLogger(__name__)


class HeartbeatRequestManager:
    """The only requests of a member, apart from commits.

    One heartbeat at a time is in flight, but for the last one, which does not wait for the one before. The user's
    thread and the heartbeat thread both call ``send_if_due`` with the lock held; the response is handled in either.
    """

    def __init__(
        self,
        membership: Membership,
        fields: HeartbeatState,
        requests: HeartbeatRequestState,
        finder: CoordinatorLookup,
        client: ConsumerNetworkClient,
        lock: threading.Condition,
        sensors: GroupCoordinatorMetrics,
        time: Time,
    ) -> None:
        self._membership = membership
        self._fields = fields
        self._requests = requests
        self._finder = finder
        self._client = client
        self._lock = lock
        self._sensors = sensors
        self._time = time
        self.failure: ApiError | None = None
        """The error that the next poll raises."""

    def send_if_due(self, now_ms: float) -> bool:
        """Send a heartbeat if one is due and the coordinator is known; returns whether one was sent."""
        if not self._membership.state.is_in_group or self.time_to_next_ms(now_ms) > 0:
            return False
        node = self._finder.coordinator
        if node is None:
            return False
        joins = self._membership.joins
        request = self._fields.next_request()
        is_last = self._membership.state is MemberState.LEAVING
        self._requests.sent(now_ms)
        self._membership.heartbeat_sent()
        future = self._client.send(node, request, background=True)
        if is_last:
            self._requests.reset()
            future.add_listener(self._last_response, lambda error: logger.info("Leaving failed: %s", error))
        else:
            future.add_listener(
                lambda response: self._on_response(response, joins),
                lambda error: self._on_failure(error, joins),
            )
        return True

    def time_to_next_ms(self, now_ms: float) -> float:
        """The time until a heartbeat is due, ms; infinity if none will be."""
        state = self._membership.state
        if not state.is_in_group:
            return math.inf
        if state is MemberState.LEAVING:
            return 0.0
        is_urgent = self._membership.is_urgent or self._fields.is_subscription_unsent
        return self._requests.time_to_next_ms(now_ms, is_urgent=is_urgent)

    def forget(self) -> None:
        """The member begins to join: earlier requests are of no interest any more."""
        self._requests.reset()
        self._fields.reset()

    # ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_response(self, client_response: ClientResponse, joins: int) -> None:
        self._sensors.heartbeat_latency.record(client_response.request_latency_ms)
        response = cast(ConsumerGroupHeartbeatResponse, client_response.response)
        error = Errors.for_code(response.error_code)
        with self._lock:
            if joins != self._membership.joins:
                return
            if error is Errors.NONE:
                self._requests.succeeded(response.heartbeat_interval_ms)
                self._membership.heartbeat_succeeded(response)
            else:
                self._fail(error, response.error_message)
            self._tell_threads()

    def _on_failure(self, error: BaseException, joins: int) -> None:
        """There is no response: the connection was lost, the request could not be sent, or the broker is too old."""
        with self._lock:
            if joins != self._membership.joins:
                return
            if isinstance(error, DisconnectError):
                self._finder.mark_unknown(str(error))
            self._fields.reset()
            self._requests.failed(self._time.hi_res_ms())
            if not is_retriable(error):
                self._sensors.rebalance_is_lost(self._time.hi_res_ms())
                self._give_up(self._unsupported(error))
            self._tell_threads()

    def _tell_threads(self) -> None:
        """There may be something to do, both for the heartbeat thread and for the user's, which waits for records."""
        self._lock.notify_all()
        self._client.wake_up()

    def _unsupported(self, error: BaseException) -> ApiError:
        if not isinstance(error, ApiError):
            return Errors.UNKNOWN_SERVER_ERROR.exception(f"group {self._membership.group_id}: {error}")
        if error.error is not Errors.UNSUPPORTED_VERSION or REGEX_NEEDS_BROKERS_OF_4_0 in str(error):
            return error
        return Errors.UNSUPPORTED_VERSION.exception(f"{CONSUMER_PROTOCOL_NOT_SUPPORTED} ({error})")

    def _fail(self, error: Errors, message: str | None) -> None:
        member = self._membership
        logger.info("Group %s: heartbeat of %s failed: %s: %s", member.group_id, member.member_id, error.name, message)
        self._fields.reset()
        self._requests.failed(self._time.hi_res_ms())
        exception = heartbeat_error(error, message, member.group_id, member.group_instance_id)
        reaction = reaction_to(error)
        if reaction not in (Reaction.RETRY, Reaction.FIND_COORDINATOR):
            self._sensors.rebalance_is_lost(self._time.hi_res_ms())
        match reaction:
            case Reaction.RETRY:
                pass
            case Reaction.FIND_COORDINATOR:
                self._finder.mark_unknown(error.name)
            case Reaction.REJOIN:
                member.fence()
                self._requests.reset()
            case Reaction.TELL_THE_USER:
                self.failure = exception
            case Reaction.GIVE_UP:
                self._give_up(exception)

    def _give_up(self, exception: ApiError) -> None:
        self.failure = exception
        self._membership.fail()

    def _last_response(self, client_response: ClientResponse) -> None:
        response = cast(ConsumerGroupHeartbeatResponse, client_response.response)
        error = Errors.for_code(response.error_code)
        self._sensors.heartbeat_latency.record(client_response.request_latency_ms)
        if error is not Errors.NONE:
            logger.info("Group %s: leaving failed: %s", self._membership.group_id, error.name)
