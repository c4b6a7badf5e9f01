"""The consumer's side of a group of either protocol: what ``KafkaConsumer`` calls, and the commits.

Kafka 0.10.2: clients/.../consumer/internals/ConsumerCoordinator.java (its commits); since 3.6
CommitRequestManager.java · book 4.4.1, 4.4.2, 4.4.4
"""

from __future__ import annotations

import logging
import math
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.request_future import is_retriable
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RetriableCommitFailedError, WakeupError
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptors
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import Generation
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.offset_committer import OffsetCommitter, Offsets
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata, OffsetCommitCallback
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Timer

logger = logging.getLogger(__name__)


def matching_topics(cluster: Cluster, pattern: re.Pattern[str], *, exclude_internal: bool) -> set[str]:
    """The topics whose whole names match, for a consumer that resolves its pattern itself."""
    hidden = cluster.internal_topics if exclude_internal else frozenset()
    return {topic for topic in cluster.topics if topic not in hidden and pattern.fullmatch(topic)}


class CommittingMember(ABC):
    """The consumer's side of a group. ``KafkaConsumer`` knows its group by these methods only.

    ::

        CommittingMember ─┬─ ConsumerCoordinator         group.protocol=classic: the members assign
                          └─ ConsumerMembershipManager   group.protocol=consumer: the broker assigns (KIP-848)

    Positions are committed in three ways. *Automatically*: asynchronously within poll, once per
    ``auto.commit.interval.ms``, and synchronously before partitions are given up. What is committed is the position,
    that is, the records that the *previous* poll returned: polling again means that they are processed. *By the user,
    synchronously*: retried until the commit succeeds or fails for good. *By the user, asynchronously*: sent once.
    """

    config: GroupRebalanceConfig
    finder: CoordinatorLookup
    """Knows the coordinator, or looks it up."""

    def __init__(
        self,
        client: ConsumerNetworkClient,
        subscriptions: SubscriptionState,
        interceptors: ConsumerInterceptors,
        commits: OffsetCommitter,
        *,
        auto_commit_interval_ms: float | None,
        retry_backoff_ms: float,
        time: Time,
    ) -> None:
        """Without an ``auto_commit_interval_ms``, only the user commits."""
        self._client = client
        self._subscriptions = subscriptions
        self._interceptors = interceptors
        self._commits = commits
        self._auto_commit_interval_ms = auto_commit_interval_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._time = time
        self._next_auto_commit_ms = math.inf
        self._restart_auto_commit_timer()
        self._completed_commits: deque[Callable[[], None]] = deque()
        self._pending_async_commits = 0

    # ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def poll(self, timer: Timer) -> bool:
        """Do what is due in the group, and commit what is due; false if that takes longer than the timer. Raises fatal
        errors."""

    @property
    @abstractmethod
    def generation(self) -> Generation:
        """The newest generation that this member has joined; in a group of KIP-848 the generation is its epoch."""

    @property
    @abstractmethod
    def group_metadata(self) -> ConsumerGroupMetadata:
        """The member in the generation, or epoch, of the current assignment. It stays after the member has lost it, so
        that its transactions are refused."""

    @property
    @abstractmethod
    def reads_on(self) -> bool:
        """Whether the member keeps reading its partitions while the group rebalances."""

    @abstractmethod
    def time_to_next_poll(self, now_ms: float) -> float:
        """How long the consumer may wait for records before there is something to do here, ms."""

    @abstractmethod
    def on_subscription_changed(self) -> None:
        """The user has subscribed to other topics."""

    @abstractmethod
    def rejoin_needed_or_pending(self) -> bool:
        """Whether the member has to join, or is joining."""

    @abstractmethod
    def request_rejoin(self, reason: str) -> None:
        """Make the group rebalance."""

    @abstractmethod
    def on_leave_prepare(self) -> KafkaError | None:
        """Before the member leaves: give up the assignment. Returns the error of the user's listener, if any."""

    @abstractmethod
    def maybe_leave_group(self, reason: str) -> None:
        """Leave the group if the member is in it."""

    @abstractmethod
    def close(self, timer: Timer) -> None:
        """Commit, wait for asynchronous commits, and leave the group."""

    # ── Committed offsets ─────────────────────────────────────────────────────────────────────────────────────────

    def refresh_committed_offsets_if_needed(self, timer: Timer) -> bool:
        """Set missing positions to the committed offsets; false if the timer expires."""
        missing = self._subscriptions.initializing_partitions()
        if not missing:
            return True
        offsets = self.fetch_committed_offsets(set(missing), timer)
        if offsets is None:
            return False
        for partition, committed in offsets.items():
            state = self._subscriptions.state_or_none(partition)
            if state is not None and state.is_initializing:
                logger.info("Setting offset for partition %s to the committed offset %d", partition, committed.offset)
                state.committed = committed
                state.seek(committed.offset)
        return True

    def fetch_committed_offsets(
        self, partitions: set[TopicPartition], timer: Timer
    ) -> dict[TopicPartition, OffsetAndMetadata] | None:
        """The group's committed offsets of these partitions; None if the timer expires. Raises fatal errors."""
        return self._commits.fetch_committed_offsets(partitions, timer)

    # ── Commits ───────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_offsets_sync(self, offsets: Offsets, timer: Timer) -> bool:
        """Commit until it succeeds; false if the timer expires. Raises errors that are not retriable."""
        self.invoke_completed_commit_callbacks()
        while offsets:
            if self.finder.is_unknown and not self.finder.ensure_ready(timer):
                return False
            future = self._commits.send_commit(offsets)
            self._client.poll_future(future, timer)
            # Earlier asynchronous commits call their callbacks before this returns.
            self.invoke_completed_commit_callbacks()
            if future.succeeded:
                self._interceptors.on_commit(offsets)
                return True
            if future.failed and not future.is_retriable:
                raise future.exception
            timer.sleep(self._retry_backoff_ms)
            if timer.is_expired:
                return False
        return self._await_pending_async_commits(timer)

    def _await_pending_async_commits(self, timer: Timer) -> bool:
        while self._pending_async_commits > 0 and timer.not_expired:
            self._client.poll(timer)
            self.invoke_completed_commit_callbacks()
        return self._pending_async_commits == 0

    def commit_offsets_async(self, offsets: Offsets, callback: OffsetCommitCallback | None = None) -> None:
        """Commit once. ``callback`` is called by a later poll, commit or close."""
        self.invoke_completed_commit_callbacks()
        self._pending_async_commits += 1
        if not self.finder.is_unknown:
            self._do_commit_async(offsets, callback)
        else:
            # The lookup may end in the heartbeat thread. The commit is sent when this thread learns of it.
            future = self.finder.lookup()
            future.add_listener(
                lambda _: self._completed_commits.append(lambda: self._do_commit_async(offsets, callback)),
                lambda error: self._completed_commits.append(lambda: self._async_done(offsets, callback, error)),
            )
        # Send it now instead of with the next poll.
        self._client.poll_no_wakeup()

    def _do_commit_async(self, offsets: Offsets, callback: OffsetCommitCallback | None) -> None:
        future = self._commits.send_commit(offsets)
        future.add_listener(
            lambda _: self._completed_commits.append(lambda: self._async_done(offsets, callback, None)),
            lambda error: self._completed_commits.append(lambda: self._async_done(offsets, callback, error)),
        )

    def _async_done(self, offsets: Offsets, callback: OffsetCommitCallback | None, error: BaseException | None) -> None:
        """Call interceptors and callback of a commit that has ended, in the user's thread."""
        self._pending_async_commits -= 1
        reported: Exception | None = None
        if error is None:
            self._interceptors.on_commit(offsets)
        else:
            reported = RetriableCommitFailedError(error) if is_retriable(error) else KafkaError(str(error))
            if isinstance(error, Exception) and not is_retriable(error):
                reported = error
        if callback is not None:
            callback(offsets, reported)
        elif reported is not None:
            logger.error("Offset commit with offsets %s failed: %s", dict(offsets), reported)

    def invoke_completed_commit_callbacks(self) -> None:
        """Call the callbacks of asynchronous commits that have ended."""
        while self._completed_commits:
            self._completed_commits.popleft()()

    # ── Automatic commits ─────────────────────────────────────────────────────────────────────────────────────────

    def maybe_auto_commit_offsets_async(self, now_ms: float) -> None:
        """Commit the positions if the interval has passed."""
        if self._auto_commit_interval_ms is None or now_ms < self._next_auto_commit_ms:
            return
        self._next_auto_commit_ms = now_ms + self._auto_commit_interval_ms
        offsets = self._subscriptions.all_consumed()
        if offsets:
            logger.debug("Sending asynchronous auto-commit of offsets %s", offsets)
            self.commit_offsets_async(offsets, self._on_auto_commit)

    def _on_auto_commit(self, offsets: Offsets, error: Exception | None) -> None:
        if error is None:
            logger.debug("Completed asynchronous auto-commit of offsets %s", offsets)
        elif isinstance(error, RetriableCommitFailedError):
            logger.debug("Asynchronous auto-commit failed due to retriable error: %s", error)
            sooner_ms = self._time.hi_res_ms() + self._retry_backoff_ms
            self._next_auto_commit_ms = min(self._next_auto_commit_ms, sooner_ms)
        else:
            logger.warning("Asynchronous auto-commit of offsets %s failed: %s", dict(offsets), error)

    def _maybe_auto_commit_offsets_sync(self, timer: Timer) -> None:
        """Commit the positions when the consumer closes."""
        if self._auto_commit_interval_ms is None:
            return
        offsets = self._positions_to_commit()
        try:
            logger.debug("Sending synchronous auto-commit of offsets %s", offsets)
            if not self.commit_offsets_sync(offsets, timer):
                logger.debug("Auto-commit of offsets %s timed out before completion", offsets)
        except WakeupError:
            raise
        except KafkaError as error:
            logger.warning("Synchronous auto-commit of offsets %s failed: %s", offsets, error)

    def _positions_to_commit(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets of the last automatic commit."""
        return self._subscriptions.all_consumed()

    def _restart_auto_commit_timer(self) -> None:
        """Begin a new interval: the positions are committed, or there are none yet."""
        if self._auto_commit_interval_ms is not None:
            self._next_auto_commit_ms = self._time.hi_res_ms() + self._auto_commit_interval_ms

    def _commit_at_the_end(self, timer: Timer) -> None:
        """Commit, and wait for asynchronous commits, before the consumer closes."""
        self._maybe_auto_commit_offsets_sync(timer)
        while self._pending_async_commits > 0 and timer.not_expired:
            if not self.finder.ensure_ready(timer):
                break
            self._client.poll(timer)
            self.invoke_completed_commit_callbacks()
