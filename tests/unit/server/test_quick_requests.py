"""Which requests a network thread may handle itself."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.api_19_create_topics import CreateTopicsRequest
from kafka_lite.protocol.messages.api_23_offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.quick_batches import MAX_QUICK_RECORDS
from kafka_lite.server.quick_requests import MAX_QUICK_BYTES, MAX_QUICK_PARTITIONS, QuickRequests


def is_quick(
    api_key: ApiKey,
    version: int,
    body: Message,
    *,
    topic_configs: dict[str, dict[str, str]] | None = None,
    auto_create: bool = True,
    size: int = 100,
    num_partitions: int = 1,
) -> bool:
    """The verdict of ``QuickRequests`` on a broker that has topic ``t`` and those of ``topic_configs``.

    It has fetch sessions of each size, which is their id.
    """
    configs: dict[str, dict[str, str]] = {"t": {}} | (topic_configs or {})
    partitions = {
        TopicPartition(topic, 0): SimpleNamespace(log=SimpleNamespace(config=LogConfig(config)))
        for topic, config in configs.items()
    }
    replicas = SimpleNamespace(get_partition=partitions.get)
    of_topic: dict[str, range] = dict.fromkeys(configs, range(num_partitions))
    cache = SimpleNamespace(
        contains=configs.__contains__,
        get_partitions=lambda topic: of_topic.get(topic, ()),
        topic_name=lambda _topic_id: "t",
        snapshot=SimpleNamespace(partitions=of_topic),
    )
    header = RequestHeader(api_key=api_key, api_version=version)
    request = SimpleNamespace(header=header, body=body, size_in_bytes=size)
    offsets_partition = TopicPartition("__consumer_offsets", 0)
    quick_requests = QuickRequests(
        cast(Any, replicas), cast(Any, cache), auto_create, lambda group_id: offsets_partition, lambda size: size
    )
    return quick_requests.includes(cast(Any, request))


def produce(*topics: str) -> ProduceRequest:
    return ProduceRequest(
        topic_data=[TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0)]) for topic in topics]
    )


def test_a_produce_request_is_quick_if_the_log_takes_batches_unchanged() -> None:
    assert is_quick(ApiKey.PRODUCE, 3, produce("t"))
    assert is_quick(ApiKey.PRODUCE, 9, produce("t", "u"), topic_configs={"u": {"retention.ms": "1"}})


def test_a_produce_request_for_an_unknown_partition_is_a_quick_error() -> None:
    assert is_quick(ApiKey.PRODUCE, 7, produce("nobody"))


@pytest.mark.parametrize(
    "config",
    [
        {"flush.messages": "1"},
        {"flush.messages": "10000"},
        {"message.format.version": "0.10.2"},
        {"compression.type": "lz4"},
        {"compression.type": "uncompressed"},
    ],
    ids=str,
)
def test_a_produce_request_is_not_quick_if_a_topic_needs_fsync_or_recompression(config: dict[str, str]) -> None:
    assert not is_quick(ApiKey.PRODUCE, 7, produce("t", "u"), topic_configs={"u": config})


def of_batches(count: int, codec: CompressionType, value: bytes, records: int = 1) -> ProduceRequest:
    builder = MemoryRecordsBuilder(MAGIC_V2, codec)
    for _ in range(records):
        builder.append(0, None, value)
    batch = builder.build()
    data = [PartitionProduceData(index=number, records=batch) for number in range(count)]
    return ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=data)])


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP])
def test_a_produce_request_with_much_to_decompress_is_not_quick(codec: CompressionType) -> None:
    noise = random.Random(1).randbytes(900)
    assert is_quick(ApiKey.PRODUCE, 7, of_batches(2, codec, noise))
    assert is_quick(ApiKey.PRODUCE, 7, of_batches(3, codec, noise)) is (codec is CompressionType.NONE)


def test_a_produce_request_of_many_records_is_not_quick() -> None:
    half = MAX_QUICK_RECORDS // 2
    assert is_quick(ApiKey.PRODUCE, 7, of_batches(2, CompressionType.NONE, b"", half))
    assert not is_quick(ApiKey.PRODUCE, 7, of_batches(2, CompressionType.NONE, b"", half + 1))
    lying = bytearray(of_batches(1, CompressionType.NONE, b"").topic_data[0].partition_data[0].records)
    lying[57:61] = (-5 * half).to_bytes(4, "big", signed=True)
    body = of_batches(2, CompressionType.NONE, b"", half + 1)
    body.topic_data[0].partition_data.append(PartitionProduceData(index=9, records=lying))
    assert not is_quick(ApiKey.PRODUCE, 7, body), "a negative count takes nothing off"


def test_a_produce_request_of_an_old_client_is_converted_and_not_quick() -> None:
    assert not is_quick(ApiKey.PRODUCE, 2, produce("t"))


def test_a_fetch_is_quick_unless_its_records_may_need_conversion() -> None:
    assert is_quick(ApiKey.FETCH, 4, FetchRequest())
    assert not is_quick(ApiKey.FETCH, 3, FetchRequest())


@pytest.mark.parametrize(("timestamp", "quick"), [(-1, True), (-2, True), (1_700_000_000_000, False)])
def test_list_offsets_is_quick_for_the_ends_of_a_log_but_not_for_timestamps(timestamp: int, quick: bool) -> None:
    asked = [ListOffsetsPartition(timestamp=-1), ListOffsetsPartition(timestamp=timestamp)]
    body = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=asked)])
    assert is_quick(ApiKey.LIST_OFFSETS, 5, body) is quick


@pytest.mark.parametrize(("version", "quick"), [(0, False), (1, True), (8, True)])
def test_offset_fetches_are_quick_unless_they_read_zookeeper(version: int, quick: bool) -> None:
    offsets_topic = {"__consumer_offsets": {"cleanup.policy": "compact"}}
    assert is_quick(ApiKey.OFFSET_COMMIT, version, OffsetCommitRequest(), topic_configs=offsets_topic) is quick
    assert is_quick(ApiKey.OFFSET_FETCH, version, OffsetFetchRequest()) is quick


def test_commits_that_wait_for_fsync_are_not_quick() -> None:
    synchronous = {"__consumer_offsets": {"flush.messages": "1"}}
    assert not is_quick(ApiKey.OFFSET_COMMIT, 8, OffsetCommitRequest(), topic_configs=synchronous)
    alive = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=3)
    assert not is_quick(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, alive, topic_configs=synchronous)


def test_heartbeats_are_quick_and_joins_are_not() -> None:
    assert is_quick(ApiKey.HEARTBEAT, 4, HeartbeatRequest())
    assert not is_quick(ApiKey.JOIN_GROUP, 4, JoinGroupRequest())


@pytest.mark.parametrize(
    "says",
    [
        {"member_epoch": 0},
        {"member_epoch": -1},
        {"topic_partitions": []},
        {"subscribed_topic_names": []},
        {"subscribed_topic_regex": ""},
        {"instance_id": "i"},
        {"rack_id": "r"},
        {"server_assignor": "uniform"},
        {"rebalance_timeout_ms": 5},
    ],
    ids=str,
)
def test_a_heartbeat_of_kip_848_is_quick_unless_it_tells_something(says: dict[str, Any]) -> None:
    sign_of_life: dict[str, Any] = {"group_id": "g", "member_id": "m", "member_epoch": 3}
    assert is_quick(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, ConsumerGroupHeartbeatRequest(**sign_of_life))
    assert not is_quick(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, ConsumerGroupHeartbeatRequest(**{**sign_of_life, **says}))


def metadata(name: str | None, *, create: bool = True) -> MetadataRequest:
    topics = None if name is None else [MetadataRequestTopic(name=name)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=create)


@pytest.mark.parametrize(
    ("version", "body", "auto_create", "quick"),
    [
        (9, metadata("t"), True, True),
        (9, metadata("new"), True, False),
        (9, metadata("new", create=False), True, True),
        (3, metadata("new", create=False), True, False),  # version 3 cannot forbid topic creation
        (9, metadata("new"), False, True),
        (9, metadata(None), True, True),
        (12, MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=UUID(int=7))]), True, True),
    ],
)
def test_metadata_is_quick_unless_a_topic_may_be_created(
    version: int, body: MetadataRequest, auto_create: bool, quick: bool
) -> None:
    assert is_quick(ApiKey.METADATA, version, body, auto_create=auto_create) is quick


def test_apis_that_are_always_or_never_quick() -> None:
    assert is_quick(ApiKey.API_VERSIONS, 3, ApiVersionsRequest())
    assert is_quick(ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, OffsetForLeaderEpochRequest())
    assert not is_quick(ApiKey.CREATE_TOPICS, 3, CreateTopicsRequest())


@pytest.mark.parametrize(
    ("api_key", "version", "body"),
    [
        (ApiKey.FETCH, 12, FetchRequest()),
        (ApiKey.METADATA, 9, metadata("t")),
        (ApiKey.HEARTBEAT, 4, HeartbeatRequest()),
    ],
)
def test_a_request_that_may_name_many_topics_is_not_quick(api_key: ApiKey, version: int, body: Message) -> None:
    assert is_quick(api_key, version, body, size=MAX_QUICK_BYTES)
    assert not is_quick(api_key, version, body, size=MAX_QUICK_BYTES + 1)


def test_a_produce_request_is_judged_by_its_partitions_not_by_its_bytes() -> None:
    assert is_quick(ApiKey.PRODUCE, 9, produce("t"), size=1_000_000)
    many = [PartitionProduceData(index=number) for number in range(MAX_QUICK_PARTITIONS)]
    one_topic = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=many)])
    assert not is_quick(ApiKey.PRODUCE, 9, one_topic)
    assert not is_quick(ApiKey.PRODUCE, 9, ProduceRequest(topic_data=[TopicProduceData(name="t")] * 501))


def test_a_fetch_is_judged_by_the_partitions_that_its_session_remembers() -> None:
    assert is_quick(ApiKey.FETCH, 11, FetchRequest(session_id=MAX_QUICK_PARTITIONS))
    assert not is_quick(ApiKey.FETCH, 11, FetchRequest(session_id=MAX_QUICK_PARTITIONS + 1))


@pytest.mark.parametrize(("partitions", "quick"), [(MAX_QUICK_PARTITIONS, True), (MAX_QUICK_PARTITIONS + 1, False)])
@pytest.mark.parametrize(
    ("version", "body"), [(9, metadata("t")), (9, metadata(None)), (0, MetadataRequest(topics=[]))]
)
def test_metadata_is_judged_by_the_partitions_that_it_tells_of(
    version: int, body: MetadataRequest, partitions: int, quick: bool
) -> None:
    assert is_quick(ApiKey.METADATA, version, body, num_partitions=partitions) is quick
    assert is_quick(ApiKey.METADATA, 1, MetadataRequest(topics=[]), num_partitions=partitions), "of no topic"


def test_a_fetch_of_all_offsets_of_a_group_is_not_quick() -> None:
    assert not is_quick(ApiKey.OFFSET_FETCH, 5, OffsetFetchRequest(topics=None))
    for topics in (None, []):
        groups = [
            OffsetFetchRequestGroup(group_id="g", topics=[]),
            OffsetFetchRequestGroup(group_id="h", topics=topics),
        ]
        assert is_quick(ApiKey.OFFSET_FETCH, 8, OffsetFetchRequest(groups=groups)) is (topics is not None)
