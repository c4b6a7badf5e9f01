"""The member of a group whose broker assigns: what ``poll`` does in it, and its heartbeats.

Kafka 4.1: clients/.../consumer/internals/ConsumerMembershipManager.java, AsyncKafkaConsumer.java · book 4.1.2, 5.1.1
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping

from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptors
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import NO_GENERATION, Generation
from kafka_lite.consumer.group.commit_before_join import CommitBeforeJoin
from kafka_lite.consumer.group.committing_member import CommittingMember, matching_topics
from kafka_lite.consumer.group.consumer_coordinator_metrics import ConsumerCoordinatorMetrics
from kafka_lite.consumer.group.consumer_rebalance_listener_invoker import ConsumerRebalanceListenerInvoker
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.heartbeat import POLL_TIMEOUT_EXPIRED
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from kafka_lite.consumer.group.modern.heartbeat_request_manager import HeartbeatRequestManager
from kafka_lite.consumer.group.modern.heartbeat_request_state import HeartbeatRequestState
from kafka_lite.consumer.group.modern.heartbeat_state import HeartbeatState, Subscribed
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.consumer.group.modern.reconciler import Reconciler
from kafka_lite.consumer.group.modern.topic_names import TopicNames
from kafka_lite.consumer.group.offset_committer import MODERN_VERSIONS, OffsetCommitter
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Backoff, Timer
from kafka_lite.metrics.metrics import Metrics

logger = logging.getLogger(__name__)

DELETED = frozenset({Errors.UNKNOWN_TOPIC_OR_PARTITION})
"""The error of a commit for a topic that was deleted, which is why its partitions are given up. The broker waits for
that, so the commit is not repeated."""


class ConsumerMembershipManager(CommittingMember):
    """The group's part of ``poll``, before records are fetched, if ``group.protocol=consumer``.

    ::

        poll ─ callbacks of finished commits ─ lost partitions released ─ coordinator known? ─ heartbeat due?
             ─ assignment to be taken over (``Reconciler``) ─ time to commit?

    A join is one request, which no other member delays: poll sends it and continues. The heartbeat thread sends the
    others while the user processes records. It changes the member's state under ``lock``, but neither the assignment
    nor the subscription, which belong to the user's thread, as do the calls of the listener.
    """

    def __init__(
        self,
        config: GroupRebalanceConfig,
        client: ConsumerNetworkClient,
        metadata: Metadata,
        subscriptions: SubscriptionState,
        interceptors: ConsumerInterceptors,
        *,
        server_assignor: str | None,
        rack_id: str | None,
        auto_commit_interval_ms: float | None,
        exclude_internal_topics: bool,
        metrics: Metrics,
        time: Time,
    ) -> None:
        """Without an ``auto_commit_interval_ms``, only the user commits."""
        self.config = config
        self.lock = threading.Condition(threading.RLock())
        self.membership = Membership(config.group_id, config.group_instance_id)
        self._metadata = metadata
        self._requests = HeartbeatRequestState(config.rebalance_timeout_ms, config.retry_backoff_ms)
        self.sensors = ConsumerCoordinatorMetrics(
            metrics, lambda: self._requests.last_send_ms, lambda: len(subscriptions.assigned_partitions), joins=False
        )
        backoff = Backoff(time, config.retry_backoff_ms)
        self.finder = CoordinatorLookup(config.group_id, client, self.lock, backoff, on_found=lambda: None)
        backoff, latency = Backoff(time, config.retry_backoff_ms), self.sensors.commit_latency
        super().__init__(
            client,
            subscriptions,
            interceptors,
            OffsetCommitter(self, client, subscriptions, backoff, latency, MODERN_VERSIONS),
            auto_commit_interval_ms=auto_commit_interval_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            time=time,
        )
        self._heartbeats = self._new_heartbeats(server_assignor, rack_id)
        listener = ConsumerRebalanceListenerInvoker(subscriptions, self.sensors, time)
        names = TopicNames(metadata, subscriptions)
        self._reconciler = Reconciler(
            self.membership, subscriptions, names, listener, self._new_commit, self._on_committed, self.lock
        )
        self._exclude_internal_topics = exclude_internal_topics
        self._heartbeat_thread: HeartbeatThread | None = None
        self._newest_cluster: Cluster | None = metadata.fetch()
        metadata.add_listener(self._on_metadata_update)

    def _new_heartbeats(self, server_assignor: str | None, rack_id: str | None) -> HeartbeatRequestManager:
        fields = HeartbeatState(
            self.membership, self._subscribed, rebalance_timeout_ms=self.config.rebalance_timeout_ms,
            server_assignor=server_assignor, rack_id=rack_id,
        )  # fmt: skip
        return HeartbeatRequestManager(
            self.membership, fields, self._requests, self.finder, self._client, self.lock,
            self.sensors, self._time,
        )  # fmt: skip

    # ── the member ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> MemberState:
        """The member's state."""
        return self.membership.state

    @property
    def generation(self) -> Generation:
        """The member's epoch, in place of a generation."""
        with self.lock:
            if self.membership.epoch <= 0:
                return NO_GENERATION
            return Generation(self.membership.epoch, self.membership.member_id, None)

    def generation_if_stable(self) -> Generation | None:
        """The epoch in which the member may commit; None if it is in none."""
        with self.lock:
            return self.generation if self.membership.may_commit else None

    @property
    def group_metadata(self) -> ConsumerGroupMetadata:
        """The member in its newest epoch, also after it has lost that epoch."""
        with self.lock:
            member = self.membership
            metadata = ConsumerGroupMetadata(member.group_id, group_instance_id=member.group_instance_id)
            if member.last_epoch > 0:
                metadata = metadata._replace(generation_id=member.last_epoch, member_id=member.member_id)
            return metadata

    @property
    def is_rebalancing(self) -> bool:
        """Never: a member may commit until it has given up its partitions."""
        return False

    def reset_generation(self, reason: str, *, keep_member_id: bool = False) -> None:
        """The coordinator has refused a commit. The response to the next heartbeat says what that means."""
        del keep_member_id  # it is always kept
        logger.info("Group %s: %s refused: %s", self.config.group_id, self.membership.member_id, reason)

    def request_rejoin(self, reason: str) -> None:
        """Not in this protocol: the coordinator decides when the group rebalances."""
        logger.warning("Operation not supported in new consumer group protocol: %s", reason)

    def rejoin_needed_or_pending(self) -> bool:
        """Whether the member has no epoch, so that it may not return records."""
        return self._subscriptions.has_auto_assigned_partitions and not self.membership.may_commit

    @property
    def reads_on(self) -> bool:
        """Whether the member has partitions to read: then polls wait for nothing else."""
        if not self._subscriptions.has_auto_assigned_partitions or not self.membership.may_commit:
            return False
        return bool(self._subscriptions.assigned_partitions)

    def _subscribed(self) -> Subscribed:
        pattern = self._subscriptions.subscription_pattern
        return Subscribed(self._subscriptions.subscription, pattern.pattern if pattern else None)

    # ── Poll ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timer: Timer) -> bool:
        """Do what is due in the group; false if that takes longer than the timer. Raises fatal errors, and those of the
        user's listener."""
        self._maybe_update_subscription()
        self.invoke_completed_commit_callbacks()
        if self._subscriptions.has_auto_assigned_partitions:
            self._user_polls(timer.update())
            patience = timer.part(0) if self.reads_on else timer
            if not self._is_pattern_resolved(patience):
                return False
            self._join_if_needed()
            if self.finder.is_unknown and not self.finder.ensure_ready(patience):
                return False
            self._send_heartbeat_if_due(timer.update())
            failure = self._reconcile(patience)
            self._send_heartbeat_if_due(timer.update())
            if failure is not None:
                raise failure
            if self.membership.must_release:
                return False  # its partitions may belong to others by now, so their records must not be returned
        self.maybe_auto_commit_offsets_async(timer.update())
        return True

    def _user_polls(self, now_ms: float) -> None:
        """Restart the poll timer, and tell the user's listener what was lost. Raises what the member failed with."""
        with self.lock:
            self._requests.polled(now_ms)
            state = self.state
            failure: Exception | None = self._heartbeats.failure
            if state is not MemberState.FATAL:
                self._heartbeats.failure = None
            thread = self._heartbeat_thread
            if thread is not None and thread.failure is not None:
                failure, self._heartbeat_thread = failure or thread.failure, None
        lost = None
        if state in (MemberState.FENCED, MemberState.STALE, MemberState.FATAL):
            lost = self._reconciler.release(is_lost=True)
            with self.lock:
                if self.membership.must_release:
                    self._join()
        if failure is not None:
            raise failure
        if lost is not None:
            raise lost

    def _is_pattern_resolved(self, timer: Timer) -> bool:
        """Before a join: match the pattern against the cluster's topics once, or the member would join with none."""
        if not self._subscriptions.has_pattern_subscription or self.state is not MemberState.UNSUBSCRIBED:
            return True
        if not self._client.ensure_fresh_metadata(timer):
            return False
        self._maybe_update_subscription()
        return True

    def _join_if_needed(self) -> None:
        with self.lock:
            if self.state is MemberState.UNSUBSCRIBED:
                self._join()
            if self._heartbeat_thread is None:
                name = f"kafka-coordinator-heartbeat-thread | {self.config.group_id}"
                self._heartbeat_thread = HeartbeatThread(name, self, self.lock, self._time)
                self._heartbeat_thread.enable()
                self._heartbeat_thread.start()

    def _join(self) -> None:
        """Called with the lock held."""
        logger.info("Group %s: %s joins", self.config.group_id, self.membership.member_id)
        self.membership.join()
        self._heartbeats.forget()
        if self._heartbeat_thread is not None:
            self._heartbeat_thread.enable()

    def _send_heartbeat_if_due(self, now_ms: float) -> None:
        with self.lock:
            self._heartbeats.send_if_due(now_ms)
            if self.state is MemberState.RECONCILING:
                self.sensors.rebalance_begins(now_ms)

    def _reconcile(self, timer: Timer) -> KafkaError | None:
        failure = self._reconciler.reconcile(timer)
        if self.state is MemberState.ACKNOWLEDGING:
            self.sensors.rebalance_ends(self._time.hi_res_ms())
            self._restart_auto_commit_timer()
        return failure

    def _new_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> CommitBeforeJoin | None:
        if self._auto_commit_interval_ms is None:
            return None
        deadline = Timer(self._time, self.config.rebalance_timeout_ms)
        backoff = Backoff(self._time, self.config.retry_backoff_ms)
        return CommitBeforeJoin(offsets, deadline, backoff, self._commits, self._client, self.finder, DELETED)

    def _on_committed(self, commit: CommitBeforeJoin) -> None:
        self.invoke_completed_commit_callbacks()
        if commit.has_succeeded:
            self._interceptors.on_commit(commit.offsets)

    def time_to_next_poll(self, now_ms: float) -> float:
        """How long the consumer may wait for records before there is something to do here, ms."""
        to_commit = max(0.0, self._next_auto_commit_ms - now_ms)
        if not self._subscriptions.has_auto_assigned_partitions:
            return to_commit
        with self.lock:
            if self.membership.must_release or self._heartbeats.failure is not None:
                return 0.0
            to_heartbeat = self._heartbeats.time_to_next_ms(now_ms)
            if self.finder.is_unknown or self.state is MemberState.RECONCILING:
                to_heartbeat = float(self.config.retry_backoff_ms)  # overdue work that cannot be done yet
            to_poll = self._requests.time_to_poll_timeout_ms(now_ms) / 2
        return min(to_commit, to_heartbeat, to_poll)

    # ── the subscription ──────────────────────────────────────────────────────────────────────────────────────────

    def on_subscription_changed(self) -> None:
        """The next heartbeat, which is due at once, says so. The metadata that is known may be sufficient for it."""
        self._newest_cluster = self._newest_cluster or self._metadata.fetch()

    def _on_metadata_update(self, cluster: Cluster) -> None:
        """Only keep the cluster: any polling thread may call this."""
        self._newest_cluster = cluster

    def _maybe_update_subscription(self) -> None:
        """Match the pattern that this consumer resolves itself."""
        cluster, self._newest_cluster = self._newest_cluster, None
        pattern = self._subscriptions.pattern
        if cluster is None or pattern is None:
            return
        topics = matching_topics(cluster, pattern, exclude_internal=self._exclude_internal_topics)
        if self._subscriptions.subscribe_from_pattern(topics):
            self._metadata.set_topics(self._subscriptions.metadata_topics)
            self._metadata.request_update()  # metadata only keeps the partitions of topics that were asked for

    # ── the heartbeat thread ──────────────────────────────────────────────────────────────────────────────────────

    def heartbeat_turn(self) -> float | None:
        """One turn of the heartbeat thread. Called with the lock held; see ``HeartbeatOwner``."""
        if not self.membership.is_in_group():
            return None
        self._client.poll_in_background()
        now_ms, backoff_ms = self._time.hi_res_ms(), float(self.config.retry_backoff_ms)
        if not self.membership.is_in_group():
            return None  # a response has just ended the membership
        if self._requests.poll_timeout_expired(now_ms):
            logger.warning(POLL_TIMEOUT_EXPIRED, self.config.group_id)
            self._leave(is_late=True)
            return None
        if self.finder.coordinator is None:
            self.finder.lookup()
            return backoff_ms
        if self._heartbeats.send_if_due(now_ms):
            self._client.poll_in_background()
        if self._requests.is_in_flight:
            return backoff_ms  # the response must be read soon
        return min(self._heartbeats.time_to_next_ms(now_ms), self._requests.time_to_poll_timeout_ms(now_ms) + 1)

    # ── leaving ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_leave_prepare(self) -> KafkaError | None:
        """Give up all partitions, unless a wakeup interrupts the listener: then nothing changes."""
        return self._reconciler.release(is_lost=not self.membership.may_commit)

    def maybe_leave_group(self, reason: str) -> None:
        """Send the last heartbeat. A static member says that it will be back."""
        with self.lock:
            if self.membership.is_in_group():
                logger.info("Group %s: member %s leaves: %s", self.config.group_id, self.membership.member_id, reason)
            self._leave(is_late=False)

    def _leave(self, *, is_late: bool) -> None:
        """Called with the lock held. Nobody waits for the response, and it is not repeated."""
        self.membership.leave(is_late=is_late)
        if self.state is MemberState.LEAVING and not self._heartbeats.send_if_due(self._time.hi_res_ms()):
            self.membership.heartbeat_sent()  # the coordinator is not known: it will remove the member itself
        self._client.poll_in_background()

    def close(self, timer: Timer) -> None:
        """Commit, wait for asynchronous commits, and leave the group."""
        coordinator, failure = self.finder.last_known, None
        try:
            self._commit_at_the_end(timer)
        finally:
            self._stop_heartbeat_thread(timer)
            coordinator = self.finder.last_known
            if self.config.leave_group_on_close:
                try:
                    failure = self.on_leave_prepare()
                finally:
                    self.maybe_leave_group("the consumer is being closed")
            if coordinator is not None and not self._client.await_pending_requests(coordinator, timer):
                pending = self._client.pending_request_count(coordinator)
                logger.warning("Close timed out with %d pending requests to coordinator", pending)
            self.invoke_completed_commit_callbacks()
            self._metadata.remove_listener(self._on_metadata_update)
        if failure is not None:
            raise failure

    def _stop_heartbeat_thread(self, timer: Timer) -> None:
        with self.lock:
            thread, self._heartbeat_thread = self._heartbeat_thread, None
        if thread is not None:
            thread.shutdown(timer.remaining_ms / 1000 if timer.remaining_ms < math.inf else None)
