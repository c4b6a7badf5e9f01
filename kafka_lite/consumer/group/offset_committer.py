"""Sends OffsetCommit and OffsetFetch for a member of a group.

Kafka 0.10.2: clients/.../consumer/internals/ConsumerCoordinator.java (sendOffsetCommitRequest, sendOffsetFetchRequest)
· book 4.4.2, 4.4.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import CommitFailedError, StaleMemberEpochError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import NO_GENERATION, Generation
from kafka_lite.consumer.group.coordinator_response_handler import (
    ANOTHER_COORDINATOR,
    CoordinatorResponseHandler,
    GroupMember,
)
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import SubscriptionState
from kafka_lite.consumer.timer import Backoff, Timer
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)
from kafka_lite.protocol.schema_error import UnsupportedVersionError

logger = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
CommittedOffsets = dict[TopicPartition, OffsetAndMetadata]

FETCH_OF_GROUPS = 8
"""From this version on, OffsetFetch is for several groups."""


class OffsetVersions(NamedTuple):
    """The oldest and the newest version of the two requests that a member may use."""

    commit: tuple[int, int]
    fetch: tuple[int, int]


CLASSIC_VERSIONS = OffsetVersions(commit=(2, 8), fetch=(1, 7))
"""Commits before version 2 (0.9) have a timestamp per offset; fetches of version 0 would read from ZooKeeper."""
MODERN_VERSIONS = OffsetVersions(commit=(9, 9), fetch=(9, 9))
"""The first that know members of KIP-848. Later ones name topics by their ids."""
REQUIRE_STABLE_FROM = 7
"""The broker answers with an error while a transaction that commits these offsets is open (KIP-447). Who began before
it would do its work again."""

TOO_LARGE = frozenset({Errors.OFFSET_METADATA_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE})
TRY_AGAIN = frozenset({Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.UNKNOWN_TOPIC_OR_PARTITION})
EPOCH_IS_OVER = frozenset({Errors.UNKNOWN_MEMBER_ID, Errors.STALE_MEMBER_EPOCH})
"""Errors of an OffsetFetch of a member of KIP-848."""
NOT_A_MEMBER = frozenset({Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION})


class CommittingOwner(GroupMember, Protocol):
    """The part of a member that commits need."""

    @property
    def is_rebalancing(self) -> bool:
        """Whether the member is joining, so that it cannot commit now."""
        ...

    def generation_if_stable(self) -> Generation | None:
        """The generation, or epoch, in which the member may commit; None if it is in none."""
        ...


class OffsetCommitter:
    """Sends the requests and interprets the responses. The coordinator decides when to commit and what to wait for.

    A member's commit carries its generation, so that the coordinator can refuse a late one: the partitions may belong
    to another member already. A consumer whose user assigns its partitions has no generation, and its last commit
    counts.
    """

    def __init__(
        self,
        coordinator: CommittingOwner,
        client: ConsumerNetworkClient,
        subscriptions: SubscriptionState,
        fetch_backoff: Backoff,
        commit_latency: Sensor,
        versions: OffsetVersions = CLASSIC_VERSIONS,
    ) -> None:
        self._coordinator = coordinator
        self._versions = versions
        self._commit_latency = commit_latency
        self._client = client
        self._subscriptions = subscriptions
        self._pending_fetch: _PendingFetch | None = None
        self._fetch_backoff = fetch_backoff

    def send_commit(self, offsets: Offsets) -> RequestFuture[None]:
        """Commit once. Fails with CommitFailedError, before anything is sent, if the member is in no generation."""
        if not offsets:
            return RequestFuture.success(None)
        node = self._coordinator.finder.coordinator
        if node is None:
            return RequestFuture.coordinator_not_available()
        generation = NO_GENERATION
        if self._subscriptions.has_auto_assigned_partitions:
            current = self._coordinator.generation_if_stable()
            if current is None:
                return RequestFuture.failure(self._not_in_a_generation())
            generation = current
        request = self._commit_request(offsets, generation)
        logger.debug("Sending OffsetCommit request with %s to coordinator %s", offsets, node)
        return self._client.send(node, request).compose(
            _OffsetCommitHandler(self._coordinator, generation, offsets, self._subscriptions, self._commit_latency)
        )

    def _not_in_a_generation(self) -> Exception:
        if self._coordinator.is_rebalancing:
            return Errors.REBALANCE_IN_PROGRESS.exception(
                "Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition "
                "assignment. You can try completing the rebalance by calling poll() and then retry the operation."
            )
        return CommitFailedError("the consumer is not part of an active group")

    def _commit_request(self, offsets: Offsets, generation: Generation) -> RequestBuilder:
        config = self._coordinator.config
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for partition, each in offsets.items():
            topics.setdefault(partition.topic, []).append(
                OffsetCommitRequestPartition(
                    partition_index=partition.partition,
                    committed_offset=each.offset,
                    committed_leader_epoch=each.leader_epoch,
                    committed_metadata=each.metadata,
                )
            )
        request = OffsetCommitRequest(
            group_id=config.group_id,
            generation_id_or_member_epoch=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=config.group_instance_id if generation.has_member_id else None,
            topics=[OffsetCommitRequestTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
        )
        return RequestBuilder.of(request, *self._versions.commit)

    def send_fetch(self, partitions: Iterable[TopicPartition]) -> RequestFuture[CommittedOffsets]:
        """Fetch the committed offsets once. Partitions without one are missing from the result."""
        node = self._coordinator.finder.coordinator
        if node is None:
            return RequestFuture.coordinator_not_available()
        topics: dict[str, list[int]] = {}
        for topic, number in sorted(partitions):
            topics.setdefault(topic, []).append(number)

        def build(version: int) -> OffsetFetchRequest:
            return self._fetch_request(topics, version)

        request = RequestBuilder.by(OffsetFetchRequest.API_KEY, build, *self._versions.fetch)
        return self._client.send(node, request).compose(
            _OffsetFetchHandler(self._coordinator, self._coordinator.generation)
        )

    def _fetch_request(self, topics: Mapping[str, list[int]], version: int) -> OffsetFetchRequest:
        config = self._coordinator.config
        if config.throw_on_unsupported_stable_offset and version < REQUIRE_STABLE_FROM:
            raise UnsupportedVersionError(
                f"the broker has OffsetFetch up to version {version}; version {REQUIRE_STABLE_FROM}, of Kafka 2.5, "
                "waits while a transaction that commits the offsets is open"
            )
        if version < FETCH_OF_GROUPS:
            asked = [OffsetFetchRequestTopic(name=name, partition_indexes=each) for name, each in topics.items()]
            return OffsetFetchRequest(
                group_id=config.group_id, topics=asked, require_stable=version >= REQUIRE_STABLE_FROM
            )
        member = self._coordinator.generation_if_stable() or NO_GENERATION
        group = OffsetFetchRequestGroup(
            group_id=config.group_id,
            member_id=member.member_id or None,
            member_epoch=member.generation_id,
            topics=[OffsetFetchRequestTopics(name=name, partition_indexes=each) for name, each in topics.items()],
        )
        return OffsetFetchRequest(groups=[group], require_stable=True)

    def fetch_committed_offsets(self, partitions: set[TopicPartition], timer: Timer) -> CommittedOffsets | None:
        """The group's committed offsets of these partitions; None if the timer expires. Raises fatal errors.

        A request of an earlier call that timed out is waited for instead of being sent again.
        """
        if not partitions:
            return {}
        while self._coordinator.finder.ensure_ready(timer):
            pending, generation = self._pending_fetch, self._coordinator.generation
            if pending is None or (pending.partitions, pending.generation) != (partitions, generation):
                if not self._fetch_backoff.is_over(timer):
                    return None
                pending = _PendingFetch(partitions, generation, self.send_fetch(partitions))
                self._pending_fetch = pending
            future = pending.future
            if not self._client.poll_future(future, timer):
                return None
            self._pending_fetch = None
            if future.succeeded:
                return future.value
            if not future.is_retriable:
                raise future.exception
            self._fetch_backoff.begin()
        return None


@dataclass(frozen=True)
class _PendingFetch:
    """An OffsetFetch in progress."""

    partitions: set[TopicPartition]
    generation: Generation
    future: RequestFuture[CommittedOffsets]


class _OffsetCommitHandler(CoordinatorResponseHandler[None]):
    def __init__(
        self,
        owner: CommittingOwner,
        sent_generation: Generation,
        offsets: Offsets,
        subscriptions: SubscriptionState,
        latency: Sensor,
    ) -> None:
        super().__init__(owner, sent_generation)
        self._latency = latency
        self._offsets = offsets
        self._subscriptions = subscriptions

    def handle(self, value: ClientResponse, future: RequestFuture[None]) -> None:
        response = cast(OffsetCommitResponse, value.response)
        self._latency.record(value.request_latency_ms)
        unauthorized = set()
        for topic in response.topics:
            for each in topic.partitions:
                partition, error = TopicPartition(topic.name, each.partition_index), Errors.for_code(each.error_code)
                if error is Errors.NONE:
                    self._committed(partition)
                elif error is Errors.TOPIC_AUTHORIZATION_FAILED:
                    unauthorized.add(topic.name)
                else:
                    future.fail(self._failure(error, partition))
                    return
        if unauthorized:
            error = Errors.TOPIC_AUTHORIZATION_FAILED
            future.fail(error.exception(f"Not authorized to access topics: {sorted(unauthorized)}"))
        else:
            future.complete(None)

    def _committed(self, partition: TopicPartition) -> None:
        logger.debug("Committed offset %s for partition %s", self._offsets.get(partition), partition)
        state = self._subscriptions.state_or_none(partition)
        if state is not None and partition in self._offsets:
            state.committed = self._offsets[partition]

    def _failure(self, error: Errors, partition: TopicPartition) -> Exception:
        """The exception for an error of one partition. Also updates the member's state as the error requires."""
        logger.log(
            logging.WARNING if error.retriable else logging.ERROR,
            "Offset commit failed on partition %s: %s", partition, error.message,
        )  # fmt: skip
        if error in TOO_LARGE or error in TRY_AGAIN:
            return error.exception(f"Offset commit failed on partition {partition}: {error.message}")
        if error in ANOTHER_COORDINATOR or error is Errors.REQUEST_TIMED_OUT:
            self._owner.finder.mark_unknown(error.name)
            return error.exception()
        if error is Errors.REBALANCE_IN_PROGRESS:
            if self.generation_is_current:
                self._owner.request_rejoin("offset commit failed since group is already rebalancing")
            return error.exception("Offset commit cannot be completed since the group is rebalancing: poll, then retry")
        if error is Errors.STALE_MEMBER_EPOCH:
            return StaleMemberEpochError()
        if error in NOT_A_MEMBER:
            self.reset_generation(error)
            return CommitFailedError(error.name)
        if error in (Errors.FENCED_INSTANCE_ID, Errors.GROUP_AUTHORIZATION_FAILED, Errors.INVALID_GROUP_ID):
            return error.exception(f"group {self._owner.config.group_id}: {error.message}")
        return KafkaError(f"Unexpected error in commit: {error.message}")


class _OffsetFetchHandler(CoordinatorResponseHandler[CommittedOffsets]):
    def handle(self, value: ClientResponse, future: RequestFuture[CommittedOffsets]) -> None:
        whole = cast(OffsetFetchResponse, value.response)
        response = whole.groups[0] if value.api_version >= FETCH_OF_GROUPS else whole
        failure = self._failure(Errors.for_code(response.error_code), None)
        offsets: CommittedOffsets = {}
        for topic in response.topics:
            for each in topic.partitions:
                partition = TopicPartition(topic.name, each.partition_index)
                failure = failure or self._failure(Errors.for_code(each.error_code), partition)
                if each.committed_offset >= 0:
                    offsets[partition] = _committed_offset(each)
        if failure is not None:
            future.fail(failure)
        else:
            future.complete(offsets)

    def _failure(self, error: Errors, partition: TopicPartition | None) -> Exception | None:
        """The exception for an error of the whole response, or of one partition; None for NONE."""
        if error is Errors.NONE:
            return None
        logger.debug("Offset fetch failed: %s %s", error.name, partition or "")
        if error in ANOTHER_COORDINATOR:
            self._owner.finder.mark_unknown(error.name)
            return error.exception()
        if error in EPOCH_IS_OVER:
            # The next response to a heartbeat has the new epoch, or makes the member join again.
            return Errors.COORDINATOR_LOAD_IN_PROGRESS.exception(f"the member's epoch is over: {error.name}")
        if error is Errors.UNKNOWN_TOPIC_OR_PARTITION:
            return KafkaError(f"Topic or partition {partition} does not exist")
        if error.retriable:
            return error.exception()
        if error is Errors.TOPIC_AUTHORIZATION_FAILED and partition is not None:
            return error.exception(f"Not authorized to access topics: [{partition.topic}]")
        return ApiError(error, f"group {self._owner.config.group_id}: {error.message}")


def _committed_offset(partition: OffsetFetchResponsePartition | OffsetFetchResponsePartitions) -> OffsetAndMetadata:
    return OffsetAndMetadata(partition.committed_offset, partition.metadata or "", partition.committed_leader_epoch)
