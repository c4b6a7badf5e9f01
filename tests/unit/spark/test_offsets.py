"""Offsets, timestamps and partitions as the options of Spark's Kafka source have them."""

from __future__ import annotations

import json
import random

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import (
    EARLIEST,
    LATEST,
    SparkOptionError,
    checked_timestamp,
    describe,
    from_json_object,
    parse_offsets,
    parse_partitions,
    parse_timestamps,
    to_json_object,
)

A0, A1, A10, B0 = (TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("a", 10), TopicPartition("b", 0))


def test_offsets_may_be_numbers_and_both_ends() -> None:
    text = '{"a": {"0": 23, "1": -1}, "b": {"0": -2}}'
    assert parse_offsets(text) == {A0: 23, A1: LATEST, B0: EARLIEST}


def test_partitions_are_a_set() -> None:
    assert parse_partitions('{"a": [0, 1, 0], "b": [0]}') == {A0, A1, B0}
    assert parse_partitions("{}") == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "", "latest", "[]", "1", "null", '{"a": 1}', '{"a": [0]}', '{"a": {"0": "23"}}', '{"a": {"0": 1.5}}',
        '{"a": {"0": true}}', '{"a": {"0": null}}', '{"a": {"x": 1}}', '{"a": {"-1": 1}}', '{"a": {"": 1}}',
        '{"a": {"\N{ARABIC-INDIC DIGIT ONE}": 1}}', '{"a": {"\N{SUPERSCRIPT TWO}": 1}}',
    ],
)  # fmt: skip
def test_an_offset_or_timestamp_in_another_form_is_refused_with_an_example(text: str) -> None:
    for parse in (parse_offsets, parse_timestamps):
        with pytest.raises(SparkOptionError, match=r'^Expected e\.g\. \{"topicA":\{"0":') as refused:
            parse(text)
        assert str(refused.value).endswith(f"got {text}")


@pytest.mark.parametrize("text", ["", "{", "[0]", '{"a": 0}', '{"a": {"0": 1}}', '{"a": ["0"]}', '{"a": [true]}'])
def test_partitions_in_another_form_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(SparkOptionError, match=r'^Expected e\.g\. \{"topicA":\[0,1\],"topicB":\[0,1\]\}, got'):
        parse_partitions(text)


def test_an_offset_before_the_earliest_is_refused_and_so_is_a_time_before_1970() -> None:
    with pytest.raises(SparkOptionError, match=r"an offset is not negative \(-1 latest, -2 earliest\)"):
        parse_offsets('{"a": {"0": -3}}')
    assert parse_timestamps('{"a": {"0": 0}}') == {A0: 0}
    with pytest.raises(SparkOptionError, match="the timestamp -1 is before 1970"):
        parse_timestamps('{"a": {"0": 5, "1": -1}}')
    assert checked_timestamp(0) == 0
    with pytest.raises(SparkOptionError, match="startingOffsets or endingOffsets"):
        checked_timestamp(-2)


def test_equal_offsets_are_equal_text_whatever_their_order() -> None:
    """Spark compares the texts of its checkpoint."""
    pairs = [(A0, 1), (A1, 2), (A10, 3), (B0, 4)]
    texts = set()
    for seed in range(10):
        random.Random(seed).shuffle(pairs)
        texts.add(json.dumps(to_json_object(dict(pairs))))
    assert texts == {'{"a": {"0": 1, "1": 2, "10": 3}, "b": {"0": 4}}'}
    assert from_json_object(json.loads(texts.pop())) == dict(pairs)


def test_partitions_are_described_in_order_of_topic_and_number() -> None:
    assert describe({B0, A10, A0, A1}) == "a-0, a-1, a-10, b-0"
    assert describe([]) == "none"
