"""Every way to produce, read back with every fetch version: formats, codecs, offsets, timestamps.

All records of a topic are in one partition, whatever format they were produced in, and are read as a whole: so every
fetch version meets adjacent batches of all kinds.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Record, TimestampType
from kafka_lite.record.record_batch import MAGIC_POSITION
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster

ZSTD = CompressionType.ZSTD
OLD_CODECS = [codec for codec in CompressionType if codec is not ZSTD]
FETCH_VERSIONS = range(13)
LOG_MAGIC = {"0.10.2": 1, "3.0": 2}
TIMESTAMP_TYPES = ["CreateTime", "LogAppendTime"]
BASE_TIMESTAMP = 1_600_000_000_000
PER_SET = 3


@dataclass(frozen=True)
class Way:
    """How a record set is produced."""

    version: int
    magic: int
    codec: CompressionType


WAYS = [
    Way(version, magic, codec)
    for version in range(10)
    for magic in ([0] if version < 2 else [0, 1] if version == 2 else [2])
    for codec in OLD_CODECS
]
ZSTD_WAYS = [Way(version, 2, ZSTD) for version in (7, 8, 9)]


def produced_set(way: Way, number: int) -> bytes:
    builder = MemoryRecordsBuilder(way.magic, way.codec)
    for index in range(PER_SET):
        key, value = (None if index == 0 else b"k%d" % number), b"v%d-%d" % (number, index) * 20
        builder.append(BASE_TIMESTAMP + 10 * number + index, key, value)
    return builder.build()


@dataclass(frozen=True)
class Topic:
    """What was produced, and the responses."""

    name: str
    ways: list[Way]
    answers: list[PartitionProduceResponse]
    began_ms: int
    ended_ms: int


class Lane:
    """A broker with one message format, and topics with either timestamp type."""

    def __init__(self, cluster: Cluster, message_format: str) -> None:
        self.magic = LOG_MAGIC[message_format]
        self.channel = BlockingChannel("127.0.0.1", cluster.server.bound_port())
        self.channel.connect()
        self.topics = {kind: self._fill(kind, WAYS, {"message.timestamp.type": kind}) for kind in TIMESTAMP_TYPES}

    def create(self, name: str, config: dict[str, str]) -> None:
        configs = [CreatableTopicConfig(name=key, value=value) for key, value in config.items()]
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=30_000)
        answer = cast(CreateTopicsResponse, self.channel.exchange(request, 2))
        assert answer.topics[0].error_code == 0, answer

    def _fill(self, name: str, ways: list[Way], config: dict[str, str]) -> Topic:
        self.create(name, config)
        began_ms = round(time.time() * 1000) - 1
        answers = [self.produce(name, way.version, produced_set(way, number)) for number, way in enumerate(ways)]
        return Topic(name, ways, answers, began_ms, round(time.time() * 1000) + 1)

    def produce(self, topic: str, version: int, records: bytes) -> PartitionProduceResponse:
        data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
        request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
        answer = cast(ProduceResponse, self.channel.exchange(request, version))
        return answer.responses[0].partition_responses[0]

    def fetch(self, topic: str, version: int, offset: int = 0, max_bytes: int = 1 << 20) -> PartitionData:
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[asked])]
        )
        answer = cast(FetchResponse, self.channel.exchange(request, version))
        return answer.responses[0].partitions[0]


@pytest.fixture(scope="module", params=list(LOG_MAGIC))
def lane(request: pytest.FixtureRequest) -> Iterator[Lane]:
    message_format = str(request.param)
    config = {"log.message.format.version": message_format, "log.index.interval.bytes": "200"}
    with Cluster({**config, "log.retention.ms": "-1"}) as cluster:  # the records have old timestamps
        found = Lane(cluster, message_format)
        yield found
        found.channel.close()


def records_of(data: PartitionData) -> list[Record]:
    """The records, after every batch was validated."""
    found = []
    for batch in batches(data.records or b""):
        batch.ensure_valid()
        found.extend(batch.records())
    return found


def readable_magic(version: int) -> int:
    return 0 if version < 2 else 1 if version < 4 else 2


def expected_timestamp(topic: Topic, number: int, index: int, lane: Lane, fetch_version: int) -> tuple[int, int]:
    """The smallest and the largest timestamp that may be read."""
    if readable_magic(fetch_version) == 0:
        return -1, -1
    if topic.name == "LogAppendTime":
        return topic.began_ms, topic.ended_ms
    if topic.ways[number].magic == 0:
        return -1, -1
    timestamp = BASE_TIMESTAMP + 10 * number + index
    return timestamp, timestamp


@pytest.mark.parametrize("kind", TIMESTAMP_TYPES)
def test_produce_responses(lane: Lane, kind: str) -> None:
    topic = lane.topics[kind]
    for number, (way, answer) in enumerate(zip(topic.ways, topic.answers, strict=True)):
        assert (answer.error_code, answer.base_offset) == (0, number * PER_SET), way
        if kind == "LogAppendTime" and way.version >= 2:
            assert topic.began_ms <= answer.log_append_time_ms <= topic.ended_ms, way
        else:
            assert answer.log_append_time_ms == -1, way
        assert answer.log_start_offset == (0 if way.version >= 5 else -1), way


@pytest.mark.parametrize("version", FETCH_VERSIONS)
@pytest.mark.parametrize("kind", TIMESTAMP_TYPES)
def test_all_records_are_read_in_every_version(lane: Lane, kind: str, version: int) -> None:
    topic = lane.topics[kind]
    data = lane.fetch(kind, version)
    total = len(topic.ways) * PER_SET
    assert (data.error_code, data.high_watermark) == (0, total)
    assert data.last_stable_offset == (total if version >= 4 else -1)
    assert data.log_start_offset == (0 if version >= 5 else -1)
    magics = {batch.magic for batch in batches(data.records or b"")}
    assert magics == {min(lane.magic, readable_magic(version))}
    records = records_of(data)
    assert [record.offset for record in records] == list(range(total))
    for record, (number, index) in zip(records, itertools.product(range(len(topic.ways)), range(PER_SET)), strict=True):
        way = topic.ways[number]
        assert record.value == b"v%d-%d" % (number, index) * 20, way
        assert record.key == (None if index == 0 else b"k%d" % number), way
        earliest, latest = expected_timestamp(topic, number, index, lane, version)
        assert earliest <= record.timestamp <= latest, way
        if earliest == -1 and readable_magic(version) == 0:
            assert record.timestamp_type is TimestampType.NO_TIMESTAMP_TYPE
        else:
            stamped = kind == "LogAppendTime"
            assert (record.timestamp_type is TimestampType.LOG_APPEND_TIME) == stamped, way


def test_the_log_append_time_of_the_response_is_the_timestamp_of_the_records(lane: Lane) -> None:
    topic = lane.topics["LogAppendTime"]
    records = records_of(lane.fetch("LogAppendTime", 10))
    for number, (way, answer) in enumerate(zip(topic.ways, topic.answers, strict=True)):
        if way.version >= 2:
            times = {record.timestamp for record in records[number * PER_SET : (number + 1) * PER_SET]}
            assert times == {answer.log_append_time_ms}, way


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_reading_from_within_a_batch(lane: Lane, version: int) -> None:
    """Consumers skip the records before; old ones need not in uncompressed sets."""
    topic = lane.topics["CreateTime"]
    for number, way in enumerate(topic.ways):
        offset = number * PER_SET + 1
        data = lane.fetch("CreateTime", version, offset)
        first = records_of(data)[0]
        converted = lane.magic > readable_magic(version)
        one_by_one = lane.magic < 2 and way.codec is CompressionType.NONE
        assert first.offset == (offset if converted or one_by_one else offset - 1), way
        assert records_of(data)[-1].offset == len(topic.ways) * PER_SET - 1


def test_zstd_is_rejected_in_old_formats_and_fetch_versions(lane: Lane) -> None:
    """Only format v2 supports it: a log of an old format rejects it, and old fetch versions get an error."""
    lane.create("zstd", {})
    for way in ZSTD_WAYS:
        answer = lane.produce("zstd", way.version, produced_set(way, 0))
        assert answer.error_code == (0 if lane.magic == 2 else 76)
    assert lane.produce("zstd", 6, produced_set(ZSTD_WAYS[0], 0)).error_code == 76
    if lane.magic < 2:
        return
    for version in FETCH_VERSIONS:
        data = lane.fetch("zstd", version)
        assert data.error_code == (76 if version < 4 else 0), version
        assert len(records_of(data)) == (0 if version < 4 else len(ZSTD_WAYS) * PER_SET)


def test_fetches_older_than_zstd_get_an_error_for_a_topic_compressed_with_it(lane: Lane) -> None:
    lane.create("to-zstd", {"compression.type": "zstd"})
    answer = lane.produce("to-zstd", 3, produced_set(Way(3, 2, CompressionType.GZIP), 0))
    if lane.magic < 2:
        assert answer.error_code == 76
        return
    assert answer.error_code == 0
    for version in FETCH_VERSIONS:
        data = lane.fetch("to-zstd", version)
        assert (data.error_code, data.high_watermark) == ((76, -1) if version < 10 else (0, PER_SET))
    assert {batch.compression for batch in batches(lane.fetch("to-zstd", 12).records or b"")} == {ZSTD}


def test_a_topic_may_disable_down_conversion(lane: Lane) -> None:
    lane.create("as-it-is", {"message.downconversion.enable": "false"})
    assert lane.produce("as-it-is", 3, produced_set(Way(3, 2, CompressionType.GZIP), 0)).error_code == 0
    for version in FETCH_VERSIONS:
        converted = readable_magic(version) < lane.magic
        data = lane.fetch("as-it-is", version)
        assert (data.error_code, data.high_watermark) == ((35, -1) if converted else (0, PER_SET))


@pytest.mark.parametrize("codec", OLD_CODECS)
def test_the_topic_decides_the_codec(lane: Lane, codec: CompressionType) -> None:
    name = f"only-{codec.codec_name}"
    lane.create(name, {"compression.type": "uncompressed" if codec is CompressionType.NONE else codec.codec_name})
    for number, way in enumerate(WAYS):
        assert lane.produce(name, way.version, produced_set(way, number)).error_code == 0
    data = lane.fetch(name, 12)
    assert {batch.compression for batch in batches(data.records or b"")} == {codec}
    values = [record.value for record in records_of(data)]
    assert values == [b"v%d-%d" % (n, i) * 20 for n in range(len(WAYS)) for i in range(PER_SET)]


def test_headers_are_returned_where_the_version_supports_them(lane: Lane) -> None:
    builder = MemoryRecordsBuilder(2)
    builder.append(BASE_TIMESTAMP, b"k", b"v", [("h", b"1"), ("h", None)])
    lane.create("headers", {})
    answer = lane.produce("headers", 9, builder.build())
    if lane.magic < 2:
        assert answer.error_code == 43, "the log's format has no headers"
        return
    for version in FETCH_VERSIONS:
        (record,) = records_of(lane.fetch("headers", version))
        headers = [(key, value) for key, value in record.headers]
        assert headers == ([("h", b"1"), ("h", None)] if version >= 4 else []), version


def test_fetch_size_limits(lane: Lane) -> None:
    """Up to version 2, the limit cuts even the first message; since version 3, the first one is complete."""
    for version in FETCH_VERSIONS:
        cut = lane.fetch("CreateTime", version, 0, 20)
        size = len(cut.records or b"")
        assert cut.error_code == 0
        if version <= 2:
            assert size == 20
            assert list(batches(cut.records or b"")) == []
            assert (cut.records or b"")[MAGIC_POSITION] <= readable_magic(version), "the consumer knows the format"
        else:
            whole = next(batches(cut.records or b""))
            assert whole.size_in_bytes == size or version == 3  # converted: the messages of one batch
