"""Fetch requests as they are built, and responses by partition."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.simple.simple_fetch import DEBUGGING_CONSUMER_ID, FetchRequestBuilder, FetchResponse
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, PartitionData
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse as WireResponse
from tests.support.message_chunks import message_set

T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)


def test_a_fetch_request_keeps_the_order_and_groups_adjacent_partitions() -> None:
    builder = FetchRequestBuilder().replica_id(DEBUGGING_CONSUMER_ID).max_wait(5).min_bytes(6).max_bytes(7)
    request = builder.add_fetch("t", 1, 10, 100).add_fetch("t", 0, 20, 100).add_fetch("u", 0, 30, 100)
    first = request.add_fetch("t", 2, 40, 100).build()
    wire = first.to_wire()
    assert [(topic.topic, [each.partition for each in topic.partitions]) for topic in wire.topics] == [
        ("t", [1, 0]), ("u", [0]), ("t", [2])
    ]  # fmt: skip
    assert (wire.replica_id, wire.max_wait_ms, wire.min_bytes, wire.max_bytes) == (-2, 5, 6, 7)
    assert first.offset(U0) == 30
    assert builder.build().is_empty


def test_building_forgets_the_partitions_and_keeps_the_settings() -> None:
    builder = FetchRequestBuilder().max_wait(5).request_version(2)
    builder.add_fetch("t", 0, 10, 100).build()
    again = builder.add_fetch("u", 0, 20, 100).build()
    assert list(again.request_info) == [U0]
    assert (again.max_wait_ms, again.version) == (5, 2)


def test_a_partition_added_twice_is_fetched_from_its_last_offset() -> None:
    request = FetchRequestBuilder().add_fetch("t", 0, 10, 100).add_fetch("t", 0, 11, 200).build()
    assert request.request_info == {T0: (11, 200)}
    with pytest.raises(KeyError):
        request.offset(U0)


@pytest.mark.parametrize("version", [-1, 4])
def test_only_the_versions_of_the_old_consumer_are_built(version: int) -> None:
    with pytest.raises(KafkaError, match=f"fetch version {version}: .* 0 to 3"):
        FetchRequestBuilder().request_version(version)


def response(*partitions: PartitionData) -> FetchResponse:
    topics = [FetchableTopicResponse(topic="t", partitions=list(partitions))]
    return FetchResponse(WireResponse(throttle_time_ms=7, responses=topics))


def test_a_response_by_partition() -> None:
    records = bytes(message_set(5, b"a", b"b").buffer)
    found = response(
        PartitionData(partition_index=0, high_watermark=9, records=records),
        PartitionData(partition_index=1, high_watermark=-1, error_code=Errors.OFFSET_OUT_OF_RANGE.code, records=None),
    )
    assert [each.offset for each in found.message_set("t", 0)] == [5, 6]
    assert (found.error("t", 0), found.high_watermark("t", 0)) == (Errors.NONE, 9)
    assert (found.error("t", 1), list(found.message_set("t", 1))) == (Errors.OFFSET_OUT_OF_RANGE, [])
    assert (found.has_error, found.size_in_bytes, found.throttle_time_ms) == (True, len(records), 7)


def test_a_partition_that_is_not_in_the_response_is_not_one_without_messages() -> None:
    found = response(PartitionData(partition_index=0, records=b""))
    assert not found.has_error
    for read in (found.error, found.message_set, found.high_watermark):
        with pytest.raises(KafkaError, match=r"No partition \(t, 1\) in fetch response"):
            read("t", 1)
