"""Which Produce requests are handled one at a time."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.sendable import Part
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.record.codec_libraries import lz4_frame
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.heavy_produces import (
    MAX_EXPANDED_AT_ONCE,
    MAX_PARTITIONS_AT_ONCE,
    expansion_of,
    is_heavy,
    lz4_bound,
)

CODECS = [codec for codec in CompressionType if codec is not CompressionType.NONE]
NOISE = random.Random(3).randbytes(1 << 20)


def batch(codec: CompressionType, value: bytes, magic: int = 2) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec)
    builder.append(0, None, value)
    return builder.build()


def request(body: Message, api_key: ApiKey = ApiKey.PRODUCE) -> Request:
    header = RequestHeader(api_key=api_key, api_version=7, correlation_id=1)
    return Request(0, "c", "P", "P", "127.0.0.1", header, body, 1, 0)


def produce(*records: Part | None) -> Request:
    data = [PartitionProduceData(index=number, records=each) for number, each in enumerate(records)]
    return request(ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=data)]))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [1, 2])
def test_a_batch_that_holds_a_hundred_times_as_much_is_heavy(codec: CompressionType, magic: int) -> None:
    if magic == 2 or codec is not CompressionType.ZSTD:
        bomb = batch(codec, bytes(32 << 20), magic)
        assert is_heavy(produce(memoryview(bomb)))
        half = batch(codec, bytes(12 << 20), magic)
        assert is_heavy(produce(half, half)), "together"


@pytest.mark.parametrize("codec", list(CompressionType))
def test_a_megabyte_of_usual_records_is_not(codec: CompressionType) -> None:
    assert not is_heavy(produce(batch(codec, NOISE[: 600 * 1024]), batch(codec, bytes(1 << 20))))


@pytest.mark.parametrize("records", [None, b"", b"x", bytes(22)])
def test_what_is_no_batch_expands_to_nothing(records: bytes | None) -> None:
    assert expansion_of(records) == 0


def test_a_request_of_many_partitions_is_heavy() -> None:
    assert not is_heavy(produce(*[None] * (MAX_PARTITIONS_AT_ONCE - 1)))
    assert is_heavy(produce(*[None] * MAX_PARTITIONS_AT_ONCE))
    topics = [TopicProduceData(name="t") for _ in range(MAX_PARTITIONS_AT_ONCE + 1)]
    assert is_heavy(request(ProduceRequest(topic_data=topics)))


def test_only_produce_requests_are() -> None:
    assert not is_heavy(request(HeartbeatRequest(), ApiKey.HEARTBEAT))


@given(st.binary(max_size=3000), st.integers(1, 300), st.booleans(), st.booleans(), st.booleans())
def test_the_bound_of_an_lz4_frame_holds(piece: bytes, times: int, has_size: bool, sums: bool, linked: bool) -> None:
    data = piece * times
    frame = lz4_frame.compress(
        data, store_size=has_size, block_checksum=sums, content_checksum=sums, block_linked=linked
    )
    assert len(data) <= lz4_bound(frame, 0) <= len(data) + (4 << 20)


@pytest.mark.parametrize("frame", [b"", b"no lz4 frame at all", b"\x04\x22\x4d\x18\x60"])
def test_what_is_no_lz4_frame_has_no_bound(frame: bytes) -> None:
    assert lz4_bound(frame, 0) > MAX_EXPANDED_AT_ONCE
