"""The member of a consumer group: joins with its subscription, takes over assignments, commits offsets.

Kafka 0.10.2: clients/.../consumer/internals/ConsumerCoordinator.java · book 4.1.2, 4.4.1, 5.1.3, 5.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.builtin_assignors import common_protocol
from kafka_lite.consumer.assignors.cooperative_sticky_assignor import validate_cooperative_assignment
from kafka_lite.consumer.assignors.partition_assignor import (
    PROTOCOL_TYPE,
    PartitionAssignor,
    RebalanceProtocol,
    Subscription,
    deserialize_assignment,
    deserialize_subscription,
    serialize_assignment,
    serialize_subscription,
)
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptors
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import NO_GENERATION_ID, Generation
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.group.commit_before_join import CommitBeforeJoin
from kafka_lite.consumer.group.committing_member import CommittingMember, matching_topics
from kafka_lite.consumer.group.consumer_coordinator_metrics import ConsumerCoordinatorMetrics
from kafka_lite.consumer.group.consumer_rebalance_listener_invoker import (
    ConsumerRebalanceListenerInvoker,
    Partitions,
    names,
    raise_first,
)
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.group.offset_committer import OffsetCommitter
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Backoff, Timer, unlimited
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequestProtocol, JoinGroupResponseMember

logger = logging.getLogger(__name__)

MetadataSnapshot = dict[str, int | None]
"""The number of partitions of each topic of the group. The leader watches it for changes."""


class ConsumerCoordinator(AbstractCoordinator, CommittingMember):
    """The group's part of ``poll``, before records are fetched.

    ::

        poll ─ callbacks of finished commits ─ heartbeat.poll ─ coordinator known? ─ in the group? ─ time to commit?

        rejoin_needed   a heartbeat said so · the subscription has changed · as leader: the partitions of a topic have
                              eager                               cooperative
        is_ready_to_join      commit                              commit
        on_join_prepare       on_partitions_revoked: all          –
        perform_assignment    as leader: the assignor, on the subscriptions of all members
        on_join_complete      –                                   on_partitions_revoked: what others are to have
                              the new assignment                  the new assignment
                              on_partitions_assigned: all         on_partitions_assigned: what is new
                                                                  if anything was given up: join again

    The assignors determine which of the two columns applies (``RebalanceProtocol``). A cooperative member keeps reading
    while it joins, so its polls do not wait for the group: they check how far the join is, and fetch.
    """

    sensors: ConsumerCoordinatorMetrics

    def __init__(
        self,
        config: GroupRebalanceConfig,
        client: ConsumerNetworkClient,
        metadata: Metadata,
        subscriptions: SubscriptionState,
        assignors: Sequence[PartitionAssignor],
        interceptors: ConsumerInterceptors,
        *,
        auto_commit_interval_ms: float | None,
        exclude_internal_topics: bool,
        metrics: Metrics,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """Without an ``auto_commit_interval_ms``, only the user commits."""
        self._metadata = metadata
        self._subscriptions = subscriptions
        AbstractCoordinator.__init__(self, config, client, metrics, time=time)
        fetch_backoff = Backoff(time, config.retry_backoff_ms)
        CommittingMember.__init__(
            self,
            client,
            subscriptions,
            interceptors,
            OffsetCommitter(self, client, subscriptions, fetch_backoff, self.sensors.commit_latency),
            auto_commit_interval_ms=auto_commit_interval_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            time=time,
        )
        self._assignors = assignors
        self._protocol = common_protocol(assignors)
        self._listener = ConsumerRebalanceListenerInvoker(subscriptions, self.sensors, time)
        self._exclude_internal_topics = exclude_internal_topics
        self._last_commit: CommitBeforeJoin | None = None
        self._given_up: dict[TopicPartition, OffsetAndMetadata] = {}
        """Positions of revoked partitions, to be committed before the member joins again."""
        self._unannounced: Partitions = frozenset()
        """New partitions for which ``on_partitions_assigned`` has not returned. After a wakeup it is called again."""
        self._assigned_in = NO_GENERATION_ID
        """The generation of the current assignment."""
        self._group_metadata = ConsumerGroupMetadata(config.group_id, group_instance_id=config.group_instance_id)
        self._is_leader = False
        self._joined_subscription: frozenset[str] | None = None
        """The subscription with which the member has joined; empty if no topic matched its pattern. None before a
        join."""
        self._metadata_snapshot: MetadataSnapshot = {}
        self._assignment_snapshot: MetadataSnapshot | None = None
        self._newest_cluster: Cluster | None = metadata.fetch()
        metadata.add_listener(self._on_metadata_update)

    # ── Poll ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self, timer: Timer) -> bool:
        """Join the group if needed, and commit what is due; false if that takes longer than the timer. Raises fatal
        errors."""
        self._maybe_update_subscription_metadata()
        self.invoke_completed_commit_callbacks()
        if self._subscriptions.has_auto_assigned_partitions:
            # Before a join, which may take many polls: the user does poll, as max.poll.interval.ms demands.
            self.poll_heartbeat(timer.update())
            patience = timer.part(0) if self.reads_on else timer
            if self.finder.is_unknown and not self.finder.ensure_ready(patience):
                return False
            if self.rejoin_needed_or_pending() and not self._rejoin(patience):
                return False
        self.maybe_auto_commit_offsets_async(timer.update())
        return True

    @property
    def group_metadata(self) -> ConsumerGroupMetadata:
        """The member in the generation of the current assignment, also after it has lost that generation."""
        return self._group_metadata

    @property
    def reads_on(self) -> bool:
        """Whether the member keeps reading its partitions while it is joining.

        Always false for a consumer that assigns its partitions itself, because it is no member.
        """
        if self._protocol is not RebalanceProtocol.COOPERATIVE or not self._subscriptions.has_auto_assigned_partitions:
            return False
        return self.assigned_partition_count() > 0

    def _rejoin(self, timer: Timer) -> bool:
        if self._subscriptions.has_pattern_subscription:
            # The pattern must be matched against the cluster's topics once, or the member would join with no topics.
            if not self._client.ensure_fresh_metadata(timer):
                return False
            self._maybe_update_subscription_metadata()
        return self.ensure_active_group(timer)

    def time_to_next_poll(self, now_ms: float) -> float:
        """How long the consumer may wait for records before there is something to do here, ms."""
        if self.reads_on and (self.finder.is_unknown or self.rejoin_needed_or_pending()):
            return self.config.retry_backoff_ms  # overdue work that cannot be done yet must not make poll spin
        return min(max(0.0, self._next_auto_commit_ms - now_ms), self.time_to_next_heartbeat_ms(now_ms))

    def on_subscription_changed(self) -> None:
        """The subscription has changed. The metadata that is already known may be sufficient for it."""
        known = self._metadata.fetch()
        self._newest_cluster = self._newest_cluster or known  # unless newer metadata has just arrived

    # ── Topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_metadata_update(self, cluster: Cluster) -> None:
        """Only keep the cluster: any polling thread may call this. With a pattern, only this one has all topics."""
        self._newest_cluster = cluster

    def _maybe_update_subscription_metadata(self) -> None:
        cluster, self._newest_cluster = self._newest_cluster, None
        if cluster is None:
            return
        if self._subscriptions.has_pattern_subscription:
            self._update_pattern_subscription(cluster)
        if self._subscriptions.has_auto_assigned_partitions:
            self._remember(cluster)

    def _remember(self, cluster: Cluster) -> None:
        self._metadata_snapshot = self._snapshot_of(cluster)
        if any(count is None for count in self._metadata_snapshot.values()):
            self._metadata.request_update()  # a topic does not exist yet, or is being created

    def _update_pattern_subscription(self, cluster: Cluster) -> None:
        pattern = self._subscriptions.pattern
        assert pattern is not None
        topics = matching_topics(cluster, pattern, exclude_internal=self._exclude_internal_topics)
        if self._subscriptions.subscribe_from_pattern(topics):
            self._set_metadata_topics()
            self._metadata.request_update()  # metadata only keeps the partitions of topics that were asked for

    def _snapshot_of(self, cluster: Cluster) -> MetadataSnapshot:
        topics = self._subscriptions.metadata_topics
        return {topic: cluster.partition_count_for_topic(topic) for topic in topics}

    def _set_metadata_topics(self) -> None:
        self._metadata.set_topics(self._subscriptions.metadata_topics)

    # ── Joining ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def protocol_type(self) -> str:
        """The protocol type of consumers."""
        return PROTOCOL_TYPE

    def assigned_partition_count(self) -> int:
        """The number of assigned partitions."""
        return len(self._subscriptions.assigned_partitions)

    def new_sensors(self, metrics: Metrics, last_heartbeat_ms: Callable[[], float]) -> ConsumerCoordinatorMetrics:
        """Create the consumer's metrics."""
        return ConsumerCoordinatorMetrics(metrics, last_heartbeat_ms, self.assigned_partition_count)

    def rejoin_needed(self) -> bool:
        """Whether the member must join again, for one of the reasons that the class lists."""
        if not self._subscriptions.has_auto_assigned_partitions:
            return False
        if self._assignment_snapshot is not None and self._assignment_snapshot != self._metadata_snapshot:
            self.request_rejoin("cached metadata has changed since the last assignment")
        elif self._joined_subscription is not None and self._joined_subscription != self._subscriptions.subscription:
            self.request_rejoin("subscription has changed")
        return super().rejoin_needed()

    def protocols(self) -> list[JoinGroupRequestProtocol]:
        """One protocol for each assignor: its name, and the member's subscription with the assignor's user data."""
        self._joined_subscription = subscribed = self._subscriptions.subscription
        topics = tuple(sorted(subscribed))
        owned = tuple(sorted(self._subscriptions.assigned_partitions))
        protocols = []
        for assignor in self._assignors:
            subscription = Subscription(topics, assignor.subscription_user_data(topics), owned, self._assigned_in)
            metadata = serialize_subscription(subscription)
            protocols.append(JoinGroupRequestProtocol(name=assignor.name, metadata=metadata))
        return protocols

    def _assignor(self, name: str) -> PartitionAssignor:
        for assignor in self._assignors:
            if assignor.name == name:
                return assignor
        raise KafkaError(f"Coordinator selected invalid assignment protocol: {name!r}")

    def on_join_prepare(self, generation: Generation) -> None:
        """Give up partitions before a join: eagerly all of them, cooperatively those of topics no longer subscribed
        to."""
        owned = self._subscriptions.assigned_partitions
        is_eager = self._protocol is RebalanceProtocol.EAGER
        is_lost = bool(owned) and generation.generation_id == NO_GENERATION_ID
        given_up = owned
        if not is_eager and not is_lost:
            given_up = frozenset(each for each in owned if each.topic not in self._subscriptions.subscription)
        failure = None
        if given_up or is_eager:
            failure = self._let_go(given_up, is_lost=is_lost)
            self._subscriptions.reassign_from_subscribed(owned - given_up)
        self._is_leader = False
        self._assignment_snapshot = None
        self._unannounced = frozenset()
        self._subscriptions.reset_group_subscription()
        raise_first([failure])

    def _let_go(self, partitions: Partitions, *, is_lost: bool) -> KafkaError | None:
        if is_lost:
            return self._listener.invoke_partitions_lost(partitions)
        return self._listener.invoke_partitions_revoked(partitions)

    def perform_assignment(
        self, leader_id: str, protocol_name: str, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, bytes]:
        """As the leader: have the assignor assign the partitions of all members' topics."""
        assignor = self._assignor(protocol_name)
        subscriptions = {
            member.member_id: deserialize_subscription(member.metadata, member.group_instance_id) for member in members
        }
        topics = {topic for subscription in subscriptions.values() for topic in subscription.topics}
        self._watch(topics)
        self._is_leader = True
        logger.debug("Group %s: leader %s assigns with %s", self.config.group_id, leader_id, assignor.name)
        cluster = self._metadata.fetch()
        assignment = assignor.assign(cluster, subscriptions)
        if self._protocol is RebalanceProtocol.COOPERATIVE:
            validate_cooperative_assignment(assignor, subscriptions, assignment)
        assigned_topics = {partition.topic for each in assignment.values() for partition in each.partitions}
        if topics - assigned_topics and self._protocol is RebalanceProtocol.EAGER:
            logger.warning("Subscribed topics that no member is assigned: %s", sorted(topics - assigned_topics))
        if assigned_topics - topics:
            logger.info("Assigned topics that no member has subscribed to: %s", sorted(assigned_topics - topics))
            self._watch(assigned_topics)
        self._remember(self._metadata.fetch())
        # A topic that became known while the assignor ran is a change. A topic that the assignor created is not.
        self._assignment_snapshot = self._metadata_snapshot | {
            topic: count
            for topic in topics
            if (count := cluster.partition_count_for_topic(topic)) is not None or topic not in assigned_topics
        }
        return {member: serialize_assignment(each) for member, each in assignment.items()}

    def _watch(self, topics: Iterable[str]) -> None:
        """As the leader: fetch the metadata of these topics, and notice their changes from now on."""
        self._subscriptions.group_subscribe(topics)
        self._set_metadata_topics()
        self._client.ensure_fresh_metadata(unlimited(self._time), disable_wakeup=True)

    def on_join_complete(self, generation: Generation, assignment: bytes) -> KafkaError | None:
        """Take over the assignment. Repeated if a wakeup interrupts it."""
        if not self._is_leader:
            self._assignment_snapshot = None
        assignor, assigned = self._assignor(generation.protocol_name or ""), deserialize_assignment(assignment)
        if not all(self._subscriptions.matches_subscription(each) for each in assigned.partitions):
            self.request_rejoin("the assignment has topics that are not subscribed to (any more)")
            return None
        partitions = frozenset(assigned.partitions)
        revoked, added = self._changes(partitions)
        failures = [self._give_up_for_others(revoked)] if revoked else []
        self._add_matching_topics({partition.topic for partition in partitions})
        self._unannounced, self._assigned_in = added, generation.generation_id
        self._group_metadata = self._group_metadata._replace(
            generation_id=generation.generation_id, member_id=generation.member_id
        )
        self._subscriptions.reassign_from_subscribed(assigned.partitions)
        self._set_metadata_topics()
        assignor.on_assignment(assigned, generation.generation_id)
        self._restart_auto_commit_timer()
        failures.append(self._listener.invoke_partitions_assigned(added))
        self._unannounced = frozenset()
        return next((each for each in failures if each is not None), None)

    def _changes(self, assigned: Partitions) -> tuple[Partitions, Partitions]:
        """The revoked and the added partitions. An eager member has given up everything before, so nothing is
        revoked."""
        if self._protocol is RebalanceProtocol.EAGER:
            return frozenset(), assigned
        owned = self._subscriptions.assigned_partitions
        return owned - assigned, assigned - owned | self._unannounced

    def _give_up_for_others(self, revoked: Partitions) -> KafkaError | None:
        """Revoke partitions that move to other members: commit their positions, then join again without them."""
        failure = self._listener.invoke_partitions_revoked(revoked)
        if self._auto_commit_interval_ms is not None:
            positions = self._subscriptions.all_consumed()
            self._given_up |= {partition: positions[partition] for partition in revoked if partition in positions}
        self.request_rejoin(f"partitions {names(revoked)} were given up for others")
        return failure

    def _add_matching_topics(self, assigned: set[str]) -> None:
        """Subscribe to assigned topics that match the pattern, and that this member's metadata does not have yet."""
        if self._subscriptions.has_pattern_subscription and assigned - self._subscriptions.subscription:
            self._subscriptions.subscribe_from_pattern(self._subscriptions.subscription | assigned)
            self._joined_subscription = self._subscriptions.subscription

    def on_leave_prepare(self) -> KafkaError | None:
        """Give up all partitions, unless a wakeup interrupts the listener: then nothing changes."""
        partitions = self._subscriptions.assigned_partitions
        failure = None
        if self._subscriptions.has_auto_assigned_partitions and partitions:
            has_left = self.generation.generation_id == NO_GENERATION_ID
            is_lost = has_left or self.state is MemberState.REBALANCING  # a state in which commits are refused
            failure = self._let_go(partitions, is_lost=is_lost)
            self._subscriptions.assign_from_subscribed(())
        self._is_leader = False
        self._assignment_snapshot = None
        self._joined_subscription = None
        self._unannounced, self._given_up, self._last_commit = frozenset(), {}, None
        return failure

    def is_ready_to_join(self, timer: Timer) -> bool:
        """Commit before partitions are given up, over several polls if needed, for up to the rebalance timeout."""
        if self._auto_commit_interval_ms is None:
            return True
        if self._last_commit is None:
            offsets = self._given_up | self._subscriptions.all_consumed()
            deadline = Timer(self._time, self.config.rebalance_timeout_ms)
            backoff = Backoff(self._time, self.config.retry_backoff_ms)
            self._last_commit = CommitBeforeJoin(offsets, deadline, backoff, self._commits, self._client, self.finder)
        commit = self._last_commit
        is_over = commit.is_over(timer)
        self.invoke_completed_commit_callbacks()
        if not is_over:
            return False
        if commit.has_succeeded:
            self._interceptors.on_commit(commit.offsets)
        self._last_commit, self._given_up = None, {}
        return True

    def _positions_to_commit(self) -> dict[TopicPartition, OffsetAndMetadata]:
        return self._given_up | super()._positions_to_commit()

    # ── The end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, timer: Timer) -> None:
        """Commit, wait for asynchronous commits, and leave the group."""
        try:
            self._commit_at_the_end(timer)
            self.abandon_join(timer)
        finally:
            super().close(timer)
            self.invoke_completed_commit_callbacks()
            self._metadata.remove_listener(self._on_metadata_update)
