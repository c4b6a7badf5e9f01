"""Offsets by partition in the JSON format of Spark's Kafka source, and the ways to specify a query's start and end.

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
"""An offset per partition. End offsets are exclusive."""

LATEST = -1
"""Stands for the end of the log."""

EARLIEST = -2
"""Stands for the beginning of the log."""


class SparkOptionError(KafkaError):
    """An invalid option of the data source; the text says what would be valid."""


class Extreme(Enum):
    """One end of every log."""

    EARLIEST = EARLIEST
    LATEST = LATEST


@dataclass(frozen=True)
class SpecificOffsets:
    """An offset for every partition; may be EARLIEST or LATEST."""

    offsets: PartitionOffsets


@dataclass(frozen=True)
class SpecificTimestamps:
    """A timestamp in ms for every partition: stands for its first record at or after that time."""

    timestamps: dict[TopicPartition, int]


@dataclass(frozen=True)
class GlobalTimestamp:
    """One timestamp in ms for all partitions."""

    timestamp_ms: int


OffsetLimit = Extreme | SpecificOffsets | SpecificTimestamps | GlobalTimestamp
"""Where a query begins or ends."""


def parse_partitions(text: str) -> frozenset[TopicPartition]:
    """Parse partitions such as ``{"topicA":[0,1],"topicB":[2]}``. Raises SparkOptionError."""
    example = '{"topicA":[0,1],"topicB":[0,1]}'
    partitions: set[TopicPartition] = set()
    for topic, numbers in _load_object(text, example).items():
        if not isinstance(numbers, list) or not all(map(_is_integer, numbers)):
            raise SparkOptionError(f"Expected e.g. {example}, got {text}")
        partitions.update(TopicPartition(topic, number) for number in numbers)
    return frozenset(partitions)


def parse_offsets(text: str) -> PartitionOffsets:
    """Parse offsets such as ``{"topicA":{"0":23,"1":-1}}`` (-1: end, -2: beginning). Raises SparkOptionError."""
    example = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
    offsets = _load_partition_map(text, example)
    if any(offset < EARLIEST for offset in offsets.values()):
        raise SparkOptionError(
            f"Expected e.g. {example}, got {text}: an offset is not negative (-1 latest, -2 earliest)"
        )
    return offsets


def parse_timestamps(text: str) -> dict[TopicPartition, int]:
    """Parse timestamps in ms such as ``{"topicA":{"0":123456789}}``. Raises SparkOptionError."""
    timestamps = _load_partition_map(text, '{"topicA":{"0":123456789,"1":123456789},"topicB":{"0":123456789}}')
    return {partition: checked_timestamp(timestamp) for partition, timestamp in timestamps.items()}


def checked_timestamp(timestamp_ms: int) -> int:
    """The timestamp. Raises SparkOptionError if it is before 1970: a broker takes -1 and -2 for the ends of a log."""
    if timestamp_ms < 0:
        raise SparkOptionError(
            f"the timestamp {timestamp_ms} is before 1970, when no record was written. For the beginning or the end "
            "of a log, set startingOffsets or endingOffsets to earliest or latest"
        )
    return timestamp_ms


def to_json_object(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """The form that Spark writes to the checkpoint; sorted, so that equal offsets yield equal text."""
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
