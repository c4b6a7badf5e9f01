"""Lets a test write and read its cluster's records without a client of its own.

Kafka 0.10.2: core/src/test/.../utils/TestUtils.scala (produceMessages, createTopic) · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.messages import api_44_incremental_alter_configs as incremental
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_30_create_acls import CreateAclsRequest, CreateAclsResponse
from kafka_lite.protocol.messages.api_33_alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from kafka_lite.protocol.messages.api_37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kafka_lite.protocol.messages.api_43_elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from kafka_lite.protocol.messages.api_45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Header
from kafka_lite.record.records import batches
from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclBinding, AclOperation, AclPermissionType
from kafka_lite.security.authorizer.acl_messages import creation_of
from kafka_lite.security.authorizer.resource_pattern import ResourcePattern, ResourceType

EARLIEST, LATEST = -2, -1
FETCH_BYTES = 16 * 1024 * 1024
TIMEOUT_MS = 10_000
CONSUMER = -1
ALL_IN_SYNC = -1
_VERSIONS: dict[type[Request], int] = {
    # Versions without topic ids and compact encoding: they have every field that is needed here.
    ProduceRequest: 7,
    FetchRequest: 10,
    ListOffsetsRequest: 3,
    MetadataRequest: 5,
    CreateTopicsRequest: 4,
    DeleteTopicsRequest: 3,
    CreateAclsRequest: 1,
    AlterConfigsRequest: 0,
    CreatePartitionsRequest: 1,
    ElectLeadersRequest: 1,
    incremental.IncrementalAlterConfigsRequest: 0,
    AlterPartitionReassignmentsRequest: 0,
}

TOPIC_RESOURCE: Final = 2
"""The type of a topic in AlterConfigs."""
SET: Final = 0
"""The operation of IncrementalAlterConfigs that sets a value."""
R = TypeVar("R", bound=Response)
Data = bytes | str | None
"""A key or value: text is encoded as UTF-8; a None value is a tombstone."""


@dataclass(frozen=True)
class StoredRecord:
    """A record as stored in the log."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class ClusterClient:
    """One connection. Raises ApiError for the broker's errors, ConnectionError for the connection's."""

    def __init__(self, host: str, port: int, client_id: str, security: ClientChannelBuilder | None = None) -> None:
        """``security``: how the connection is protected; None: not at all."""
        self._channel = BlockingChannel(
            host, port, client_id=client_id, read_timeout_ms=2 * TIMEOUT_MS, security=security
        )

    def __enter__(self) -> Self:
        self._channel.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def _ask(self, request: Request, response_class: type[R]) -> R:
        response = self._channel.exchange(request, _VERSIONS[type(request)])
        assert isinstance(response, response_class)
        return response

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_topic(
        self, topic: str, partitions: int, configs: Mapping[str, str], replication_factor: int = 1
    ) -> None:
        """Create a topic and wait until it is usable."""
        entries = [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]
        self._create(
            CreatableTopic(
                name=topic, num_partitions=partitions, replication_factor=replication_factor, configs=entries
            )
        )

    def create_placed_topic(self, topic: str, replicas: Sequence[Sequence[int]]) -> None:
        """Create a topic whose partitions have their replicas on these brokers, and wait until it is usable."""
        placed = [
            CreatableReplicaAssignment(partition_index=partition, broker_ids=list(brokers))
            for partition, brokers in enumerate(replicas)
        ]
        self._create(CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1, assignments=placed))

    def _create(self, topic: CreatableTopic) -> None:
        request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
        (result,) = self._ask(request, CreateTopicsResponse).topics
        _check(result.error_code, result.error_message)

    def alter_topic(self, topic: str, configs: Mapping[str, str]) -> None:
        """Give a topic these settings and no others."""
        settings = [AlterableConfig(name=name, value=value) for name, value in configs.items()]
        resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=settings)
        (result,) = self._ask(AlterConfigsRequest(resources=[resource]), AlterConfigsResponse).responses
        _check(result.error_code, result.error_message)

    def set_topic_config(self, topic: str, name: str, value: str) -> None:
        """Give a topic one setting; the others stay as they are."""
        change = incremental.AlterableConfig(name=name, config_operation=SET, value=value)
        resource = incremental.AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=[change])
        request = incremental.IncrementalAlterConfigsRequest(resources=[resource])
        (result,) = self._ask(request, incremental.IncrementalAlterConfigsResponse).responses
        _check(result.error_code, result.error_message)

    def create_partitions(self, topic: str, count: int) -> None:
        """Add partitions to a topic until it has ``count``, and wait until they are usable.

        Raises INVALID_PARTITIONS if it has as many, or more.
        """
        wanted = CreatePartitionsTopic(name=topic, count=count, assignments=None)
        request = CreatePartitionsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS, validate_only=False)
        (result,) = self._ask(request, CreatePartitionsResponse).results
        _check(result.error_code, result.error_message)

    def delete_topic(self, topic: str) -> None:
        """Delete a topic and wait until it is gone."""
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=TIMEOUT_MS)
        (result,) = self._ask(request, DeleteTopicsResponse).responses
        _check(result.error_code, f"topic {topic}: {Errors.for_code(result.error_code).message}")

    def topics(self) -> dict[str, int]:
        """Topic -> number of partitions, without internal topics."""
        response = self._ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), MetadataResponse)
        return {t.name: len(t.partitions) for t in response.topics if t.name and not t.is_internal}

    def partitions(self, topic: str) -> int:
        """The number of partitions of a topic."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        (found,) = self._ask(request, MetadataResponse).topics
        _check(found.error_code, f"topic {topic}: {Errors.for_code(found.error_code).message}")
        return len(found.partitions)

    def replicas(self, topic: str) -> dict[int, list[int]]:
        """Partition -> the brokers to which it is assigned. Raises ApiError if the broker does not know the topic."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        (found,) = self._ask(request, MetadataResponse).topics
        _check(found.error_code, f"topic {topic}: {Errors.for_code(found.error_code).message}")
        return {partition.partition_index: list(partition.replica_nodes) for partition in found.partitions}

    def in_sync_replicas(self, topic: str) -> dict[int, list[int]]:
        """Partition -> its ISR; raises LEADER_NOT_AVAILABLE if a partition has no leader."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        (found,) = self._ask(request, MetadataResponse).topics
        for code in [found.error_code, *(partition.error_code for partition in found.partitions)]:
            _check(code, f"topic {topic}: {Errors.for_code(code).message}")
        return {partition.partition_index: list(partition.isr_nodes) for partition in found.partitions}

    def controller_id(self) -> int:
        """The broker that this one believes to be the controller; -1 if it knows none."""
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        return self._ask(request, MetadataResponse).controller_id

    # ── leaders ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reassign(self, topic: str, partition: int, replicas: list[int]) -> None:
        """Give a partition these replicas, the preferred leader first; returns before it is done."""
        wanted = ReassignableTopic(
            name=topic, partitions=[ReassignablePartition(partition_index=partition, replicas=replicas)]
        )
        request = AlterPartitionReassignmentsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS)
        response = self._ask(request, AlterPartitionReassignmentsResponse)
        _check(response.error_code, response.error_message)
        (result,) = response.responses[0].partitions
        _check(result.error_code, result.error_message)

    def elect_preferred_leader(self, topic: str, partition: int) -> None:
        """Make the preferred replica the leader, unless it is."""
        wanted = [TopicPartitions(topic=topic, partitions=[partition])]
        request = ElectLeadersRequest(election_type=0, topic_partitions=wanted, timeout_ms=TIMEOUT_MS)
        response = self._ask(request, ElectLeadersResponse)
        _check(response.error_code, f"electing the leader of {topic}-{partition}")
        (result,) = response.replica_election_results[0].partition_result
        if result.error_code != Errors.ELECTION_NOT_NEEDED.code:
            _check(result.error_code, result.error_message)

    # ── rights ────────────────────────────────────────────────────────────────────────────────────────────────────

    def allow(self, principal: str, operation: str, resource_type: str, name: str) -> None:
        """Store an access control list: this principal may do this with the resource of this name, from anywhere."""
        entry = AccessControlEntry(principal, "*", AclOperation[operation], AclPermissionType.ALLOW)
        creation = creation_of(AclBinding(ResourcePattern(ResourceType[resource_type], name), entry))
        (result,) = self._ask(CreateAclsRequest(creations=[creation]), CreateAclsResponse).results
        _check(result.error_code, result.error_message)

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────

    def produce(
        self,
        topic: str,
        partition: int,
        values: Iterable[Data],
        key: Data,
        headers: Iterable[tuple[str, Data]],
        timestamp_ms: int,
        acks: int = ALL_IN_SYNC,
    ) -> int:
        """Append records in one batch; returns the offset of the first."""
        builder = MemoryRecordsBuilder()
        encoded_headers = [_encoded_header(header) for header in headers]
        for value in values:
            builder.append(timestamp_ms, _encoded(key), _encoded(value), encoded_headers)
        data = PartitionProduceData(index=partition, records=builder.build())
        request = ProduceRequest(
            acks=acks,
            timeout_ms=TIMEOUT_MS,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )
        result = self._ask(request, ProduceResponse).responses[0].partition_responses[0]
        _check(result.error_code, f"{topic}-{partition}: {Errors.for_code(result.error_code).message}")
        return result.base_offset

    def records(self, topic: str, partition: int) -> list[StoredRecord]:
        """All records of a partition, including those of open and aborted transactions."""
        position, end = (self._offset(topic, partition, timestamp) for timestamp in (EARLIEST, LATEST))
        found: list[StoredRecord] = []
        while position < end:
            next_position = position
            for batch in batches(self._fetch(topic, partition, position)):
                next_position = max(next_position, batch.last_offset + 1)
                if batch.is_control:
                    continue
                found += [
                    StoredRecord(partition, r.offset, r.timestamp, r.key, r.value, r.headers)
                    for r in batch.records()
                    if position <= r.offset < end
                ]
            if next_position == position:
                break  # deleted between the requests
            position = next_position
        return found

    def _offset(self, topic: str, partition: int, timestamp: int) -> int:
        asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
        request = ListOffsetsRequest(replica_id=CONSUMER, topics=[ListOffsetsTopic(name=topic, partitions=[asked])])
        result = self._ask(request, ListOffsetsResponse).topics[0].partitions[0]
        _check(result.error_code, f"{topic}-{partition}: {Errors.for_code(result.error_code).message}")
        return result.offset

    def _fetch(self, topic: str, partition: int, offset: int) -> bytes:
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
        request = FetchRequest(
            replica_id=CONSUMER,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=FETCH_BYTES,
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        result = self._ask(request, FetchResponse).responses[0].partitions[0]
        if result.error_code == Errors.OFFSET_OUT_OF_RANGE.code:
            return b""
        _check(result.error_code, f"{topic}-{partition}: {Errors.for_code(result.error_code).message}")
        assert result.records is None or isinstance(result.records, bytes | bytearray | memoryview)
        return bytes(result.records or b"")


def _encoded(data: Data) -> bytes | None:
    if isinstance(data, str):
        return data.encode()
    if data is not None and not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"keys and values are bytes, str or None, not {data!r}")
    return data


def _encoded_header(header: Any) -> Header:
    match header:
        case (str(name), value):  # no text of two letters: "id" would become the header "i" with the value "d"
            return Header(name, _encoded(value))
    raise TypeError(f"a header must be a name and a value, such as ('id', b'7'), not {header!r}")


def _check(code: int, message: str | None) -> None:
    error = Errors.for_code(code)
    if error is not Errors.NONE:
        raise error.exception(message)
