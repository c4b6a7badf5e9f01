"""Describes, alters and deletes the offsets of share groups, which the share coordinator keeps.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java (describeShareGroupOffsets, alterShareGroupOffsets,
deleteShareGroupOffsets), GroupMetadataManager.java (completeAlterShareGroupOffsets,
sharePartitionsEligibleForOffsetDeletion) · book 3.5.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.modern.share.group_state_keeper import GroupStateKeeper, Outcomes, first_error
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, grouped, pairs
from kafka_lite.coordinator.group.modern.topics_image import CurrentTopics, TopicsImage
from kafka_lite.coordinator.share.persister import (
    DEFAULT_LEADER_EPOCH,
    UNINITIALIZED_EPOCH,
    UNINITIALIZED_START_OFFSET,
    PartitionErrorData,
    PartitionStateData,
    PartitionStateSummaryData,
    Persister,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequestGroup as DescribeGroup,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequestTopic as DescribeTopic,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponseGroup as DescribedGroup,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponsePartition as DescribedPartition,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponseTopic as DescribedTopic,
)
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import AlterShareGroupOffsetsRequest as AlterRequest
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import (
    AlterShareGroupOffsetsRequestTopic as AlterTopic,
)
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import (
    AlterShareGroupOffsetsResponse as AlterResponse,
)
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import (
    AlterShareGroupOffsetsResponsePartition as AlteredPartition,
)
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import (
    AlterShareGroupOffsetsResponseTopic as AlteredTopic,
)
from kafka_lite.protocol.messages.api_92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest as DeleteRequest,
)
from kafka_lite.protocol.messages.api_92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsResponse as DeleteResponse,
)
from kafka_lite.protocol.messages.api_92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsResponseTopic as DeletedTopic,
)

NOTHING_TO_DELETE = "There is no offset information to delete."


class ShareGroupOffsets:
    """The group's coordinator knows which partitions have state; the persister knows the offsets.

    ::

        describe    persister: read_summary
        alter       log: initializing ─▶ persister: initialize_state ─▶ log: initialized     of a group without members
        delete      log: deleting ─▶ persister: delete_state ─▶ log: not any more deleting   likewise

    No method raises; each calls ``respond`` once, now or in another thread.
    """

    def __init__(
        self, coordinator: GroupCoordinator, keeper: GroupStateKeeper, topics: CurrentTopics, persister: Persister
    ) -> None:
        self._coordinator = coordinator
        self._keeper = keeper
        self._topics = topics
        self._persister = persister

    # ── describe ──────────────────────────────────────────────────────────────────────────────────────────────────

    def describe(
        self,
        asked: DescribeGroup,
        respond: Callable[[DescribedGroup], None],
    ) -> None:
        """The offsets of partitions, or of all that have state. What has no offset has -1, as in Kafka."""
        topics = self._topics()
        unknown: list[DescribedTopic] = []
        if asked.topics is None:
            error = self._coordinator.check_group(asked.group_id)
            if error is not Errors.NONE:
                respond(DescribedGroup(group_id=asked.group_id, error_code=error.code, error_message=error.message))
                return
            known = self._keeper.initialized_partitions(asked.group_id)
            wanted: TopicIdPartitions = {
                topic_id: numbers for topic_id, numbers in known.items() if topics.topic_name(topic_id)
            }
        else:
            wanted, unknown = _resolve(topics, asked.topics)
        if not wanted:
            respond(DescribedGroup(group_id=asked.group_id, topics=unknown))
            return

        def summarized(summaries: Mapping[TopicIdPartition, PartitionStateSummaryData]) -> None:
            found = unknown + _described(topics, summaries)
            respond(DescribedGroup(group_id=asked.group_id, topics=found))

        leader_epochs = {TopicIdPartition(*pair): UNINITIALIZED_EPOCH for pair in pairs(wanted)}
        self._persister.read_summary(asked.group_id, leader_epochs, summarized)

    # ── alter ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def alter(
        self,
        asked: AlterRequest,
        respond: Callable[[AlterResponse], None],
    ) -> None:
        """Begin partitions of a group without members at other offsets.

        The group's error is INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, or one of the coordinator.
        """
        try:
            if not asked.group_id:
                raise Errors.INVALID_GROUP_ID.exception()
            if not asked.topics:
                respond(AlterResponse())
                return
            self._alter(asked, respond)
        except ApiError as failure:
            respond(_altering_failed(failure.error, str(failure)))

    def _alter(
        self,
        asked: AlterRequest,
        respond: Callable[[AlterResponse], None],
    ) -> None:
        group = self._keeper.share_group(asked.group_id)
        topics = self._topics()
        offsets = _existing(topics, asked.topics)
        with group.lock:
            share = _empty_share_group(group.share)
            states = {partition: PartitionStateData(share.group_epoch, offset) for partition, offset in offsets.items()}
            partitions = grouped(offsets)

            def altered(outcomes: Outcomes) -> None:
                made = grouped(partition for partition, each in outcomes.items() if each.error is Errors.NONE)
                self._keeper.note(group, lambda known: known.succeed(made).fail(partitions))
                respond(AlterResponse(responses=_altered(topics, asked.topics, outcomes)))

            def on_noted(error: Errors) -> None:
                if error is Errors.NONE:
                    group.lock.defer(lambda: self._persister.initialize_state(asked.group_id, states, altered))
                else:
                    respond(_altering_failed(error, error.message))

            names = {topic_id: topics.topic_name(topic_id) or "" for topic_id in partitions}
            self._keeper.note(group, lambda known: known.begin(partitions, names), on_noted)

    # ── delete ────────────────────────────────────────────────────────────────────────────────────────────────────

    def delete(
        self,
        asked: DeleteRequest,
        respond: Callable[[DeleteResponse], None],
    ) -> None:
        """Forget topics of a group without members. The group's errors are those of ``alter``."""
        try:
            if not asked.group_id:
                raise Errors.INVALID_GROUP_ID.exception()
            if not asked.topics:
                respond(DeleteResponse())
                return
            self._delete(asked, respond)
        except ApiError as failure:
            respond(_deleting_failed(failure.error, str(failure)))

    def _delete(
        self,
        asked: DeleteRequest,
        respond: Callable[[DeleteResponse], None],
    ) -> None:
        group = self._keeper.share_group(asked.group_id)
        topics = self._topics()
        with group.lock:
            share = _empty_share_group(group.share)
            gone, refused = _deletable(topics, share, [topic.topic_name for topic in asked.topics])
            if not gone:
                respond(DeleteResponse(responses=refused))
                return

            def deleted(outcomes: Outcomes) -> None:
                results = _deleted(topics, outcomes)
                done = {result.topic_id for result in results if not result.error_code}
                ordered = sorted(results, key=lambda result: bool(result.error_code)) + refused
                self._keeper.note(
                    group,
                    lambda known: known.deleted(done),
                    lambda error: respond(
                        DeleteResponse(responses=ordered)
                        if error is Errors.NONE
                        else _deleting_failed(error, error.message)
                    ),
                )

            def on_noted(error: Errors) -> None:
                if error is Errors.NONE:
                    asking = [TopicIdPartition(*pair) for pair in pairs(gone)]
                    group.lock.defer(lambda: self._persister.delete_state(asked.group_id, asking, deleted))
                else:
                    respond(_deleting_failed(error, error.message))

            self._keeper.note(group, lambda known: known.delete(gone.keys()), on_noted)


def _empty_share_group(share: ShareGroup | None) -> ShareGroup:
    """The group, which has no members. Raises GROUP_ID_NOT_FOUND or NON_EMPTY_GROUP."""
    if share is None:
        raise Errors.GROUP_ID_NOT_FOUND.exception()
    share.check_empty()
    return share


# ── describe ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _resolve(topics: TopicsImage, asked: Iterable[DescribeTopic]) -> tuple[TopicIdPartitions, list[DescribedTopic]]:
    """The partitions by topic id, and the topics that there are not."""
    wanted: dict[UUID, frozenset[int]] = {}
    unknown = []
    for each in asked:
        topic = topics.topic(each.topic_name)
        if topic is None:
            partitions = [
                DescribedPartition(partition_index=number, start_offset=UNINITIALIZED_START_OFFSET)
                for number in each.partitions
            ]
            unknown.append(DescribedTopic(topic_name=each.topic_name, partitions=partitions))
        else:
            wanted[topic.topic_id] = wanted.get(topic.topic_id, frozenset()) | set(each.partitions)
    return wanted, unknown


def _described(
    topics: TopicsImage, summaries: Mapping[TopicIdPartition, PartitionStateSummaryData]
) -> list[DescribedTopic]:
    found: dict[UUID, DescribedTopic] = {}
    for (topic_id, partition), summary in summaries.items():
        is_known = summary.error is Errors.NONE
        topic = found.setdefault(
            topic_id,
            DescribedTopic(topic_name=topics.topic_name(topic_id) or "", topic_id=topic_id),
        )
        topic.partitions.append(
            DescribedPartition(
                partition_index=partition,
                start_offset=summary.start_offset if is_known else UNINITIALIZED_START_OFFSET,
                leader_epoch=summary.leader_epoch if is_known else DEFAULT_LEADER_EPOCH,
            )
        )
    return list(found.values())


# ── alter ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _altering_failed(error: Errors, message: str) -> AlterResponse:
    return AlterResponse(error_code=error.code, error_message=message)


def _existing(topics: TopicsImage, asked: Iterable[AlterTopic]) -> dict[TopicIdPartition, int]:
    """The new offsets of the partitions that there are."""
    found = {}
    for each in asked:
        topic = topics.topic(each.topic_name)
        for partition in each.partitions if topic is not None else ():
            if topic is not None and 0 <= partition.partition_index < topic.num_partitions:
                found[TopicIdPartition(topic.topic_id, partition.partition_index)] = partition.start_offset
    return found


def _altered(topics: TopicsImage, asked: Iterable[AlterTopic], outcomes: Outcomes) -> list[AlteredTopic]:
    """The results in the order of the request. (Kafka 4.1 tells of no error of the share coordinator.)"""
    missing = PartitionErrorData(Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_OR_PARTITION.message)
    results = []
    for each in asked:
        topic = topics.topic(each.topic_name)
        result = AlteredTopic(topic_name=each.topic_name)
        if topic is not None:
            result.topic_id = topic.topic_id
        for partition in each.partitions:
            key = TopicIdPartition(result.topic_id, partition.partition_index)
            error, message = outcomes.get(key, missing)
            if error is not Errors.NONE:
                message = message or error.message
            result.partitions.append(
                AlteredPartition(partition_index=key.partition, error_code=error.code, error_message=message)
            )
        results.append(result)
    return results


# ── delete ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _deleting_failed(error: Errors, message: str) -> DeleteResponse:
    return DeleteResponse(error_code=error.code, error_message=message)


def _deletable(
    topics: TopicsImage, share: ShareGroup, names: Iterable[str]
) -> tuple[TopicIdPartitions, list[DeletedTopic]]:
    """The partitions with state of these topics, and the topics that have none."""
    found: dict[UUID, frozenset[int]] = {}
    refused = []
    error = Errors.UNKNOWN_TOPIC_OR_PARTITION
    for name in names:
        topic = topics.topic(name)
        known = share.partitions.initialized.get(topic.topic_id) if topic is not None else None
        if topic is None:
            refused.append(DeletedTopic(topic_name=name, error_code=error.code, error_message=error.message))
        elif known is not None:
            found[topic.topic_id] = known
        elif topic.topic_id in share.partitions.deleting:  # the last attempt failed
            found[topic.topic_id] = frozenset(range(topic.num_partitions))
        else:
            refused.append(DeletedTopic(topic_name=name, error_code=error.code, error_message=NOTHING_TO_DELETE))
    return found, refused


def _deleted(topics: TopicsImage, outcomes: Outcomes) -> list[DeletedTopic]:
    """The result of each topic: the error of the first partition that has one."""
    by_topic: dict[UUID, dict[TopicIdPartition, PartitionErrorData]] = {}
    for partition, outcome in outcomes.items():
        by_topic.setdefault(partition.topic_id, {})[partition] = outcome
    results = []
    for topic_id, of_topic in by_topic.items():
        error = first_error(of_topic)
        message = None if error is Errors.NONE else error.message
        name = topics.topic_name(topic_id) or ""
        results.append(DeletedTopic(topic_name=name, topic_id=topic_id, error_code=error.code, error_message=message))
    return results
