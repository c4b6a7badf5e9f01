"""The five requests about the state of share partitions, and what they say.

Kafka 4.1: server-common/.../server/share/persister/WriteShareGroupStateParameters.java and its kin; clients/.../
common/requests/WriteShareGroupStateResponse.java and its kin · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
)
from kafka_lite.coordinator.share.share_coordinator_records import from_messages, to_messages
from kafka_lite.coordinator.share.share_coordinator_shard import failed_read, failed_summary
from kafka_lite.protocol.messages import api_83_initialize_share_group_state as initialize
from kafka_lite.protocol.messages import api_84_read_share_group_state as read
from kafka_lite.protocol.messages import api_85_write_share_group_state as write
from kafka_lite.protocol.messages import api_86_delete_share_group_state as delete
from kafka_lite.protocol.messages import api_87_read_share_group_state_summary as summary
from kafka_lite.protocol.messages.share_state import PartitionResult
from kafka_lite.protocol.schema import Request, Response, Struct

D = TypeVar("D")
R = TypeVar("R")


@dataclass(frozen=True)
class StateMessages(Generic[D, R]):
    """One API: what is asked of each partition (D), and what is the result (R).

    ::

        request     group, topics ─▶ topic id, partitions ─▶ partition and its data
        response    results       ─▶ topic id, partitions ─▶ partition and its result
    """

    name: str
    """As it is called in Kafka's error messages."""

    request: Callable[..., Request]
    topic: Callable[..., Struct]
    partition: Callable[[int, D], Struct]
    data: Callable[[Any], D]
    response: Callable[..., Response]
    topic_result: Callable[..., Struct]
    partition_result: Callable[[int, R], Struct]
    result: Callable[[Any], R]
    failed: Callable[[PartitionErrorData], R]
    """The result of a partition that has failed."""

    error_of: Callable[[R], Errors]

    def to_request(self, group_id: str, partitions: Mapping[TopicIdPartition, D]) -> Request:
        """The request for partitions of a group."""
        made = [(key, self.partition(key.partition, data)) for key, data in partitions.items()]
        return self.request(group_id=group_id, topics=_by_topic(self.topic, made))

    def from_request(self, request: Any) -> dict[TopicIdPartition, D]:
        """The data of each partition. One that is named twice counts once, with the last data."""
        return {
            TopicIdPartition(topic.topic_id, partition.partition): self.data(partition)
            for topic in request.topics
            for partition in topic.partitions
        }

    def to_response(self, results: Mapping[TopicIdPartition, R]) -> Response:
        """The response with the results."""
        made = [(key, self.partition_result(key.partition, result)) for key, result in results.items()]
        return self.response(results=_by_topic(self.topic_result, made))

    def from_response(self, response: Any) -> dict[TopicIdPartition, R]:
        """The results that it has."""
        return {
            TopicIdPartition(topic.topic_id, partition.partition): self.result(partition)
            for topic in response.results
            for partition in topic.partitions
        }


def _by_topic(topic: Callable[..., Struct], partitions: list[tuple[TopicIdPartition, Struct]]) -> list[Any]:
    topics: dict[Any, Any] = {}
    for key, partition in partitions:
        if key.topic_id not in topics:
            topics[key.topic_id] = topic(topic_id=key.topic_id)
        topics[key.topic_id].partitions.append(partition)
    return list(topics.values())


def _error(found: Any) -> PartitionErrorData:
    return PartitionErrorData(Errors.for_code(found.error_code), found.error_message)


def _outcome(partition: int, result: PartitionErrorData) -> PartitionResult:
    return PartitionResult(partition=partition, error_code=result.error.code, error_message=result.message)


def _itself(failure: PartitionErrorData) -> PartitionErrorData:
    return failure


def _error_of(result: PartitionErrorData | PartitionAllData | PartitionStateSummaryData) -> Errors:
    return result.error


INITIALIZE: StateMessages[PartitionStateData, PartitionErrorData] = StateMessages(
    "initialize state",
    initialize.InitializeShareGroupStateRequest,
    initialize.InitializeStateData,
    lambda partition, data: initialize.PartitionData(
        partition=partition, state_epoch=data.state_epoch, start_offset=data.start_offset
    ),
    lambda found: PartitionStateData(found.state_epoch, found.start_offset),
    initialize.InitializeShareGroupStateResponse,
    initialize.InitializeStateResult,
    _outcome,
    _error,
    _itself,
    _error_of,
)

READ: StateMessages[int, PartitionAllData] = StateMessages(
    "read state",
    read.ReadShareGroupStateRequest,
    read.ReadStateData,
    lambda partition, leader_epoch: read.PartitionData(partition=partition, leader_epoch=leader_epoch),
    lambda found: int(found.leader_epoch),
    read.ReadShareGroupStateResponse,
    read.ReadStateResult,
    lambda partition, result: read.PartitionResult(
        partition=partition,
        error_code=result.error.code,
        error_message=result.message,
        state_epoch=result.state_epoch,
        start_offset=result.start_offset,
        state_batches=to_messages(result.state_batches),
    ),
    lambda found: PartitionAllData(
        found.state_epoch, found.start_offset, from_messages(found.state_batches), *_error(found)
    ),
    failed_read,
    _error_of,
)

WRITE: StateMessages[PartitionStateBatchData, PartitionErrorData] = StateMessages(
    "write state",
    write.WriteShareGroupStateRequest,
    write.WriteStateData,
    lambda partition, data: write.PartitionData(
        partition=partition,
        state_epoch=data.state_epoch,
        leader_epoch=data.leader_epoch,
        start_offset=data.start_offset,
        state_batches=to_messages(data.state_batches),
    ),
    lambda found: PartitionStateBatchData(
        found.state_epoch, found.leader_epoch, found.start_offset, from_messages(found.state_batches)
    ),
    write.WriteShareGroupStateResponse,
    write.WriteStateResult,
    _outcome,
    _error,
    _itself,
    _error_of,
)

DELETE: StateMessages[None, PartitionErrorData] = StateMessages(
    "delete state",
    delete.DeleteShareGroupStateRequest,
    delete.DeleteStateData,
    lambda partition, _data: delete.PartitionData(partition=partition),
    lambda _found: None,
    delete.DeleteShareGroupStateResponse,
    delete.DeleteStateResult,
    _outcome,
    _error,
    _itself,
    _error_of,
)

READ_SUMMARY: StateMessages[int, PartitionStateSummaryData] = StateMessages(
    "read state summary",
    summary.ReadShareGroupStateSummaryRequest,
    summary.ReadStateSummaryData,
    lambda partition, leader_epoch: summary.PartitionData(partition=partition, leader_epoch=leader_epoch),
    lambda found: int(found.leader_epoch),
    summary.ReadShareGroupStateSummaryResponse,
    summary.ReadStateSummaryResult,
    lambda partition, result: summary.PartitionResult(
        partition=partition,
        error_code=result.error.code,
        error_message=result.message,
        state_epoch=result.state_epoch,
        leader_epoch=result.leader_epoch,
        start_offset=result.start_offset,
    ),
    lambda found: PartitionStateSummaryData(found.state_epoch, found.leader_epoch, found.start_offset, *_error(found)),
    failed_summary,
    _error_of,
)
