"""Takes over an assignment: commits, calls the listener, changes what the consumer reads.

Kafka 4.1: clients/.../consumer/internals/AbstractMembershipManager.java (maybeReconcile, revokeAndAssign) · book 5.1.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from uuid import UUID

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.group.commit_before_join import CommitBeforeJoin
from kafka_lite.consumer.group.consumer_rebalance_listener_invoker import (
    ConsumerRebalanceListenerInvoker,
    Partitions,
    names,
)
from kafka_lite.consumer.group.modern.local_assignment import NO_ASSIGNMENT, Reconciliation, reconciliation
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.consumer.group.modern.topic_names import TopicNames
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Timer

logger = logging.getLogger(__name__)

NewCommit = Callable[[Mapping[TopicPartition, OffsetAndMetadata]], CommitBeforeJoin | None]
"""Begins a commit of positions; None if the consumer does not commit by itself."""


class Reconciler:
    """Reconciles in the user's thread, within ``poll``; the commit may take several polls.

    ::

        1  commit       the positions of the partitions that are given up, which return no more records from now on
        2  revoke       on_partitions_revoked, then the consumer reads them no longer
        3  assign       the consumer reads the new ones, on_partitions_assigned
        4  acknowledge  the next heartbeat says what the member has, and only then others get what it has given up

    The order is what keeps two members from reading one partition. At each step the member may learn that it was
    fenced: then what is left of the assignment is lost. If the listener raises, nothing is acknowledged, and the next
    poll begins again with what is left to do; a coordinator that waits too long removes the member.
    """

    def __init__(
        self,
        membership: Membership,
        subscriptions: SubscriptionState,
        topic_names: TopicNames,
        listener: ConsumerRebalanceListenerInvoker,
        new_commit: NewCommit,
        on_committed: Callable[[CommitBeforeJoin], None],
        lock: threading.Condition,
    ) -> None:
        self._membership = membership
        self._subscriptions = subscriptions
        self._topic_names = topic_names
        self._listener = listener
        self._new_commit = new_commit
        self._on_committed = on_committed
        self._lock = lock
        self._commit: CommitBeforeJoin | None = None
        self._committing: Partitions = frozenset()
        self._unannounced: Partitions | None = None
        """New partitions for which ``on_partitions_assigned`` has not returned; None if it has."""
        self._owned: dict[TopicPartition, UUID] = {}
        """The partitions that the consumer reads, with the ids of their topics."""

    def reconcile(self, timer: Timer) -> KafkaError | None:
        """Do the next steps, as far as the time allows. Returns the error of the user's listener, if any."""
        membership = self._membership
        with self._lock:
            if membership.state is not MemberState.RECONCILING:
                return None
            target, current, joins = membership.target, membership.current, membership.joins
        topics = self._topic_names.of(target.partitions)
        plan = reconciliation(target, self._owned, topics)
        if plan.unresolved and plan.resolved == current:
            return None  # what is known has been acknowledged; metadata must bring the names of the rest
        if current != NO_ASSIGNMENT and plan.changes_nothing and self._unannounced is None:
            self._stop_commit()
            self._acknowledge(plan, joins)
            return None
        if not self._is_committed(plan.revoked, timer):
            return None
        failure = self._revoke(plan.revoked)
        if failure is None and self._is_valid(joins):
            failure = self._assign(plan)
        if failure is None:
            self._acknowledge(plan, joins)
        return failure

    def _is_valid(self, joins: int) -> bool:
        """Whether the member is still in the group in which the reconciliation began."""
        with self._lock:
            return self._membership.state is MemberState.RECONCILING and self._membership.joins == joins

    def _is_committed(self, revoked: Partitions, timer: Timer) -> bool:
        """Commit the positions of the partitions that are given up; false if that takes longer than the timer."""
        if self._commit is None or self._committing != revoked:
            self._stop_commit()
            if not revoked:
                return True
            self._subscriptions.mark_pending_revocation(revoked)
            positions = self._subscriptions.all_consumed()
            self._commit = self._new_commit({each: positions[each] for each in revoked if each in positions})
            self._committing = revoked
        if self._commit is not None:
            if not self._commit.is_over(timer):
                return False
            self._on_committed(self._commit)
        self._commit = None
        return True

    def _stop_commit(self) -> None:
        """There is another assignment by now, by which the partitions may stay."""
        self._subscriptions.mark_pending_revocation(self._committing, pending=False)
        self._commit, self._committing = None, frozenset()

    def _revoke(self, revoked: Partitions) -> KafkaError | None:
        if not revoked:
            return None
        paused = self._subscriptions.paused_partitions() & revoked
        if paused:
            logger.info("The pause flag in partitions %s will be removed due to revocation", names(paused))
        failure = self._listener.invoke_partitions_revoked(revoked)
        if failure is None:
            self._own({each: topic_id for each, topic_id in self._owned.items() if each not in revoked})
            self._committing = frozenset()
            self._unannounced = (self._unannounced or frozenset()) - revoked
        return failure

    def _assign(self, plan: Reconciliation) -> KafkaError | None:
        added = plan.added | ((self._unannounced or frozenset()) & plan.assigned.keys())
        self._unannounced = added
        self._own(plan.assigned)
        failure = self._listener.invoke_partitions_assigned(added)
        if failure is None:
            self._unannounced = None
        return failure

    def _own(self, partitions: Mapping[TopicPartition, UUID]) -> None:
        self._owned = dict(partitions)
        self._subscriptions.reassign_from_subscribed(sorted(partitions))

    def _acknowledge(self, plan: Reconciliation, joins: int) -> None:
        with self._lock:
            if not self._is_valid(joins):
                return  # the next poll releases what has just been assigned
            self._membership.reconciled(plan.resolved)
        self._topic_names.keep(plan.resolved.partitions.keys() | plan.unresolved)

    # ── giving up everything ──────────────────────────────────────────────────────────────────────────────────────

    def release(self, *, is_lost: bool) -> KafkaError | None:
        """Give up all partitions. Returns the error of the user's listener, if any; a wakeup changes nothing."""
        owned = self._subscriptions.assigned_partitions
        failure = None
        if owned and is_lost:
            failure = self._listener.invoke_partitions_lost(owned)
        elif owned:
            failure = self._listener.invoke_partitions_revoked(owned)
        if self._subscriptions.has_auto_assigned_partitions:
            self._subscriptions.assign_from_subscribed(())
        self._commit, self._committing, self._unannounced, self._owned = None, frozenset(), None, {}
        self._topic_names.clear()
        return failure
