"""Structs created by makers, and cached encodings of strings."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.encoder_compiler import COMPACT_TEXTS, Texts
from kafka_lite.protocol.messages.api_00_produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_lite.protocol.schema_error import SchemaError

new_partition = PartitionProduceResponse.maker("index", "error_code", "base_offset")
new_topic = TopicProduceResponse.maker("name", "partition_responses")
new_response = ProduceResponse.maker("responses")


def test_a_maker_creates_the_same_as_init() -> None:
    made = new_response([new_topic("t", [new_partition(3, 0, 42)])])
    partition = PartitionProduceResponse(index=3, error_code=0, base_offset=42)
    same = ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])
    assert made == same
    for version in ProduceResponse.VERSIONS:
        assert made.encode(version) == same.encode(version)


def test_default_lists_are_copied_and_structs_are_shared() -> None:
    first, second = new_partition(0, 0, 0), new_partition(1, 0, 0)
    assert first.record_errors is not second.record_errors
    assert first.current_leader is second.current_leader is LeaderIdAndEpoch.default()


def test_a_struct_that_is_not_the_shared_default_is_compared() -> None:
    answer = new_response([new_topic("t", [new_partition(3, 0, 42)])])
    answer.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch()
    answer.encode(7)
    answer.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch(leader_id=1)
    with pytest.raises(SchemaError, match="current_leader is set"):
        answer.encode(7)


def test_texts_are_cached_up_to_a_limit() -> None:
    texts = Texts(lambda length: bytes((length % 256,)))
    assert texts["topic"] == b"\x05topic"
    assert texts["topic"] is texts["topic"]
    assert texts["x" * 1000] is not texts["x" * 1000]
    for number in range(3 * Texts.MAX_KEPT):
        assert texts[str(number)][1:] == str(number).encode()
        assert len(texts) <= Texts.MAX_KEPT


def test_compact_texts_have_the_right_length() -> None:
    assert COMPACT_TEXTS[""] == b"\x01"
    assert COMPACT_TEXTS["a" * 200] == b"\xc9\x01" + b"a" * 200
