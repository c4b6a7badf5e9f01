"""Fetch requests and responses of SimpleConsumer.

Kafka 0.10.2: core/.../api/FetchRequest.scala (FetchRequestBuilder, PartitionFetchInfo), FetchResponse.scala
(FetchResponsePartitionData) · book 3.6.4
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.simple.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchTopic
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest as WireRequest
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse as WireResponse

CURRENT_VERSION = 3
"""The latest of 0.10.2: message sets v1 since version 2, and a limit for the whole response in version 3."""
ORDINARY_CONSUMER_ID = -1
DEBUGGING_CONSUMER_ID = -2
"""A consumer that may also read from followers."""
_MAX_INT = 0x7FFFFFFF


class PartitionFetchInfo(NamedTuple):
    """The request for one partition."""

    offset: int
    fetch_size: int


class FetchRequest(NamedTuple):
    """A fetch request, from ``FetchRequestBuilder.build``."""

    version: int
    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    request_info: Mapping[TopicPartition, PartitionFetchInfo]

    @property
    def is_empty(self) -> bool:
        """Whether it has no partitions."""
        return not self.request_info

    def offset(self, partition: TopicPartition) -> int:
        """The fetch offset of a partition. Raises KeyError."""
        return self.request_info[partition].offset

    def to_wire(self) -> WireRequest:
        """The wire message. Adjacent partitions of a topic share an entry; the order is kept, because it sets
        priorities."""
        return WireRequest(
            replica_id=self.replica_id,
            max_wait_ms=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            topics=[
                FetchTopic(topic=topic, partitions=[_to_wire(partition, info) for partition, info in entries])
                for topic, entries in groupby(self.request_info.items(), key=lambda entry: entry[0].topic)
            ],
        )


def _to_wire(partition: TopicPartition, info: PartitionFetchInfo) -> FetchPartition:
    return FetchPartition(partition=partition.partition, fetch_offset=info.offset, partition_max_bytes=info.fetch_size)


class FetchRequestBuilder:
    """Builds a request::

        request = FetchRequestBuilder().max_wait(100).add_fetch("topic", 0, offset, 100_000).build()

    ``build`` forgets the partitions and keeps the other settings.
    """

    def __init__(self) -> None:
        self._version = CURRENT_VERSION
        self._replica_id = ORDINARY_CONSUMER_ID
        self._max_wait_ms = 0
        self._min_bytes = 0
        self._max_bytes = _MAX_INT
        self._request_info: dict[TopicPartition, PartitionFetchInfo] = {}

    def add_fetch(self, topic: str, partition: int, offset: int, fetch_size: int) -> FetchRequestBuilder:
        """Request up to ``fetch_size`` bytes of a partition, from ``offset`` on."""
        self._request_info[TopicPartition(topic, partition)] = PartitionFetchInfo(offset, fetch_size)
        return self

    def replica_id(self, replica_id: int) -> FetchRequestBuilder:
        """ORDINARY_CONSUMER_ID or DEBUGGING_CONSUMER_ID."""
        self._replica_id = replica_id
        return self

    def max_wait(self, max_wait_ms: int) -> FetchRequestBuilder:
        """How long the broker may wait for ``min_bytes``."""
        self._max_wait_ms = max_wait_ms
        return self

    def min_bytes(self, min_bytes: int) -> FetchRequestBuilder:
        """How many bytes the broker waits for."""
        self._min_bytes = min_bytes
        return self

    def max_bytes(self, max_bytes: int) -> FetchRequestBuilder:
        """The most bytes of the whole response (version 3)."""
        self._max_bytes = max_bytes
        return self

    def request_version(self, version: int) -> FetchRequestBuilder:
        """The version, 0 to 3. Below 2 the messages arrive in format v0."""
        if not 0 <= version <= CURRENT_VERSION:
            raise KafkaError(f"fetch version {version}: the old consumer has versions 0 to {CURRENT_VERSION}")
        self._version = version
        return self

    def build(self) -> FetchRequest:
        """The request."""
        entries, self._request_info = self._request_info, {}
        return FetchRequest(
            self._version, self._replica_id, self._max_wait_ms, self._min_bytes, self._max_bytes, entries
        )


class FetchResponsePartitionData(NamedTuple):
    """The response for one partition."""

    error: Errors
    high_watermark: int
    records: ByteBufferMessageSet


class FetchResponse:
    """The response by partition, in the order of the request."""

    def __init__(self, response: WireResponse) -> None:
        self.throttle_time_ms = response.throttle_time_ms
        self.data = {
            TopicPartition(topic.topic, each.partition_index): FetchResponsePartitionData(
                Errors.for_code(each.error_code), each.high_watermark, _message_set(each.records)
            )
            for topic in response.responses
            for each in topic.partitions
        }

    @property
    def has_error(self) -> bool:
        """Whether any partition has an error."""
        return any(each.error is not Errors.NONE for each in self.data.values())

    @property
    def size_in_bytes(self) -> int:
        """The size of all message sets."""
        return sum(each.records.size_in_bytes for each in self.data.values())

    def error(self, topic: str, partition: int) -> Errors:
        """The error of a partition. Like the methods below, raises KafkaError for a partition not in the response."""
        return self._data_for(topic, partition).error

    def message_set(self, topic: str, partition: int) -> ByteBufferMessageSet:
        """The messages of a partition."""
        return self._data_for(topic, partition).records

    def high_watermark(self, topic: str, partition: int) -> int:
        """The high watermark of a partition."""
        return self._data_for(topic, partition).high_watermark

    def _data_for(self, topic: str, partition: int) -> FetchResponsePartitionData:
        found = self.data.get(TopicPartition(topic, partition))
        if found is None:
            raise KafkaError(f"No partition ({topic}, {partition}) in fetch response")
        return found


def _message_set(records: object) -> ByteBufferMessageSet:
    if records is None:
        return ByteBufferMessageSet(b"")
    if not isinstance(records, Buffer):
        raise TypeError(f"records of a response that was read are bytes, not {type(records).__name__}")
    return ByteBufferMessageSet(records)
