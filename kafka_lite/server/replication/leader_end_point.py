"""A follower's connection to a leader: fetches, offsets, the ends of epochs.

Kafka 0.10.2: core/.../server/ReplicaFetcherThread.scala (ReplicaFetcherBlockingSend, FetchRequest, PartitionData);
since 3.3 core/.../server/RemoteLeaderEndPoint.scala · book 6.2.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetch_session_handler import (
    LAST_VERSION_BY_NAME,
    FetchRequestData,
    FetchSessionHandler,
)
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Buffer, Part
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_23_offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_lite.protocol.schema import Message, Request
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.replication.inter_broker_versions import inter_broker_version

LATEST_TIMESTAMP, EARLIEST_TIMESTAMP = -1, -2
FIRST_VERSION_WITH_ONE_OFFSET = 1
UNDEFINED_EPOCH = UNDEFINED_EPOCH_OFFSET = -1

R = TypeVar("R", bound=Message)


@dataclass(frozen=True)
class FetchPosition:
    """Where a follower is in a partition, and what the leader must know of it."""

    fetch_offset: int
    log_start_offset: int
    leader_epoch: int
    last_fetched_epoch: int = UNDEFINED_EPOCH
    """The epoch of the follower's last record; -1 if the leader shall not compare the logs."""
    topic_id: UUID = ZERO_UUID


class ReplicaFetchRequest:
    """A fetch request of a follower, with the fetch offsets in it."""

    def __init__(self, positions: Mapping[TopicPartition, FetchPosition]) -> None:
        self.positions = dict(positions)

    @property
    def is_empty(self) -> bool:
        """Whether it has no partitions."""
        return not self.positions

    def offset(self, partition: TopicPartition) -> int:
        """The fetch offset of a partition in the request."""
        return self.positions[partition].fetch_offset


@dataclass(frozen=True)
class ReplicaPartitionData:
    """The leader's response for one partition."""

    error: Errors
    high_watermark: int
    log_start_offset: int
    """-1 if the leader does not say."""
    records: FetchedRecords
    diverging_epoch: EpochEnd | None = None
    """Where the logs of leader and follower part, if they do; then there are no records."""


@dataclass(frozen=True)
class EpochEnd:
    """Where an epoch ends on the leader: the newest epoch that is not newer than the one asked for, and its end.

    ``leader_epoch`` is -1 if the leader is too old to say it, ``end_offset`` is -1 if it does not know the epoch.
    """

    error: Errors
    leader_epoch: int
    end_offset: int


class LeaderEndPoint(Protocol):
    """A leader, as the thread that fetches from it sees it. All methods raise KafkaError or OSError."""

    def fetch(self, request: ReplicaFetchRequest) -> list[tuple[TopicPartition, ReplicaPartitionData]]:
        """The records after these positions."""
        ...

    def latest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log ends."""
        ...

    def earliest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log starts."""
        ...

    def epoch_ends(self, epochs: Mapping[TopicPartition, tuple[int, int]]) -> dict[TopicPartition, EpochEnd]:
        """Where epochs end. ``epochs`` has the current leader epoch and the one asked for, by partition."""
        ...

    def abort(self) -> None:
        """Interrupt a call in another thread."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class RemoteLeaderEndPoint:
    """A leader on another broker, over one connection with one request in flight.

    From protocol 1.1 on, a fetch session (KIP-227) saves naming the partitions that have not changed. From 3.1 on,
    topics have ids in place of names, once the logs of all partitions know theirs (KIP-516).
    """

    def __init__(self, source_broker: BrokerEndPoint, config: ReplicaFetchConfig, time: Time = SYSTEM_TIME) -> None:
        self._config = config
        self._session: FetchSessionHandler[FetchPosition] = FetchSessionHandler(source_broker.id)
        self._channel = BlockingChannel(
            source_broker.host,
            source_broker.port,
            client_id=f"broker-{config.broker_id}-fetcher",
            read_timeout_ms=config.socket_timeout_ms,
            receive_buffer_bytes=config.socket_receive_buffer_bytes,
            security=config.security,
            time=time,
        )

    def fetch(self, request: ReplicaFetchRequest) -> list[tuple[TopicPartition, ReplicaPartitionData]]:
        """The records after these positions; nothing of partitions without news, and nothing if the session is lost."""
        topic_ids = {tp.topic: position.topic_id for tp, position in request.positions.items()}
        data = self._session.build(request.positions, topic_ids)
        version = self._version(ApiKey.FETCH)
        if not data.uses_topic_ids:
            version = min(version, LAST_VERSION_BY_NAME)
        try:
            response = self._exchange(self._fetch_request(data, version), FetchResponse, version)
        except (KafkaError, OSError) as error:
            self._session.handle_error(error)
            raise
        received = self._session.partitions_of(response, version)
        if not self._session.handle_response(response, received):
            if response.error_code == Errors.FETCH_SESSION_TOPIC_ID_ERROR.code:
                raise Errors.FETCH_SESSION_TOPIC_ID_ERROR.exception("some topics of the session have no ids")
            return []
        return [(tp, _partition_data(each)) for tp, each in received.items()]

    def _fetch_request(self, data: FetchRequestData[FetchPosition], version: int) -> FetchRequest:
        config = self._config
        topics: dict[str, FetchTopic] = {}
        for (topic, partition), position in data.to_send.items():
            asked = FetchPartition(
                partition=partition,
                current_leader_epoch=position.leader_epoch,
                fetch_offset=position.fetch_offset,
                last_fetched_epoch=position.last_fetched_epoch,
                log_start_offset=position.log_start_offset,
                partition_max_bytes=config.max_bytes,
            )
            named = FetchTopic(topic=topic, topic_id=position.topic_id, partitions=[])
            topics.setdefault(topic, named).partitions.append(asked)
        return FetchRequest(
            replica_id=config.broker_id,
            max_wait_ms=config.max_wait_ms,
            min_bytes=config.min_bytes,
            max_bytes=config.response_max_bytes,
            session_id=data.metadata.session_id,
            session_epoch=data.metadata.epoch,
            topics=list(topics.values()),
            forgotten_topics_data=data.forgotten_topics(version),
        )

    def latest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log ends."""
        return self._offset(partition, LATEST_TIMESTAMP)

    def earliest_offset(self, partition: TopicPartition) -> int:
        """Where the leader's log starts."""
        return self._offset(partition, EARLIEST_TIMESTAMP)

    def _offset(self, partition: TopicPartition, timestamp: int) -> int:
        asked = ListOffsetsPartition(partition_index=partition.partition, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=self._config.broker_id, topics=[ListOffsetsTopic(name=partition.topic, partitions=[asked])]
        )
        found = self._exchange(request, ListOffsetsResponse).topics[0].partitions[0]
        if found.error_code:
            raise Errors.for_code(found.error_code).exception(f"the leader does not say an offset of {partition}")
        if self._version(ApiKey.LIST_OFFSETS) >= FIRST_VERSION_WITH_ONE_OFFSET:
            return found.offset
        return found.old_style_offsets[0]

    def epoch_ends(self, epochs: Mapping[TopicPartition, tuple[int, int]]) -> dict[TopicPartition, EpochEnd]:
        """Where epochs end."""
        topics: dict[str, list[OffsetForLeaderPartition]] = {}
        for (topic, partition), (current, asked) in epochs.items():
            row = OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=asked)
            topics.setdefault(topic, []).append(row)
        request = OffsetForLeaderEpochRequest(
            replica_id=self._config.broker_id,
            topics=[OffsetForLeaderTopic(topic=topic, partitions=rows) for topic, rows in topics.items()],
        )
        response = self._exchange(request, OffsetForLeaderEpochResponse)
        return {
            TopicPartition(topic.topic, row.partition): EpochEnd(
                Errors.for_code(row.error_code), row.leader_epoch, row.end_offset
            )
            for topic in response.topics
            for row in topic.partitions
        }

    def abort(self) -> None:
        """Interrupt a call in another thread."""
        self._channel.abort()

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def _version(self, api_key: ApiKey) -> int:
        return inter_broker_version(api_key, self._config.protocol)

    def _exchange(self, request: Request, response_type: type[R], version: int | None = None) -> R:
        self._channel.connect()
        response = self._channel.exchange(request, self._version(request.API_KEY) if version is None else version)
        assert isinstance(response, response_type)
        return response


def _partition_data(received: PartitionData) -> ReplicaPartitionData:
    return ReplicaPartitionData(
        Errors.for_code(received.error_code),
        received.high_watermark,
        received.log_start_offset,
        FetchedRecords(_received(received.records)),
        _diverging_epoch(received.diverging_epoch),
    )


def _diverging_epoch(found: EpochEndOffset) -> EpochEnd | None:
    return EpochEnd(Errors.NONE, found.epoch, found.end_offset) if found.epoch >= 0 else None


def _received(records: Part | None) -> Buffer:
    """The records of a response that was received, which are bytes and no slice of a file."""
    return records if isinstance(records, bytes | bytearray | memoryview) else b""
