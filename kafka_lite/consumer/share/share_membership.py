"""The membership of a share consumer in its group: heartbeats, the epoch, and the partitions to read.

Kafka 4.1: clients/.../consumer/internals/ShareMembershipManager.java, ShareHeartbeatRequestManager.java,
MemberState.java · book 4.3.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.request_future import RequestFuture, is_retriable
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.ids.uuids import encode_uuid, random_uuid
from kafka_lite.common.time import Time
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.timer import Backoff, Timer
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

logger = logging.getLogger(__name__)

JOIN_EPOCH, LEAVE_EPOCH = 0, -1
FIRST_INTERVAL_MS = 3000.0
"""Until the coordinator has told the interval between heartbeats."""

FENCED = frozenset({Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_MEMBER_EPOCH, Errors.GROUP_ID_NOT_FOUND})
"""Errors after which the member joins again."""
COORDINATOR_IS_GONE = frozenset({Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE})


class ShareMemberState(Enum):
    """Where a member is in its life."""

    UNSUBSCRIBED = "unsubscribed"
    """It is no member. Transition: to JOINING by ``subscribe``."""
    JOINING = "joining"
    """It heartbeats with epoch 0. Transition: to STABLE when it has an epoch, to FATAL after a final error."""
    STABLE = "stable"
    """It heartbeats with its epoch, and reads what it is assigned. Transition: to JOINING if the coordinator has fenced
    it, to STALE if the user does not poll, to UNSUBSCRIBED when it leaves."""
    STALE = "stale"
    """The user did not poll in time: it has left. Transition: to JOINING with the next poll."""
    FATAL = "fatal"
    """It cannot be a member. The next poll raises the reason."""


VALID_PREVIOUS_STATES: dict[ShareMemberState, frozenset[ShareMemberState]] = {
    ShareMemberState.UNSUBSCRIBED: frozenset(ShareMemberState),
    ShareMemberState.JOINING: frozenset(
        {ShareMemberState.UNSUBSCRIBED, ShareMemberState.STABLE, ShareMemberState.STALE, ShareMemberState.JOINING}
    ),
    ShareMemberState.STABLE: frozenset({ShareMemberState.JOINING, ShareMemberState.STABLE}),
    ShareMemberState.STALE: frozenset({ShareMemberState.JOINING, ShareMemberState.STABLE}),
    ShareMemberState.FATAL: frozenset({ShareMemberState.JOINING, ShareMemberState.STABLE}),
}


class MembershipConfig(NamedTuple):
    """The settings of a member."""

    group_id: str
    rack_id: str | None
    max_poll_interval_ms: float
    retry_backoff_ms: float


class ShareMembership:
    """Heartbeats in a thread of their own, which shares ``lock``: the user may take its time with the records.

    Nobody else must give up a partition before this member may read it, and this member keeps nothing when it loses
    one: so an assignment simply replaces the last one.
    """

    def __init__(
        self, config: MembershipConfig, client: ConsumerNetworkClient, time: Time, wake_up: Callable[[], None]
    ) -> None:
        """``wake_up`` ends the wait of the heartbeat thread; it is called with the lock held."""
        self._config = config
        self._client = client
        self._time = time
        self._wake_up = wake_up
        self.lock = threading.Condition(threading.RLock())
        self.finder = CoordinatorLookup(
            config.group_id, client, self.lock, Backoff(time, config.retry_backoff_ms), on_found=wake_up
        )
        self.member_id = encode_uuid(random_uuid())
        self.state = ShareMemberState.UNSUBSCRIBED
        self.epoch = JOIN_EPOCH
        self.assignment: frozenset[TopicIdPartition] = frozenset()
        self._topics: frozenset[str] = frozenset()
        self._are_topics_new = False
        self._failure: Exception | None = None
        self._in_flight = False
        self._interval_ms = FIRST_INTERVAL_MS
        self._next_heartbeat_ms = 0.0
        self._last_poll_ms = time.hi_res_ms()

    def _transition_to(self, target: ShareMemberState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"A member cannot go from {self.state.name} to {target.name}")
        self.state = target

    # ── for the user's thread ─────────────────────────────────────────────────────────────────────────────────────────

    def subscribe(self, topics: frozenset[str]) -> None:
        """Be a member that reads these topics."""
        with self.lock:
            self._topics, self._are_topics_new = topics, True
            self._last_poll_ms = self._time.hi_res_ms()
            if self.state is ShareMemberState.UNSUBSCRIBED:
                self._rejoin()
            self._next_heartbeat_ms = 0.0
            self._wake_up()

    def on_poll(self) -> None:
        """The user polls. Raises the error after which the consumer cannot be a member, once."""
        with self.lock:
            self._last_poll_ms = self._time.hi_res_ms()
            if self.state is ShareMemberState.STALE:
                self._rejoin()
                self._wake_up()
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def leave(self, timer: Timer) -> None:
        """Leave the group, if the coordinator is known, and wait for its response until the timer expires."""
        with self.lock:
            was_member = self.state in (ShareMemberState.STABLE, ShareMemberState.JOINING)
            coordinator = self.finder.coordinator
            self._transition_to(ShareMemberState.UNSUBSCRIBED)
            self._topics, self.assignment = frozenset(), frozenset()
            future = self._send_leave(coordinator) if was_member and coordinator is not None else None
        if future is not None:
            self._client.poll_future(future, timer)

    def _send_leave(self, coordinator: Node) -> RequestFuture[ClientResponse]:
        request = ShareGroupHeartbeatRequest(
            group_id=self._config.group_id, member_id=self.member_id, member_epoch=LEAVE_EPOCH
        )
        return self._client.send(coordinator, RequestBuilder.of(request), background=True)

    def _rejoin(self) -> None:
        self._transition_to(ShareMemberState.JOINING)
        self.epoch, self._are_topics_new = JOIN_EPOCH, True
        self._next_heartbeat_ms = 0.0

    # ── for the heartbeat thread ──────────────────────────────────────────────────────────────────────────────────────

    def heartbeat_turn(self) -> float | None:
        """One turn of the heartbeat thread. Called with the lock held; see ``HeartbeatOwner``."""
        if self.state not in (ShareMemberState.JOINING, ShareMemberState.STABLE):
            return None
        self._client.poll_in_background()
        now_ms, backoff_ms = self._time.hi_res_ms(), self._config.retry_backoff_ms
        coordinator = self.finder.coordinator
        if coordinator is None:
            self.finder.lookup()
            self._client.poll_in_background()
            return backoff_ms
        if now_ms - self._last_poll_ms > self._config.max_poll_interval_ms:
            logger.warning(
                "Member %s leaves share group %s: it did not poll within max.poll.interval.ms",
                self.member_id,
                self._config.group_id,
            )
            self._send_leave(coordinator)
            self._transition_to(ShareMemberState.STALE)
            self.assignment = frozenset()
            self._client.poll_in_background()
            return None
        if not self._in_flight and now_ms >= self._next_heartbeat_ms:
            self._send_heartbeat(coordinator, now_ms)
            self._client.poll_in_background()
        if self._in_flight:
            return min(backoff_ms, 50.0)  # the response must be read soon
        return max(1.0, min(self._next_heartbeat_ms - now_ms, self._config.max_poll_interval_ms))

    def _send_heartbeat(self, coordinator: Node, now_ms: float) -> None:
        self._in_flight = True
        self._next_heartbeat_ms = now_ms + self._interval_ms
        says_topics = self._are_topics_new or self.epoch == JOIN_EPOCH
        self._are_topics_new = False
        request = ShareGroupHeartbeatRequest(
            group_id=self._config.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            rack_id=self._config.rack_id if self.epoch == JOIN_EPOCH else None,
            subscribed_topic_names=sorted(self._topics) if says_topics else None,
        )
        future = self._client.send(coordinator, RequestBuilder.of(request), background=True)
        future.add_listener(self._on_response, self._on_failure)

    def _on_response(self, response: ClientResponse) -> None:
        answer = cast(ShareGroupHeartbeatResponse, response.response)
        error = Errors.for_code(answer.error_code)
        with self.lock:
            self._in_flight = False
            if self.state not in (ShareMemberState.JOINING, ShareMemberState.STABLE):
                return
            if error is Errors.NONE:
                self._on_success(answer)
            else:
                self._on_error(error, answer.error_message)

    def _on_success(self, answer: ShareGroupHeartbeatResponse) -> None:
        self._transition_to(ShareMemberState.STABLE)
        self.epoch = answer.member_epoch
        self._interval_ms = float(answer.heartbeat_interval_ms)
        self._next_heartbeat_ms = self._time.hi_res_ms() + self._interval_ms
        if self._are_topics_new:
            self._next_heartbeat_ms = 0.0
        if answer.assignment is not None:
            self.assignment = frozenset(
                TopicIdPartition(topic.topic_id, number)
                for topic in answer.assignment.topic_partitions
                for number in topic.partitions
            )
            logger.info("Member %s reads %d partitions", self.member_id, len(self.assignment))

    def _on_error(self, error: Errors, message: str | None) -> None:
        self._are_topics_new = True
        self._next_heartbeat_ms = self._time.hi_res_ms() + self._config.retry_backoff_ms
        if error in FENCED and not (error is Errors.GROUP_ID_NOT_FOUND and self.epoch == JOIN_EPOCH):
            logger.info(
                "Member %s of share group %s joins again: %s", self.member_id, self._config.group_id, error.name
            )
            self.assignment = frozenset()
            self._rejoin()
        elif error in COORDINATOR_IS_GONE:
            self.finder.mark_unknown(error.name)
        elif not is_retriable(error.exception()) and error is not Errors.COORDINATOR_LOAD_IN_PROGRESS:
            self._fail(error.exception(message or error.message))

    def _on_failure(self, failure: BaseException) -> None:
        with self.lock:
            self._in_flight = False
            self._are_topics_new = True
            self._next_heartbeat_ms = self._time.hi_res_ms() + self._config.retry_backoff_ms
            is_member = self.state in (ShareMemberState.JOINING, ShareMemberState.STABLE)
            if is_member and isinstance(failure, Exception) and not is_retriable(failure):
                self._fail(failure)

    def _fail(self, failure: Exception) -> None:
        logger.error("Consumer cannot be a member of share group %s: %s", self._config.group_id, failure)
        self._failure = failure
        self.assignment = frozenset()
        self._transition_to(ShareMemberState.FATAL)
