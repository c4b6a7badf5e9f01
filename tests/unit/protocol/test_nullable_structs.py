"""A struct that may be null has a byte in front: -1 for null, or 1 (KIP-893)."""

from __future__ import annotations

import pytest

from kafka_lite.protocol import wire_types
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import NULL_STRUCT, PRESENT_STRUCT, StructType

LIMIT = (7).to_bytes(4, "big")


def request(cursor: bytes) -> bytes:
    """A request for the topic t with a limit of seven partitions."""
    return b"\x02\x02t\x00" + LIMIT + cursor + b"\x00"


def test_null_is_the_default_of_each_message() -> None:
    assert DescribeTopicPartitionsRequest().cursor is None
    assert DescribeTopicPartitionsResponse().next_cursor is None


def test_every_negative_byte_is_null_as_in_kafka() -> None:
    for byte in (b"\xff", b"\x80"):
        assert DescribeTopicPartitionsRequest.decode(request(byte), 0).cursor is None


def test_the_fields_behind_a_struct_are_where_they_belong() -> None:
    cursor = Cursor(topic_name="t", partition_index=9)
    encoded = request(PRESENT_STRUCT + b"\x02t" + (9).to_bytes(4, "big") + b"\x00")
    decoded = DescribeTopicPartitionsRequest.decode(encoded, 0)
    assert (decoded.cursor, decoded.response_partition_limit) == (cursor, 7)
    assert decoded.topics == [TopicRequest(name="t")]
    assert decoded.encode(0) == encoded


@pytest.mark.parametrize("length", range(len(request(PRESENT_STRUCT + b"\x02t" + bytes(5)))))
def test_a_frame_that_ends_within_is_refused(length: int) -> None:
    whole = request(PRESENT_STRUCT + b"\x02t" + bytes(5))
    with pytest.raises((SchemaError, IndexError)) as raised:
        DescribeTopicPartitionsRequest.decode(whole[:length], 0)
    assert isinstance(raised.value, SchemaError)


def test_a_null_struct_takes_one_byte() -> None:
    with_cursor = wire_types.minimum_size(StructType(DescribeTopicPartitionsResponse), 0, True)
    assert len(DescribeTopicPartitionsResponse().encode(0)) == with_cursor == 4 + 1 + len(NULL_STRUCT) + 1
