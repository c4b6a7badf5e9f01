"""Reads, sets and deletes the offsets of a consumer group from outside of the group.

Kafka 2.4: clients/.../clients/admin/Admin.java (listConsumerGroupOffsets, alterConsumerGroupOffsets,
deleteConsumerGroupOffsets, deleteConsumerGroups, describeConsumerGroups) · book 8.3.6
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from kafka_lite.clients.admin_client import Address, AdminClient
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_15_describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafka_lite.protocol.messages.api_42_delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kafka_lite.protocol.messages.api_47_offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)

TIMEOUT_MS = 30_000
RETRY_BACKOFF_MS = 100
_LAST_OF_ONE_KEY, _LAST_OF_ONE_GROUP, _LAST_COMMIT = 3, 7, 7
"""Last versions of FindCoordinator, OffsetFetch and OffsetCommit for a single group of the classic protocol."""
MOVING = frozenset({
    Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS,
})  # fmt: skip
"""The coordinator has moved, or is not ready yet."""
_Errors = Iterable[int]


class GroupAdmin:
    """Each call asks the group's coordinator, and again for a while if it is moving.

    Raises ApiError with the error of the group or of its first refused partition, and ConnectError if no broker
    responds.
    """

    def __init__(self, configs: Mapping[str, object], time: Time = SYSTEM_TIME) -> None:
        """``configs``: those of an AdminClient. Raises ConfigError."""
        self._client = AdminClient(configs, time)
        self._time = time

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The committed offsets of all partitions that have one."""
        return {partition: each.offset for partition, each in self.offsets(group).items()}

    def offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        """The same with the metadata."""
        found: dict[TopicPartition, OffsetAndMetadata] = {}

        def fetch(coordinator: Address) -> _Errors:
            request = OffsetFetchRequest(group_id=group, topics=None)
            response = self._client.send(coordinator, request, OffsetFetchResponse, _LAST_OF_ONE_GROUP)
            yield response.error_code
            for topic in response.topics:
                for each in topic.partitions:
                    yield each.error_code
                    if each.committed_offset >= 0:
                        offset = OffsetAndMetadata(each.committed_offset, each.metadata or "")
                        found[TopicPartition(topic.name, each.partition_index)] = offset

        self._at_coordinator(group, fetch)
        return found

    def state(self, group: str) -> str:
        """``Stable``, or ``Empty`` without members; two others while it rebalances; ``Dead`` if there is no group."""
        found: list[str] = []

        def describe(coordinator: Address) -> _Errors:
            response = self._client.send(coordinator, DescribeGroupsRequest(groups=[group]), DescribeGroupsResponse)
            found[:] = [each.group_state for each in response.groups]
            not_found = Errors.GROUP_ID_NOT_FOUND.code  # since version 6; the state is Dead all the same
            return [0 if each.error_code == not_found else each.error_code for each in response.groups]

        self._at_coordinator(group, describe)
        return found[0]

    def commit(self, group: str, offsets: Mapping[TopicPartition, int | OffsetAndMetadata]) -> None:
        """Set offsets. UNKNOWN_MEMBER_ID if the group has members: only they may commit then."""
        topics = [
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[_to_commit(each, offsets[TopicPartition(topic, each)]) for each in numbers],
            )
            for topic, numbers in _by_topic(offsets).items()
        ]

        def commit(coordinator: Address) -> _Errors:
            request = OffsetCommitRequest(group_id=group, topics=topics)
            response = self._client.send(coordinator, request, OffsetCommitResponse, _LAST_COMMIT)
            return [each.error_code for topic in response.topics for each in topic.partitions]

        self._at_coordinator(group, commit)

    def delete_offsets(self, group: str, partitions: Iterable[TopicPartition]) -> None:
        """Delete offsets. GROUP_SUBSCRIBED_TO_TOPIC if the group has members that read the topic."""
        topics = [
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=each) for each in numbers]
            )
            for topic, numbers in _by_topic(partitions).items()
        ]

        def delete(coordinator: Address) -> _Errors:
            request = OffsetDeleteRequest(group_id=group, topics=topics)
            response = self._client.send(coordinator, request, OffsetDeleteResponse)
            return [response.error_code, *(each.error_code for topic in response.topics for each in topic.partitions)]

        self._at_coordinator(group, delete)

    def delete_group(self, group: str) -> None:
        """Delete a group with all its offsets. NON_EMPTY_GROUP if it has members, GROUP_ID_NOT_FOUND if it is gone."""

        def delete(coordinator: Address) -> _Errors:
            response = self._client.send(coordinator, DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse)
            return [each.error_code for each in response.results]

        self._at_coordinator(group, delete)

    def _at_coordinator(self, group: str, ask: Callable[[Address], _Errors]) -> None:
        deadline_ms = self._time.hi_res_ms() + TIMEOUT_MS
        while (error := self._first_error(group, ask)) is not Errors.NONE:
            if error not in MOVING or self._time.hi_res_ms() > deadline_ms:
                raise ApiError(error)
            self._time.sleep(RETRY_BACKOFF_MS)

    def _first_error(self, group: str, ask: Callable[[Address], _Errors]) -> Errors:
        try:
            request = FindCoordinatorRequest(key=group)
            found = self._client.send_any_node(request, FindCoordinatorResponse, _LAST_OF_ONE_KEY)
            codes = [found.error_code] if found.error_code else list(ask((found.host, found.port)))
        except ConnectionError as error:
            raise ConnectError(f"The coordinator of group {group} does not respond: {error}") from error
        return next((Errors.for_code(code) for code in codes if code), Errors.NONE)


def _to_commit(number: int, offset: int | OffsetAndMetadata) -> OffsetCommitRequestPartition:
    offset, metadata = (offset, "") if isinstance(offset, int) else (offset.offset, offset.metadata)
    return OffsetCommitRequestPartition(partition_index=number, committed_offset=offset, committed_metadata=metadata)


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(partitions):
        grouped[topic].append(number)
    return dict(grouped)
