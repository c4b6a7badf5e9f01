"""Source partitions and offsets; the errors have Java's texts."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.mirror.connectors.mirror_utils import (
    check_offsets,
    decode_topic_partition,
    encode_topic_partition,
    unwrap_offset,
    unwrap_partition,
    wrap_offset,
    wrap_partition,
)

PARTITION = {"cluster": "west", "topic": "t", "partition": 3}
NAMES = ("cluster", "topic")


def test_partitions_and_offsets_are_wrapped() -> None:
    assert wrap_partition(TopicPartition("t", 3), "west") == PARTITION
    assert unwrap_partition(PARTITION) == TopicPartition("t", 3)
    assert unwrap_offset(wrap_offset(7)) == 7
    assert [unwrap_offset(each) for each in (None, {}, {"offset": None}, {"offset": -1})] == [None] * 4


def test_a_topic_may_have_a_dash() -> None:
    partition = TopicPartition("a-b", 12)
    assert encode_topic_partition(partition) == "a-b-12"
    assert decode_topic_partition("a-b-12") == partition


@pytest.mark.parametrize("offset", [{"offset": 0}, {"offset": 41}, None])
def test_valid_offsets(offset: dict[str, Any] | None) -> None:
    check_offsets([(dict(PARTITION), offset)], NAMES, only_zero=False)


def test_garbage_may_be_removed() -> None:
    check_offsets([({"what": 1}, None)], NAMES, only_zero=True)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ({"topic": "t", "partition": 3}, "{topic=t, partition=3} is missing the 'cluster' key, which is required"),
        (PARTITION | {"topic": 5}, "has an invalid value 5 for the 'topic' key, which must be a string"),
        (PARTITION | {"partition": "3"}, "has an invalid value 3 for the 'partition' key, which must be an integer"),
        (PARTITION | {"partition": 1 << 31}, "for the 'partition' key, which must be an integer"),
        (PARTITION | {"partition": True}, "for the 'partition' key, which must be an integer"),
        (PARTITION | {"partition": -1}, "has an invalid value -1 for the 'partition' key, which cannot be negative"),
    ],
)
def test_wrong_partitions(partition: dict[str, Any], message: str) -> None:
    with pytest.raises(ConnectError) as raised:
        check_offsets([(partition, {"offset": 1})], NAMES, only_zero=False)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("offset", "only_zero", "message"),
    [
        ({"at": 1}, False, "Source offset {at=1} for source partition {cluster=west, topic=t, partition=3} is missing"),
        ({"offset": "1"}, False, "has an invalid value 1 for the 'offset' key, which must be an integer"),
        ({"offset": -1}, False, "has an invalid value -1 for the 'offset' key, which cannot be negative"),
        ({"offset": 1}, True, "has an invalid value 1 for the 'offset' key; the only accepted value is 0"),
    ],
)
def test_wrong_offsets(offset: dict[str, Any], only_zero: bool, message: str) -> None:
    with pytest.raises(ConnectError) as raised:
        check_offsets([(dict(PARTITION), offset)], NAMES, only_zero=only_zero)
    assert message in str(raised.value)
