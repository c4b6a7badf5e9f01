"""Offsets of many partitions, in the JSON of Spark's Kafka source, and the ways to say where to begin or end.

Spark 4.2: connector/kafka-0-10-sql/.../JsonUtils.scala, KafkaOffsetRangeLimit.scala · book 4.1.1
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition

PartitionOffsets = dict[TopicPartition, int]
"""An offset per partition; as an end it is exclusive: one more than the last record."""

LATEST = -1
"""In the place of an offset: the end of the log."""

EARLIEST = -2
"""In the place of an offset: the beginning of the log."""


class SparkOptionError(KafkaError):
    """An option of the data source that is refused; the text says what would be right."""


class Extreme(Enum):
    """One end of every log."""

    EARLIEST = EARLIEST
    LATEST = LATEST


@dataclass(frozen=True)
class SpecificOffsets:
    """An offset for every partition; EARLIEST and LATEST may stand in for one."""

    offsets: PartitionOffsets


@dataclass(frozen=True)
class SpecificTimestamps:
    """A timestamp in ms for every partition: the first offset whose record is not older."""

    timestamps: dict[TopicPartition, int]


@dataclass(frozen=True)
class GlobalTimestamp:
    """One timestamp in ms for all partitions."""

    timestamp_ms: int


OffsetLimit = Extreme | SpecificOffsets | SpecificTimestamps | GlobalTimestamp
"""Where a query begins or ends."""


def parse_partitions(text: str) -> frozenset[TopicPartition]:
    """Partitions as in ``{"topicA":[0,1],"topicB":[2]}``. Raises SparkOptionError."""
    example = '{"topicA":[0,1],"topicB":[0,1]}'
    partitions: set[TopicPartition] = set()
    for topic, numbers in _load_object(text, example).items():
        if not isinstance(numbers, list) or not all(map(_is_integer, numbers)):
            raise SparkOptionError(f"Expected e.g. {example}, got {text}")
        partitions.update(TopicPartition(topic, number) for number in numbers)
    return frozenset(partitions)


def parse_offsets(text: str) -> PartitionOffsets:
    """Offsets as in ``{"topicA":{"0":23,"1":-1}}``; -1 is the end, -2 the beginning. Raises SparkOptionError."""
    example = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
    offsets = _load_partition_map(text, example)
    if any(offset < EARLIEST for offset in offsets.values()):
        raise SparkOptionError(
            f"Expected e.g. {example}, got {text}: an offset is not negative (-1 latest, -2 earliest)"
        )
    return offsets


def parse_timestamps(text: str) -> dict[TopicPartition, int]:
    """Timestamps in ms as in ``{"topicA":{"0":123456789}}``. Raises SparkOptionError."""
    return _load_partition_map(text, '{"topicA":{"0":123456789,"1":123456789},"topicB":{"0":123456789}}')


def to_json_object(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """What Spark writes into the checkpoint: sorted, so that equal offsets are equal text."""
    by_topic: dict[str, dict[str, int]] = {}
    for partition in sorted(offsets):
        by_topic.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return by_topic


def from_json_object(by_topic: Mapping[str, Mapping[str, int]]) -> PartitionOffsets:
    """The reverse of ``to_json_object``."""
    return {
        TopicPartition(topic, int(number)): offset
        for topic, offsets in by_topic.items()
        for number, offset in offsets.items()
    }


def describe(partitions: Iterable[TopicPartition]) -> str:
    """Partitions for a message, sorted: ``flights-0, flights-1``."""
    return ", ".join(str(partition) for partition in sorted(partitions)) or "none"


def _load_object(text: str, example: str) -> dict[str, object]:
    try:
        loaded = json.loads(text)
    except ValueError:
        loaded = None
    if not isinstance(loaded, dict):
        raise SparkOptionError(f"Expected e.g. {example}, got {text}")
    return loaded


def _load_partition_map(text: str, example: str) -> dict[TopicPartition, int]:
    result: dict[TopicPartition, int] = {}
    for topic, numbers in _load_object(text, example).items():
        if not isinstance(numbers, dict):
            raise SparkOptionError(f"Expected e.g. {example}, got {text}")
        for number, value in numbers.items():
            if not (number.isascii() and number.isdecimal() and _is_integer(value)):
                raise SparkOptionError(f"Expected e.g. {example}, got {text}")
            result[TopicPartition(topic, int(number))] = value
    return result


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
