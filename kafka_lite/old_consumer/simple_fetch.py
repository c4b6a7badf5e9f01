"""Fetch requests and their answers, as users of SimpleConsumer make and read them.

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
from kafka_lite.old_consumer.byte_buffer_message_set import ByteBufferMessageSet
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchTopic
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest as WireRequest
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse as WireResponse

CURRENT_VERSION = 3
"""The last of 0.10.2: from version 2 on message sets v1, in version 3 a limit for the whole answer."""
ORDINARY_CONSUMER_ID = -1
DEBUGGING_CONSUMER_ID = -2
"""A consumer that may read from followers, too."""
_MAX_INT = 0x7FFFFFFF


class PartitionFetchInfo(NamedTuple):
    """What is asked of one partition."""

    offset: int
    fetch_size: int


class FetchRequest(NamedTuple):
    """What ``FetchRequestBuilder.build`` returns."""

    version: int
    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    request_info: Mapping[TopicPartition, PartitionFetchInfo]

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing."""
        return not self.request_info

    def offset(self, partition: TopicPartition) -> int:
        """The offset that is asked for. Raises KeyError."""
        return self.request_info[partition].offset

    def to_wire(self) -> WireRequest:
        """The message. Neighbours of one topic share an entry; the order stays, for it decides who is served first."""
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
    """Puts a request together::

        request = FetchRequestBuilder().max_wait(100).add_fetch("topic", 0, offset, 100_000).build()

    After ``build`` the partitions are forgotten, and the rest remains.
    """

    def __init__(self) -> None:
        self._version = CURRENT_VERSION
        self._replica_id = ORDINARY_CONSUMER_ID
        self._max_wait_ms = 0
        self._min_bytes = 0
        self._max_bytes = _MAX_INT
        self._request_info: dict[TopicPartition, PartitionFetchInfo] = {}

    def add_fetch(self, topic: str, partition: int, offset: int, fetch_size: int) -> FetchRequestBuilder:
        """Ask for up to ``fetch_size`` bytes of a partition, from ``offset`` on."""
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
        """For how much the broker waits."""
        self._min_bytes = min_bytes
        return self

    def max_bytes(self, max_bytes: int) -> FetchRequestBuilder:
        """How much the whole answer may have (version 3)."""
        self._max_bytes = max_bytes
        return self

    def request_version(self, version: int) -> FetchRequestBuilder:
        """0 to 3; below 2 the messages come in format v0."""
        if not 0 <= version <= CURRENT_VERSION:
            raise KafkaError(f"fetch version {version}: 0 to {CURRENT_VERSION} are those of the old consumer")
        self._version = version
        return self

    def build(self) -> FetchRequest:
        """The request."""
        entries, self._request_info = self._request_info, {}
        return FetchRequest(
            self._version, self._replica_id, self._max_wait_ms, self._min_bytes, self._max_bytes, entries
        )


class FetchResponsePartitionData(NamedTuple):
    """What came for one partition."""

    error: Errors
    high_watermark: int
    records: ByteBufferMessageSet


class FetchResponse:
    """What came, by partition, in the order of the request."""

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
        """Whether any partition has failed."""
        return any(each.error is not Errors.NONE for each in self.data.values())

    @property
    def size_in_bytes(self) -> int:
        """The size of all messages."""
        return sum(each.records.size_in_bytes for each in self.data.values())

    def error(self, topic: str, partition: int) -> Errors:
        """How a partition fared. This, and those below, raise KafkaError for one that is not in the answer."""
        return self._data_for(topic, partition).error

    def message_set(self, topic: str, partition: int) -> ByteBufferMessageSet:
        """The messages of a partition."""
        return self._data_for(topic, partition).records

    def high_watermark(self, topic: str, partition: int) -> int:
        """How far the leader's log is replicated."""
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
