"""A member of a group: finds the coordinator, joins, sends heartbeats, leaves. Subclasses know what the group is for.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java · book 5.1.1, 5.1.2, 4.3.1, 4.3.4, 4.3.5
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from kafka_lite.clients.cluster import Node
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import NO_GENERATION, Generation
from kafka_lite.consumer.group import group_requests
from kafka_lite.consumer.group.consumer_coordinator_metrics import GroupCoordinatorMetrics
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.coordinator_response_handler import (
    HeartbeatResponseHandler,
    JoinGroupResponseHandler,
    SyncGroupResponseHandler,
)
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.heartbeat import POLL_TIMEOUT_EXPIRED, Heartbeat
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from kafka_lite.consumer.group.member_state import VALID_PREVIOUS_STATES, MemberState
from kafka_lite.consumer.timer import Backoff, Timer
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)

logger = logging.getLogger(__name__)


class AbstractCoordinator(ABC):
    """The client's side of the group protocol.

    ::

        FindCoordinator ─▶ coordinator
        on_join_prepare ─▶ JoinGroup ─┬─ leader:   perform_assignment ─▶ SyncGroup(assignments) ─┐
              ▲                       └─ follower: SyncGroup()                                   ├▶ on_join_complete
              │                                                                                  │
              └──── REBALANCE_IN_PROGRESS ◀── Heartbeat, from its own thread ◀───────────────────┘

    The user's thread joins, within ``poll``; nothing else blocks. A join that takes longer than the poll's timeout
    continues, and the next poll waits for the same future. The heartbeat thread shares ``lock`` and runs only while the
    member is STABLE. Every response is checked against the generation of its request, because the member may have left
    since.
    """

    def __init__(
        self,
        config: GroupRebalanceConfig,
        client: ConsumerNetworkClient,
        metrics: Metrics,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self.config = config
        self._client = client
        self._time = time
        self.lock = threading.Condition(threading.RLock())
        self._heartbeat = Heartbeat(
            config.session_timeout_ms,
            config.heartbeat_interval_ms,
            config.rebalance_timeout_ms,
            config.retry_backoff_ms,
        )
        self.sensors = self.new_sensors(metrics, lambda: self._heartbeat.last_send_ms)
        self.finder = CoordinatorLookup(
            config.group_id,
            client,
            self.lock,
            Backoff(time, config.retry_backoff_ms),
            on_found=lambda: self._heartbeat.reset_timeouts(time.hi_res_ms()),
        )
        """Knows the coordinator, or looks it up."""
        self._heartbeat_thread: HeartbeatThread | None = None
        self._state = MemberState.UNJOINED
        self._generation = NO_GENERATION
        self._rejoin_needed = True
        self._needs_join_prepare = True
        self._join_future: RequestFuture[bytes] | None = None
        self._join_backoff = Backoff(time, config.retry_backoff_ms)

    # ── what subclasses provide ───────────────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """The kind of group. All members must have the same."""

    @abstractmethod
    def protocols(self) -> list[JoinGroupRequestProtocol]:
        """The protocols that the member supports, in order of preference, with its metadata for each."""

    @abstractmethod
    def is_ready_to_join(self, timer: Timer) -> bool:
        """Prepare to leave the current generation. False if that takes longer than the timer; it is called again."""

    @abstractmethod
    def on_join_prepare(self, generation: Generation) -> None:
        """Before a join: give up the assignment of the last generation."""

    @abstractmethod
    def perform_assignment(
        self, leader_id: str, protocol_name: str, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, bytes]:
        """As the leader: compute the assignment of every member, by member id."""

    @abstractmethod
    def on_join_complete(self, generation: Generation, assignment: bytes) -> KafkaError | None:
        """After a join: take over the assignment. Returns the error of the user's listener, if any."""

    @abstractmethod
    def on_leave_prepare(self) -> KafkaError | None:
        """Before the member leaves: give up the assignment. Returns the error of the user's listener, if any."""

    @abstractmethod
    def assigned_partition_count(self) -> int:
        """The number of assigned partitions, or of what else the group shares."""

    @abstractmethod
    def new_sensors(self, metrics: Metrics, last_heartbeat_ms: Callable[[], float]) -> GroupCoordinatorMetrics:
        """Create the member's metrics. Called by the constructor."""

    # ── State ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> MemberState:
        """The member's state."""
        return self._state

    @property
    def generation(self) -> Generation:
        """The newest generation that this member has joined."""
        return self._generation

    def generation_if_stable(self) -> Generation | None:
        """The generation in which the member may commit; None if it is in none."""
        with self.lock:
            return self._generation if self._state is MemberState.STABLE else None

    @property
    def is_rebalancing(self) -> bool:
        """Whether the member is joining, so that it cannot commit now."""
        return self._state is MemberState.REBALANCING

    @property
    def is_dynamic_member(self) -> bool:
        """Whether the member gets a new member id after each restart."""
        return self.config.group_instance_id is None

    def _transition_to(self, new: MemberState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[new]:
            raise RuntimeError(f"member of {self.config.group_id}: from {self._state.name} to {new.name}")
        self._state = new

    def reset_generation(self, reason: str, *, keep_member_id: bool = False) -> None:
        """Leave the generation; the next poll joins again."""
        with self.lock:
            logger.info("Group %s: resetting generation: %s", self.config.group_id, reason)
            member_id = self._generation.member_id if keep_member_id else NO_GENERATION.member_id
            self._generation = NO_GENERATION._replace(member_id=member_id)
            self._transition_to(MemberState.UNJOINED)
            if self.assigned_partition_count():
                self._needs_join_prepare = True  # the member has lost its assignment, perhaps in the middle of a join
            self.request_rejoin(reason)

    def request_rejoin(self, reason: str) -> None:
        """Join with the next poll."""
        with self.lock:
            if not self._rejoin_needed:
                logger.info("Group %s: request joining group due to: %s", self.config.group_id, reason)
            self._rejoin_needed = True

    def rejoin_needed(self) -> bool:
        """Whether the member has to join. Subclasses add further reasons."""
        return self._rejoin_needed

    def rejoin_needed_or_pending(self) -> bool:
        """Whether the member has to join, or is joining."""
        return self._join_future is not None or self.rejoin_needed()

    # ── Joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    def ensure_active_group(self, timer: Timer) -> bool:
        """Join, unless the member is in the group; false if that takes longer than the timer. Raises fatal errors."""
        if not self.finder.ensure_ready(timer):
            return False
        self._start_heartbeat_thread_if_needed()
        return self.join_group_if_needed(timer)

    def join_group_if_needed(self, timer: Timer) -> bool:
        """Join, and retry as needed, without starting the heartbeat thread. Tests call this directly."""
        while self.rejoin_needed_or_pending():
            if not self.finder.ensure_ready(timer):
                return False
            while self._needs_join_prepare:  # again if the heartbeat thread learns that the member was removed
                if not self._prepare_join(timer):
                    return False
            if self._join_future is None and not self._join_backoff.is_over(timer):
                return False
            future = self._initiate_join_group()
            if not self._client.poll_future(future, timer):
                return False
            if future.succeeded:
                self._complete_join(future.value)
            else:
                self._join_future = None
                self._after_failed_join(future.exception)
            if timer.update() >= timer.deadline_ms and self.rejoin_needed_or_pending():
                return False
        return True

    def _prepare_join(self, timer: Timer) -> bool:
        """Prepare once per join, however many polls it takes; false if it takes longer than the timer.

        After a wakeup in a listener the preparation is repeated, because nothing was given up yet. (Kafka's client does
        not repeat it.)
        """
        if not self.is_ready_to_join(timer):
            return False
        self._needs_join_prepare = False
        try:
            self.on_join_prepare(self._generation)
        except (WakeupError, KeyboardInterrupt):
            self._needs_join_prepare = True
            raise
        return True

    def _complete_join(self, assignment: bytes) -> None:
        failure = None
        with self.lock:
            generation, is_member = self._generation, self._state is MemberState.STABLE
        if is_member:
            # The future is kept until this returns. A wakeup in the user's listener then repeats the call.
            failure = self.on_join_complete(generation, assignment)
            self._needs_join_prepare = True
        else:
            # The heartbeat thread has learnt in the meantime that the generation is over.
            self.request_rejoin("the generation ended before its assignment was taken over")
        self._join_future = None
        if failure is not None:
            raise failure  # once, since the member has joined; Kafka's client raises from every poll

    def _after_failed_join(self, error: BaseException) -> None:
        self.request_rejoin(f"rebalance failed: {error}")
        if isinstance(error, ApiError) and error.error in group_requests.JOIN_AGAIN:
            return
        if not (isinstance(error, ApiError) and error.retriable):
            raise error
        self._join_backoff.begin()

    def _initiate_join_group(self) -> RequestFuture[bytes]:
        """Send JoinGroup, unless one is in progress since an earlier poll."""
        if self._join_future is not None:
            return self._join_future
        with self.lock:
            # Heartbeats continue until here, because on_join_prepare may take long. They stop here, because a late
            # heartbeat response must not interfere with the join.
            if self._heartbeat_thread is not None:
                self._heartbeat_thread.disable()
            self._transition_to(MemberState.REBALANCING)
            self.sensors.rebalance_begins(self._time.hi_res_ms())
            self._join_future = future = self._send_join_group()
        future.add_listener(lambda _: self._on_joined(future), lambda error: self._on_join_failed(future, error))
        return future

    def _is_under_way(self, join: RequestFuture[bytes]) -> bool:
        """Whether this join is still wanted. The member may have left, or may even be joining again."""
        return join is self._join_future and self._state is MemberState.REBALANCING

    def _on_joined(self, join: RequestFuture[bytes]) -> None:
        with self.lock:
            if not self._is_under_way(join):
                return
            self._transition_to(MemberState.STABLE)
            self._rejoin_needed = False
            now_ms = self._time.hi_res_ms()
            self.sensors.rebalance_ends(now_ms)
            self._heartbeat.reset_timeouts(now_ms)
            if self._heartbeat_thread is not None:
                self._heartbeat_thread.enable()

    def _on_join_failed(self, join: RequestFuture[bytes], error: BaseException) -> None:
        with self.lock:
            if join is not self._join_future:
                return
            self._transition_to(MemberState.UNJOINED)
            if not (isinstance(error, ApiError) and error.error is Errors.MEMBER_ID_REQUIRED):
                self.sensors.rebalance_fails(self._time.hi_res_ms())

    def _send_join_group(self) -> RequestFuture[bytes]:
        coordinator = self.finder.coordinator
        if coordinator is None:
            return RequestFuture.coordinator_not_available()
        logger.info("Group %s: (re-)joining", self.config.group_id)
        request = group_requests.join_group(
            self.config, self._generation.member_id, self.protocol_type, self.protocols()
        )
        future = self._client.send(coordinator, request, request_timeout_ms=self.config.join_timeout_ms)
        return future.compose(JoinGroupResponseHandler(self, self._generation))

    def joined(self, response: JoinGroupResponse, future: RequestFuture[bytes]) -> None:
        """JoinGroup has succeeded: send SyncGroup, which completes the join's future."""
        with self.lock:
            if not self._is_under_way(future):
                self._leave_as(response.member_id, future)
                return
            self._generation = Generation(response.generation_id, response.member_id, response.protocol_name)
        logger.info(
            "Group %s: successfully joined generation %d as %s%s", self.config.group_id, response.generation_id,
            response.member_id, ", the leader" if response.leader == response.member_id else "",
        )  # fmt: skip
        assignments: Mapping[str, bytes] = {}
        if response.leader == response.member_id:
            try:
                assignments = self.perform_assignment(response.leader, response.protocol_name or "", response.members)
            except Exception as error:  # noqa: BLE001
                # Without a traceback: the caller of poll gets the error.
                logger.error("Group %s: assignment failed: %s", self.config.group_id, error)
                future.fail(error)
                return
        self._send_sync_group(assignments).chain(future)

    def _send_sync_group(self, assignments: Mapping[str, bytes]) -> RequestFuture[bytes]:
        coordinator = self.finder.coordinator
        if coordinator is None:
            return RequestFuture.coordinator_not_available()
        generation = self._generation
        request = group_requests.sync_group(self.config, generation, self.protocol_type, assignments)
        future = self._client.send(coordinator, request, request_timeout_ms=self.config.join_timeout_ms)
        return future.compose(SyncGroupResponseHandler(self, generation))

    def set_member_id(self, member_id: str, future: RequestFuture[bytes]) -> None:
        """The coordinator has handed out a member id to join with (KIP-394)."""
        with self.lock:
            if self._is_under_way(future):
                self._generation = NO_GENERATION._replace(member_id=member_id)
                future.fail(Errors.MEMBER_ID_REQUIRED)
            else:
                self._leave_as(member_id, future)

    def _leave_as(self, member_id: str, future: RequestFuture[bytes]) -> None:
        """Leave: the join was abandoned, and the coordinator would wait for the member until its session times out."""
        coordinator = self.finder.last_known
        if self.is_dynamic_member and coordinator is not None and member_id != self._generation.member_id:
            abandoned = NO_GENERATION._replace(member_id=member_id)
            request = group_requests.leave_group(self.config, abandoned, "its join was abandoned")
            self._client.send(coordinator, request, background=True)
        future.fail(Errors.REBALANCE_IN_PROGRESS)  # a caller that still waits for it joins again

    # ── Heartbeats ────────────────────────────────────────────────────────────────────────────────────────────────

    def _start_heartbeat_thread_if_needed(self) -> None:
        with self.lock:
            if self._heartbeat_thread is None:
                name = f"kafka-coordinator-heartbeat-thread | {self.config.group_id}"
                self._heartbeat_thread = HeartbeatThread(name, self, self.lock, self._time)
                if self._state is MemberState.STABLE:
                    self._heartbeat_thread.enable()
                self._heartbeat_thread.start()

    def poll_heartbeat(self, now_ms: float) -> None:
        """The user has polled. Raises the error that ended the heartbeat thread, if any; the next join starts a new
        one."""
        with self.lock:
            if self._heartbeat_thread is None:
                return
            failure = self._heartbeat_thread.failure
            if failure is not None:
                self._heartbeat_thread = None
                raise failure
            self._heartbeat.poll(now_ms)
            if self._heartbeat.should_heartbeat(now_ms):
                self.lock.notify_all()

    def time_to_next_heartbeat_ms(self, now_ms: float) -> float:
        """How long a poll may wait before a heartbeat is due, ms; infinity outside of a generation."""
        if self._state is not MemberState.STABLE:
            return float("inf")
        return self._heartbeat.time_to_next_heartbeat_ms(now_ms)

    def heartbeat_turn(self) -> float | None:
        """One turn of the heartbeat thread. Called with the lock held; see ``HeartbeatOwner``."""
        if self._state is not MemberState.STABLE:
            return None
        self._client.poll_in_background()
        if self.state is not MemberState.STABLE:
            return None  # a response has just ended the generation, so there is no session to keep alive
        now_ms, backoff_ms = self._time.hi_res_ms(), float(self.config.retry_backoff_ms)
        coordinator = self.finder.coordinator
        if coordinator is None:
            self.finder.lookup()
            return backoff_ms
        if self._heartbeat.session_timeout_expired(now_ms):
            self.finder.mark_unknown("session timed out without receiving a heartbeat response")
            return 0
        if self._heartbeat.poll_timeout_expired(now_ms):
            logger.warning(POLL_TIMEOUT_EXPIRED, self.config.group_id)
            self.maybe_leave_group("the consumer did not poll within max.poll.interval.ms")
            return None
        if self._heartbeat.should_heartbeat(now_ms):
            self._send_heartbeat(coordinator, now_ms)
            self._client.poll_in_background()
        return self._until_next_turn(coordinator, now_ms)

    def _until_next_turn(self, coordinator: Node, now_ms: float) -> float:
        next_ms = min(
            self._heartbeat.time_to_next_heartbeat_ms(now_ms), self._heartbeat.time_to_poll_timeout_ms(now_ms) + 1
        )
        if self._client.pending_request_count(coordinator):
            return min(next_ms, float(self.config.retry_backoff_ms))  # the response must be read soon
        return next_ms

    def _send_heartbeat(self, coordinator: Node, now_ms: float) -> None:
        self._heartbeat.sent(now_ms)
        generation = self._generation
        request = group_requests.heartbeat(self.config, generation)
        future = self._client.send(coordinator, request, background=True).compose(
            HeartbeatResponseHandler(self, generation)
        )
        future.add_listener(self._on_heartbeat_response, self._on_heartbeat_failed)

    def _on_heartbeat_response(self, _: None) -> None:
        with self.lock:
            self._heartbeat.received(self._time.hi_res_ms())

    def _on_heartbeat_failed(self, error: BaseException) -> None:
        with self.lock:
            if isinstance(error, ApiError) and error.error is Errors.REBALANCE_IN_PROGRESS:
                # The coordinator has received the heartbeat, so the session continues while the member prepares to
                # join.
                self._heartbeat.received(self._time.hi_res_ms())
                return
            self._heartbeat.failed()
            thread, fatal = self._heartbeat_thread, group_requests.FATAL_FOR_HEARTBEATS
            if thread is not None and isinstance(error, ApiError) and error.error in fatal:
                thread.failure = error
                thread.initiate_shutdown()

    # ── Leaving ───────────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_leave_group(self, reason: str) -> None:
        """Send LeaveGroup for a dynamic member. A static member keeps its place."""
        with self.lock:
            coordinator, generation = self.finder.last_known, self._generation
            if (
                self.is_dynamic_member
                and coordinator is not None
                and self._state is not MemberState.UNJOINED
                and generation.has_member_id
            ):
                logger.info("Group %s: member %s leaves: %s", self.config.group_id, generation.member_id, reason)
                request = group_requests.leave_group(self.config, generation, reason)
                self._client.send(coordinator, request, background=True)
                self._client.poll_in_background()
            kept_id = NO_GENERATION.member_id if self.is_dynamic_member else generation.member_id
            self._generation = NO_GENERATION._replace(member_id=kept_id)
            self._transition_to(MemberState.UNJOINED)
            self._rejoin_needed = self._needs_join_prepare = True
            self._join_future = None

    def abandon_join(self, timer: Timer) -> None:
        """Before the end: give up a join whose response may take as long as the sessions of members that were killed.

        The coordinator reads nothing from a connection with a pending request, so LeaveGroup has to go by a new one.
        (Kafka's client waits until its timeout.) A member without an id waits, too: only the response tells who leaves.
        """
        coordinator, leaves = self.finder.last_known, self.config.leave_group_on_close
        with self.lock:
            if self._join_future is None or coordinator is None or (leaves and not self._generation.has_member_id):
                return
            self._join_future = None  # as its failure would end the membership, and nobody would leave
        self.finder.mark_unknown("its response to JoinGroup is not awaited")
        if leaves:
            self.finder.ensure_ready(timer)

    def close(self, timer: Timer) -> None:
        """Stop the heartbeats, leave, and wait for the responses to pending requests."""
        with self.lock:
            thread, self._heartbeat_thread = self._heartbeat_thread, None
        if thread is not None:
            thread.shutdown(timer.remaining_ms / 1000 if timer.remaining_ms < float("inf") else None)
        coordinator, failure = self.finder.last_known, None
        if self.config.leave_group_on_close:
            try:
                failure = self.on_leave_prepare()
            finally:
                self.maybe_leave_group("the consumer is being closed")
        if coordinator is not None and not self._client.await_pending_requests(coordinator, timer):
            pending = self._client.pending_request_count(coordinator)
            logger.warning("Close timed out with %d pending requests to coordinator", pending)
        if failure is not None:
            raise failure
