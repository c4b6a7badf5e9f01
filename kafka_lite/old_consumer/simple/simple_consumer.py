"""The low-level consumer: one connection to one broker, without any automation.

Kafka 0.10.2: core/.../consumer/SimpleConsumer.scala · book 3.6.1
"""

from __future__ import annotations

import logging
import threading
from typing import Self, TypeVar, cast

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.old_consumer.consumer_stats import FetchRequestAndResponseStats
from kafka_lite.old_consumer.simple.simple_fetch import ORDINARY_CONSUMER_ID, FetchRequest, FetchResponse
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse as WireFetchResponse
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.schema import Request, Response

logger = logging.getLogger(__name__)

LATEST_TIME, EARLIEST_TIME = -1, -2
METADATA_VERSION = 0
LIST_OFFSETS_VERSION = 0
"""A version by segment: it returns base offsets of segments that were written before a time."""
FIND_COORDINATOR_VERSION = 0

R = TypeVar("R", bound=Response)


class SimpleConsumer:
    """Sends one request at a time and waits for its response. The caller keeps track of leaders and offsets.

    Connects when needed. A failed request is sent once more over a new connection; if that fails too, ConnectionError
    is raised. Thread-safe.
    """

    def __init__(
        self,
        host: str,
        port: int,
        so_timeout_ms: float,
        buffer_size: int,
        client_id: str,
        stats: FetchRequestAndResponseStats | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``buffer_size`` is SO_RCVBUF, -1 for the system default; ``so_timeout_ms`` is the timeout of a response."""
        self.host = host
        self.port = port
        self.client_id = client_id
        self._time = time
        self._stats = stats if stats is not None else FetchRequestAndResponseStats(client_id, time=time)
        self._channel = BlockingChannel(
            host, port, client_id=client_id, read_timeout_ms=so_timeout_ms, receive_buffer_bytes=buffer_size, time=time
        )
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. It is not opened again."""
        self.abort()
        with self._lock:
            self._channel.close()

    def abort(self) -> None:
        """Close without waiting: a request in progress in another thread raises, and so do later ones."""
        self._is_closed = True
        self._channel.abort()

    def fetch(self, request: FetchRequest) -> FetchResponse:
        """Fetch messages of one or several partitions."""
        begin_ms = self._time.hi_res_ms()
        wire_response = self._exchange(request.to_wire(), request.version, WireFetchResponse)
        duration_ms = self._time.hi_res_ms() - begin_ms
        response = FetchResponse(wire_response)
        self._stats.update(self.host, self.port, duration_ms, response.size_in_bytes, response.throttle_time_ms)
        return response

    def send_metadata_request(self, topics: list[str]) -> MetadataResponse:
        """Brokers, partitions and leaders of topics, or of all topics for an empty list."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic) for topic in topics])
        return self._exchange(request, METADATA_VERSION, MetadataResponse)

    def send_group_coordinator_request(self, group: str) -> FindCoordinatorResponse:
        """The broker that stores the offsets of a group."""
        return self._exchange(FindCoordinatorRequest(key=group), FIND_COORDINATOR_VERSION, FindCoordinatorResponse)

    def get_offsets_before(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """Base offsets of segments that are older than a time."""
        return self._exchange(request, LIST_OFFSETS_VERSION, ListOffsetsResponse)

    def commit_offsets(self, request: OffsetCommitRequest, version: int = 0) -> OffsetCommitResponse:
        """Commit offsets of a group: version 0 to ZooKeeper, by any broker; later versions to Kafka, by the
        coordinator."""
        return self._exchange(request, version, OffsetCommitResponse)

    def fetch_offsets(self, request: OffsetFetchRequest, version: int = 0) -> OffsetFetchResponse:
        """The committed offsets of a group, from ZooKeeper or Kafka by the same rule."""
        return self._exchange(request, version, OffsetFetchResponse)

    def earliest_or_latest_offset(
        self, partition: TopicPartition, earliest_or_latest: int, consumer_id: int = ORDINARY_CONSUMER_ID
    ) -> int:
        """The first offset of a log (EARLIEST_TIME) or its end (LATEST_TIME). Also raises ApiError."""
        asked = ListOffsetsPartition(
            partition_index=partition.partition, timestamp=earliest_or_latest, max_num_offsets=1
        )
        topic = ListOffsetsTopic(name=partition.topic, partitions=[asked])
        response = self.get_offsets_before(ListOffsetsRequest(replica_id=consumer_id, topics=[topic]))
        for found in response.topics:
            for each in found.partitions:
                if Errors.for_code(each.error_code) is not Errors.NONE:
                    raise Errors.for_code(each.error_code).exception()
                if each.old_style_offsets:
                    return each.old_style_offsets[0]
        raise KafkaError(f"{self.host}:{self.port} did not return the offset of {partition}")

    def _exchange(self, request: Request, version: int, _kind: type[R]) -> R:
        with self._lock:
            try:
                return cast(R, self._try(request, version))
            except ConnectionError as error:
                if self._is_closed:
                    raise
                logger.info("Reconnect due to error: %s", error)
                self._channel.close()
                return cast(R, self._try(request, version))

    def _try(self, request: Request, version: int) -> object:
        self._ensure_open()
        self._channel.connect()
        self._ensure_open()  # another thread may have closed it just before the connection was made
        return self._channel.exchange(request, version)

    def _ensure_open(self) -> None:
        if self._is_closed:
            self._channel.close()
            raise NotConnectedError(f"the consumer for {self.host}:{self.port} is closed")
