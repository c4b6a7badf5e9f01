"""A cursor, or null in its place, in front of one byte that says which."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)


@pytest.mark.parametrize(
    ("cursor", "encoded"),
    [(None, b"\xff"), (Cursor(topic_name="t", partition_index=3), b"\x01" + b"\x02t" + b"\x00\x00\x00\x03" + b"\x00")],
)
def test_a_cursor_may_be_null(cursor: Cursor | None, encoded: bytes) -> None:
    request = DescribeTopicPartitionsRequest(cursor=cursor)
    assert request.encode(0) == b"\x01" + (2000).to_bytes(4, "big") + encoded + b"\x00"
    assert DescribeTopicPartitionsRequest.decode(request.encode(0), 0).cursor == cursor
    response = DescribeTopicPartitionsResponse(next_cursor=cursor)
    assert DescribeTopicPartitionsResponse.decode(response.encode(0), 0) == response
