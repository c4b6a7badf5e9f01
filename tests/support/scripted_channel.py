"""An AdminChannel whose responses are written down, on a clock that jumps: no broker, and no waiting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_35_describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_lite.protocol.schema import Response
from kafka_lite.tools.admin.admin_channel import AdminChannel


class ScriptedChannel(AdminChannel):
    """Returns the scripted responses of each class in order, and the last one for ever. Records the requests."""

    def __init__(self, *responses: Response | Exception) -> None:
        super().__init__("127.0.0.1:1", time=MockTime())
        self._script = list(responses)
        self.requests: list[object] = []
        self.versions: dict[int, tuple[int, int]] = {3: (0, 9)}

    def api_versions(self, broker_id: int | None = None) -> dict[int, tuple[int, int]]:
        return self.versions

    def send(self, request: Any, response_class: Any, broker_id: int | None = None, max_version: int = 1 << 15) -> Any:
        self.requests.append(request)
        matching = [each for each in self._script if isinstance(each, response_class | Exception)]
        response = matching[0]
        if len(matching) > 1:
            self._script.remove(response)
        if isinstance(response, Exception):
            raise response
        return response


def metadata(*partitions: TopicPartition, leader: int = 1, **errors: Errors) -> MetadataResponse:
    """A response of a cluster of the broker 1, with these partitions, and with errors by topic."""
    topics = {
        name: MetadataResponseTopic(name=name, error_code=error.code, partitions=[]) for name, error in errors.items()
    }
    for topic, number in partitions:
        entry = MetadataResponsePartition(partition_index=number, leader_id=leader, replica_nodes=[1], isr_nodes=[1])
        topics.setdefault(topic, MetadataResponseTopic(name=topic, partitions=[])).partitions.append(entry)
    broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=1)
    return MetadataResponse(brokers=[broker], controller_id=1, topics=list(topics.values()))


def log_dir(
    path: str, sizes: dict[TopicPartition, int], error: Errors = Errors.NONE, *, is_future: bool = False
) -> DescribeLogDirsResult:
    """A log directory of a broker: the sizes of its replicas in bytes, or its error."""
    topics = [
        DescribeLogDirsTopic(
            name=topic,
            partitions=[DescribeLogDirsPartition(partition_index=number, partition_size=size, is_future_key=is_future)],
        )
        for (topic, number), size in sizes.items()
    ]
    return DescribeLogDirsResult(error_code=error.code, log_dir=path, topics=topics)


def offsets(found: dict[TopicPartition, int | Errors]) -> ListOffsetsResponse:
    """A leader's response: an offset or an error by partition."""
    return ListOffsetsResponse(topics=[_topic(partition, result) for partition, result in found.items()])


def _topic(partition: TopicPartition, result: int | Errors) -> ListOffsetsTopicResponse:
    if isinstance(result, Errors):
        entry = ListOffsetsPartitionResponse(partition_index=partition.partition, error_code=result.code)
    else:
        entry = ListOffsetsPartitionResponse(partition_index=partition.partition, offset=result)
    return ListOffsetsTopicResponse(name=partition.topic, partitions=[entry])


def counted(channel: ScriptedChannel, classes: Iterable[type]) -> list[int]:
    """How many requests of each class were sent."""
    return [sum(isinstance(request, each) for request in channel.requests) for each in classes]
