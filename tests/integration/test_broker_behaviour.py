"""Requests that a broker must reject, and those without a response: as Kafka 0.10.2 handles them."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import decode_response
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.protocol.messages.api_07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_20_delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

NONE, GZIP = CompressionType.NONE, CompressionType.GZIP
SMALL = memory_records(1, NONE, [(b"k", b"v")], timestamp=1)
PRODUCE_VERSIONS = range(10)
TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "small-messages": {"max.message.bytes": "1000"},
    "small-segments": {"segment.bytes": "1000"},
    "compacted": {"cleanup.policy": "compact"},
    "timely": {"message.timestamp.difference.max.ms": "60000"},
    "two-replicas": {"min.insync.replicas": "2"},
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with Cluster({"auto.create.topics.enable": "false", "log.retention.ms": "-1"}) as cluster:  # records of 1970
        port = cluster.server.bound_port()
        with BlockingChannel("127.0.0.1", port) as channel:
            create(channel, *(topic(name, **config) for name, config in TOPICS.items()))
        yield port


@pytest.fixture
def channel(port: int) -> Iterator[BlockingChannel]:
    with BlockingChannel("127.0.0.1", port, read_timeout_ms=60_000) as found:
        yield found


def topic(name: str, /, **config: str) -> CreatableTopic:
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in config.items()]
    return CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)


def create(channel: BlockingChannel, *topics: CreatableTopic, version: int = 1, timeout_ms: int = 10_000) -> list[int]:
    request = CreateTopicsRequest(topics=list(topics), timeout_ms=timeout_ms)
    answer = cast(CreateTopicsResponse, channel.exchange(request, version))
    return [result.error_code for result in answer.topics]


def produce_request(name: str, records: Any, acks: int = 1, partition: int = 0) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=name, partition_data=[data])]
    )  # fmt: skip


def produce(
    channel: BlockingChannel, name: str, records: Any, version: int = 2, acks: int = 1, partition: int = 0
) -> PartitionProduceResponse:
    answer = cast(ProduceResponse, channel.exchange(produce_request(name, records, acks, partition), version))
    return answer.responses[0].partition_responses[0]


def small(version: int) -> bytes:
    """A record set in the format that this produce version requires."""
    return memory_records(0 if version < 2 else 1 if version == 2 else 2, NONE, [(b"k", b"v")], timestamp=1)


# ── Produce ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
@pytest.mark.parametrize(("name", "partition"), [("nobody-knows", 0), ("plain", 1), ("plain", -1)])
def test_produce_to_an_unknown_partition(channel: BlockingChannel, version: int, name: str, partition: int) -> None:
    answer = produce(channel, name, small(version), version, partition=partition)
    assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (3, -1, -1)


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_invalid_acks_are_rejected(channel: BlockingChannel, version: int, acks: int) -> None:
    answer = produce(channel, "plain", small(version), version, acks)
    assert (answer.error_code, answer.base_offset) == (21, -1)


def test_not_enough_replicas_with_acks_all(channel: BlockingChannel) -> None:
    assert produce(channel, "two-replicas", SMALL, acks=-1).error_code == 19
    assert produce(channel, "two-replicas", SMALL, acks=1).error_code == 0, "acks=1 needs only the leader"


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_message_that_is_too_large_is_rejected(channel: BlockingChannel, magic: int) -> None:
    version = 2 if magic < 2 else 3
    large = memory_records(magic, NONE, [(b"k", bytes(1000))], timestamp=1)
    assert produce(channel, "small-messages", large, version).error_code == 10
    assert produce(channel, "small-messages", small(version), version).error_code == 0


def test_a_set_larger_than_a_segment_is_rejected(channel: BlockingChannel) -> None:
    large = memory_records(1, NONE, [(b"k", bytes(400))] * 3, timestamp=1)
    assert produce(channel, "small-segments", large).error_code == 18
    assert produce(channel, "small-segments", SMALL).error_code == 0


@pytest.mark.parametrize("codec", [NONE, GZIP])
@pytest.mark.parametrize(("version", "error"), [(0, 2), (2, 2), (3, 87), (9, 87)])
def test_a_compacted_topic_requires_keys(
    channel: BlockingChannel, codec: CompressionType, version: int, error: int
) -> None:
    magic = 0 if version < 2 else 1 if version == 2 else 2
    keyless = memory_records(magic, codec, [(b"k", b"v"), (None, b"v")], timestamp=1)
    answer = produce(channel, "compacted", keyless, version)
    assert (answer.error_code, answer.base_offset) == (error, -1)


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_a_wrong_checksum_is_rejected(channel: BlockingChannel, version: int) -> None:
    broken = bytearray(small(version))
    broken[-1] ^= 1
    assert produce(channel, "plain", bytes(broken), version).error_code == 2


def test_an_incomplete_last_message_is_not_stored(channel: BlockingChannel) -> None:
    create(channel, topic("cut"))
    two = memory_records(1, NONE, [(b"k", b"v"), (b"k", b"v")], timestamp=1)
    assert produce(channel, "cut", two[:-1]).base_offset == 0
    assert produce(channel, "cut", two).base_offset == 1


@pytest.mark.parametrize("version", [3, 9])
def test_newer_produce_versions_accept_one_v2_batch_only(channel: BlockingChannel, version: int) -> None:
    whole = small(version)
    for records in (SMALL, whole * 2, whole[:-1], b"", None):
        assert produce(channel, "plain", records, version).error_code == 87


@pytest.mark.parametrize("magic", [1, 2])
def test_timestamps_out_of_bounds_are_rejected(channel: BlockingChannel, magic: int) -> None:
    version = 2 if magic < 2 else 3
    now = round(time.time() * 1000)
    for timestamp, error in ((now, 0), (now - 120_000, 32), (now + 120_000, 32)):
        records = memory_records(magic, NONE, [(b"k", b"v")], timestamp=timestamp)
        assert produce(channel, "timely", records, version).error_code == error


def test_an_error_in_one_partition_does_not_affect_the_others(channel: BlockingChannel) -> None:
    request = produce_request("plain", SMALL, acks=-1)
    request.topic_data += produce_request("nobody-knows", SMALL).topic_data
    answer = cast(ProduceResponse, channel.exchange(request, 2))
    found = {topic.name: topic.partition_responses[0].error_code for topic in answer.responses}
    assert found == {"plain": 0, "nobody-knows": 3}


def test_acks_0_gets_no_response_and_an_error_closes_the_connection(channel: BlockingChannel) -> None:
    create(channel, topic("fire-and-forget"))
    for _ in range(3):
        channel.send(produce_request("fire-and-forget", SMALL, acks=0), 2, expect_response=False)
    assert produce(channel, "fire-and-forget", SMALL).base_offset == 3, "the first response is for the fourth request"
    channel.send(produce_request("nobody-knows", SMALL, acks=0), 2, expect_response=False)
    with pytest.raises(NotConnectedError):
        channel.exchange(MetadataRequest(topics=[]), 1)


# ── Fetch, ListOffsets ────────────────────────────────────────────────────────────────────────────────────────────────


def fetch(channel: BlockingChannel, version: int, name: str, offset: int, **limits: int) -> FetchResponse:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        min_bytes=1, **{"max_bytes": 1 << 20, "max_wait_ms": 0, **limits},
        topics=[FetchTopic(topic=name, partitions=[asked])],
    )  # fmt: skip
    return cast(FetchResponse, channel.exchange(request, version))


@pytest.mark.parametrize("version", range(13))
def test_fetch_errors(channel: BlockingChannel, version: int) -> None:
    for name, offset, error in (("plain", 1000, 1), ("plain", -5, 1), ("nobody-knows", 0, 3)):
        data = fetch(channel, version, name, offset).responses[0].partitions[0]
        assert (data.error_code, data.high_watermark, bytes(data.records or b"")) == (error, -1, b"")


@pytest.mark.parametrize(
    ("session_id", "session_epoch", "error", "gets_session"),
    [(0, 0, 0, True), (0, -1, 0, False), (77, 0, 0, True), (77, -1, 0, False), (77, 3, 70, False), (0, 3, 70, False)],
)
def test_full_fetch_requests_need_no_session(
    channel: BlockingChannel, session_id: int, session_epoch: int, error: int, gets_session: bool
) -> None:
    """A consumer may have had a session with the previous broker on this port; incremental fetches are rejected."""
    answer = fetch(channel, 11, "unknown", 0, session_id=session_id, session_epoch=session_epoch)
    assert answer.error_code == error
    assert [topic.topic for topic in answer.responses] == ([] if error else ["unknown"])
    assert (answer.session_id > 0) is gets_session


@pytest.mark.parametrize("version", range(7, 13))
def test_a_fetch_session_returns_only_what_has_changed(channel: BlockingChannel, version: int) -> None:
    name = f"session-{version}"
    create(channel, CreatableTopic(name=name, num_partitions=2, replication_factor=1))

    def exchange(session_id: int, epoch: int, **offsets: int) -> FetchResponse:
        partitions = [
            FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=1 << 20)
            for number, offset in enumerate(offsets.values())
        ]
        request = FetchRequest(
            min_bytes=1, session_id=session_id, session_epoch=epoch,
            topics=[FetchTopic(topic=name, partitions=partitions)] if partitions else [],
        )  # fmt: skip
        return cast(FetchResponse, channel.exchange(request, version))

    def returned(answer: FetchResponse) -> list[tuple[int, int]]:
        assert answer.error_code == 0
        return [(each.partition_index, each.high_watermark) for each in answer.responses for each in each.partitions]

    first = exchange(0, 0, a=0, b=0)
    assert returned(first) == [(0, 0), (1, 0)]
    session = first.session_id
    assert returned(exchange(session, 1)) == []
    assert produce(channel, name, SMALL).error_code == 0
    for epoch in (2, 3):
        assert returned(exchange(session, epoch)) == [(0, 1)], "as long as it is not fetched from its new offset"
    assert returned(exchange(session, 4, a=1)) == []
    assert returned(exchange(session, 5)) == []
    assert exchange(session, 5).error_code == 71
    assert exchange(session, -1).error_code == 0
    assert exchange(session, 6).error_code == 70


@pytest.mark.parametrize("version", [0, 3, 12])
def test_a_fetch_at_the_end_of_the_log_waits(channel: BlockingChannel, version: int) -> None:
    create(channel, topic(f"nothing-{version}"))
    began = time.monotonic()
    data = fetch(channel, version, f"nothing-{version}", 0, max_wait_ms=200).responses[0].partitions[0]
    assert (data.error_code, data.high_watermark) == (0, 0)
    assert time.monotonic() - began >= 0.19


def test_a_waiting_fetch_completes_when_a_message_arrives(port: int, channel: BlockingChannel) -> None:
    create(channel, topic("soon"))
    with BlockingChannel("127.0.0.1", port, read_timeout_ms=60_000) as reader:
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        # max_wait_ms is longer than the client's timeout: only the message can complete the fetch in time.
        request = FetchRequest(
            max_wait_ms=600_000, min_bytes=1, topics=[FetchTopic(topic="soon", partitions=[asked])]
        )  # fmt: skip
        reader.send(request, 4)
        assert produce(channel, "soon", SMALL).error_code == 0
        data = cast(FetchResponse, reader.receive()).responses[0].partitions[0]
        assert data.high_watermark == 1


def list_offsets(
    channel: BlockingChannel, version: int, name: str, timestamp: int, **more: int
) -> ListOffsetsPartitionResponse:
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp, **more)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[asked])])
    return cast(ListOffsetsResponse, channel.exchange(request, version)).topics[0].partitions[0]


@pytest.mark.parametrize("version", range(1, 8))
def test_list_offsets_by_timestamp(channel: BlockingChannel, version: int) -> None:
    name = f"times-{version}"
    create(channel, topic(name))
    for timestamp in (100, 300, 200):
        produce(channel, name, memory_records(1, NONE, [(b"k", b"v")], timestamp=timestamp))
    epoch = 0 if version >= 4 else -1
    for timestamp, expected in {
        -1: (-1, 3, epoch), -2: (-1, 0, epoch), 0: (100, 0, epoch), 100: (100, 0, epoch), 101: (300, 1, epoch),
        250: (300, 1, epoch), 301: (-1, -1, -1),
    }.items():  # fmt: skip
        answer = list_offsets(channel, version, name, timestamp)
        assert answer.error_code == 0
        assert (answer.timestamp, answer.offset, answer.leader_epoch) == expected, timestamp
    latest_record = list_offsets(channel, version, name, -3)
    assert (latest_record.error_code, latest_record.offset) == ((0, 1) if version >= 7 else (35, -1))
    assert list_offsets(channel, version, "nobody-knows", -1).error_code == 3


def test_list_offsets_version_0_returns_segments(channel: BlockingChannel) -> None:
    create(channel, topic("segments", **{"segment.bytes": "100"}))
    for _ in range(6):
        produce(channel, "segments", memory_records(1, NONE, [(b"k", bytes(20))], timestamp=1))
    ends = list_offsets(channel, 0, "segments", -1, max_num_offsets=10).old_style_offsets
    assert ends[0] == 6
    assert ends[-1] == 0
    assert ends == sorted(ends, reverse=True)
    assert len(ends) > 3
    assert list_offsets(channel, 0, "segments", -1, max_num_offsets=1).old_style_offsets == [6]
    assert list_offsets(channel, 0, "segments", -2, max_num_offsets=10).old_style_offsets == [0]


# ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", range(7))
def test_invalid_topics_are_not_created(channel: BlockingChannel, version: int) -> None:
    def assigned(*replicas: tuple[int, list[int]], partitions: int = -1) -> CreatableTopic:
        found = CreatableTopic(name="never", num_partitions=partitions, replication_factor=-1)
        found.assignments = [CreatableReplicaAssignment(partition_index=p, broker_ids=ids) for p, ids in replicas]
        return found

    refused: list[tuple[CreatableTopic, int]] = [
        (CreatableTopic(name="never", num_partitions=1, replication_factor=2), 38),
        (CreatableTopic(name="never", num_partitions=1, replication_factor=0), 38),
        (CreatableTopic(name="never", num_partitions=0, replication_factor=1), 37),
        (assigned((0, [0]), (1, [0, 0])), 39),
        (assigned((0, [0]), (2, [0])), 39),
        (assigned((0, [0]), partitions=1), 42),
        (topic("never", **{"retention.ms": "soon"}), 40),
        (topic("never", **{"no.such.key": "1"}), 40),
        (topic("plain"), 36),
        (topic(""), 17),
        (topic(".."), 17),
        (topic("n" * 250), 17),
        (topic("with space"), 17),
    ]
    for asked, error in refused:
        assert create(channel, asked, version=version) == [error], asked
    assert create(channel, topic("never"), topic("never"), version=version) == [42]
    assert "never" not in topics_of(channel)


def test_create_topics_without_a_timeout_returns_request_timed_out(channel: BlockingChannel) -> None:
    assert create(channel, topic("later"), timeout_ms=0) == [7]
    eventually(lambda: "later" in topics_of(channel))
    assert create(channel, topic("later")) == [36]


def topics_of(channel: BlockingChannel) -> set[str]:
    answer = cast(MetadataResponse, channel.exchange(MetadataRequest(topics=None), 1))
    return {found.name or "" for found in answer.topics}


def test_a_deleted_topic_can_be_created_again(channel: BlockingChannel) -> None:
    for _ in range(2):
        assert create(channel, topic("mayfly")) == [0]
        assert produce(channel, "mayfly", SMALL).base_offset == 0
        request = DeleteTopicsRequest(topic_names=["mayfly", "nobody-knows"], timeout_ms=30_000)
        answer = cast(DeleteTopicsResponse, channel.exchange(request, 1))
        assert {each.name: each.error_code for each in answer.responses} == {"mayfly": 0, "nobody-knows": 3}
        assert "mayfly" not in topics_of(channel)
        assert produce(channel, "mayfly", SMALL).error_code == 3


def test_topics_have_ids(channel: BlockingChannel) -> None:
    request = CreateTopicsRequest(topics=[topic("first"), topic("second")], timeout_ms=30_000)
    created = cast(CreateTopicsResponse, channel.exchange(request, 7))
    ids = {each.name: each.topic_id for each in created.topics}
    assert len({*ids.values(), UUID(int=0)}) == 3
    by_id = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=ids["first"])])
    (found,) = cast(MetadataResponse, channel.exchange(by_id, 12)).topics
    assert (found.error_code, found.name, found.topic_id) == (0, "first", ids["first"])
    asked = [
        DeleteTopicState(name="second"),
        DeleteTopicState(name="second"),
        DeleteTopicState(name=None, topic_id=UUID(int=7)),
        DeleteTopicState(name=None, topic_id=ids["first"]),
        DeleteTopicState(name="plain", topic_id=UUID(int=7)),
        DeleteTopicState(name=None),
        DeleteTopicState(name="nobody-knows"),
    ]
    answer = channel.exchange(DeleteTopicsRequest(topics=asked, timeout_ms=30_000), 6)
    results = [(each.name, each.topic_id.int, each.error_code) for each in cast(DeleteTopicsResponse, answer).responses]
    assert results[:3] == [("second", 0, 0), ("first", ids["first"].int, 0), ("nobody-knows", 0, 3)]
    assert results[3:] == [(None, 7, 100), ("plain", 7, 42), (None, 0, 42)]
    assert {"plain", "first", "second"}.intersection(topics_of(channel)) == {"plain"}
    (gone,) = cast(MetadataResponse, channel.exchange(by_id, 12)).topics
    assert (gone.error_code, gone.name, gone.topic_id) == (100, None, ids["first"])


@pytest.mark.parametrize("version", [13, 14, 15])
def test_topics_are_fetched_by_id(channel: BlockingChannel, version: int) -> None:
    name = f"by-id-{version}"
    assert create(channel, topic(name)) == [0]
    assert produce(channel, name, SMALL).error_code == 0
    by_name = MetadataRequest(topics=[MetadataRequestTopic(name=name)])

    def current_id() -> UUID:
        (found,) = cast(MetadataResponse, channel.exchange(by_name, 12)).topics
        return found.topic_id

    def exchange(session_id: int, epoch: int, *ids: UUID) -> FetchResponse:
        partitions = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)]
        request = FetchRequest(
            min_bytes=1, max_bytes=1 << 20, max_wait_ms=0, session_id=session_id, session_epoch=epoch,
            topics=[FetchTopic(topic_id=topic_id, partitions=partitions) for topic_id in ids],
        )  # fmt: skip
        return cast(FetchResponse, channel.exchange(request, version))

    def errors(answer: FetchResponse) -> dict[UUID, int]:
        assert answer.error_code == 0
        return {each.topic_id: partition.error_code for each in answer.responses for partition in each.partitions}

    known, unknown = current_id(), UUID(int=7)
    first = exchange(0, 0, known, unknown)
    assert errors(first) == {known: 0, unknown: 100}
    (found,) = (each.partitions[0] for each in first.responses if each.topic_id == known)
    named = fetch(channel, 12, name, 0).responses[0]
    assert (found.high_watermark, found.records) == (1, named.partitions[0].records)
    assert errors(exchange(first.session_id, 1)) == {known: 0, unknown: 100}, "it has not moved on"
    channel.exchange(DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000), 6)
    assert create(channel, topic(name)) == [0]
    assert errors(exchange(first.session_id, 2)) == {known: 100, unknown: 100}, "a new topic of the old name"
    assert errors(exchange(0, -1, current_id())) == {current_id(): 0}


@pytest.mark.parametrize("version", range(13))
def test_metadata_of_unknown_topics(channel: BlockingChannel, version: int) -> None:
    names = ["nobody-knows", "nobody-knows", "bad name!", "plain"]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    answer = cast(MetadataResponse, channel.exchange(request, version))
    assert {each.name: each.error_code for each in answer.topics} == {"nobody-knows": 3, "bad name!": 17, "plain": 0}
    assert len(answer.topics) == 3


# ── versions ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def raw_exchange(port: int, frame: bytes) -> bytes:
    """The response, or b"" if the broker closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=patient_s(60)) as sock:
        sock.sendall(struct.pack(">i", len(frame)) + frame)
        stream = sock.makefile("rb")
        size = stream.read(4)
        return stream.read(struct.unpack(">i", size)[0]) if size else b""


def header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 77, -1)


def test_unknown_api_versions_are_answered_in_version_0(port: int) -> None:
    frame = raw_exchange(port, header(ApiKey.API_VERSIONS, 99) + bytes(20))
    correlation_id, answer = decode_response(ApiKey.API_VERSIONS, 0, frame)
    assert isinstance(answer, ApiVersionsResponse)
    assert (correlation_id, answer.error_code) == (77, 35)
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == [(18, 0, 4)]


def test_a_request_of_a_stale_controller_is_rejected(channel: BlockingChannel) -> None:
    """This broker's own controller has an epoch above 0, which the broker knows from its requests."""
    for request, version in ((UpdateMetadataRequest(controller_id=7), 3), (StopReplicaRequest(controller_id=7), 0)):
        response = channel.exchange(request, version)
        assert response.error_code == Errors.STALE_CONTROLLER_EPOCH.code  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", [0, 1])
def test_controlled_shutdown_of_an_unregistered_broker_is_rejected(channel: BlockingChannel, version: int) -> None:
    response = channel.exchange(ControlledShutdownRequest(broker_id=99), version)
    assert response == ControlledShutdownResponse(error_code=Errors.BROKER_NOT_AVAILABLE.code)


@pytest.mark.parametrize(
    "key",
    [*sorted(SERVED_VERSIONS.keys() - {ApiKey.API_VERSIONS}), 999],
)
def test_unserved_apis_and_versions_close_the_connection(port: int, key: int) -> None:
    version = SERVED_VERSIONS[ApiKey(key)].max_version + 1 if key in set(SERVED_VERSIONS) else 0
    assert raw_exchange(port, header(key, version) + bytes(64)) == b""


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("key_type", [2, 7])
def test_coordinators_of_unknown_types_are_refused_with_a_reason(
    channel: BlockingChannel, version: int, key_type: int
) -> None:
    keys = {"coordinator_keys": ["t"]} if version >= 4 else {"key": "t"}
    answer = channel.exchange(FindCoordinatorRequest(key_type=key_type, **keys), version)
    assert isinstance(answer, FindCoordinatorResponse)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.error_code, found.node_id) == (42, -1)
    assert f"no coordinators of key type {key_type}" in (found.error_message or "")
