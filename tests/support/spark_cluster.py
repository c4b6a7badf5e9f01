"""A cluster for the driver's side of Spark's source: logs in a table, and faults on request."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.spark.cluster_client import ClusterUnreachableError


class FakeCluster:
    """Partitions with a start and an end offset; a record's timestamp equals its offset."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], internal: Iterable[str] = ()) -> None:
        self.logs = logs
        self.internal = set(internal)
        self.failures: list[Errors] = []
        self.has_answered = True
        self.unreachable = 0  # how many times no broker responds
        self.just_started = 0  # how many times the broker knows no topics yet
        self.forgotten: list[TopicPartition] = []

    def metadata(self, topics: Iterable[str] | None) -> MetadataResponse:
        if self.unreachable:
            self.unreachable -= 1
            raise ClusterUnreachableError("no Kafka broker answers")
        logs = {} if self.just_started else self.logs
        self.just_started = max(self.just_started - 1, 0)
        names = {partition.topic for partition in logs} if topics is None else topics
        return MetadataResponse(topics=[self._topic(name, logs) for name in names])

    def _topic(self, name: str, logs: Iterable[TopicPartition]) -> MetadataResponseTopic:
        numbers = [partition.partition for partition in logs if partition.topic == name]
        return MetadataResponseTopic(
            name=name,
            error_code=0 if numbers else Errors.UNKNOWN_TOPIC_OR_PARTITION.code,
            is_internal=name in self.internal,
            partitions=[MetadataResponsePartition(partition_index=number) for number in numbers],
        )

    def leader_of(self, partition: TopicPartition) -> int:
        return partition.partition % 2  # two brokers

    def forget_leader(self, partition: TopicPartition) -> None:
        self.forgotten.append(partition)

    def connection(self, _node_id: int) -> FakeCluster:
        return self

    def close(self) -> None:
        pass

    def exchange(self, request: ListOffsetsRequest, _response: type) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        self._offset(TopicPartition(topic.name, partition.partition_index), partition.timestamp)
                        for partition in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _offset(self, partition: TopicPartition, timestamp: int) -> ListOffsetsPartitionResponse:
        if self.failures:
            return ListOffsetsPartitionResponse(
                partition_index=partition.partition, error_code=self.failures.pop().code
            )
        begin, end = self.logs[partition]
        offset = {-2: begin, -1: end}.get(timestamp, max(timestamp, begin) if timestamp < end else -1)
        return ListOffsetsPartitionResponse(partition_index=partition.partition, offset=offset)
