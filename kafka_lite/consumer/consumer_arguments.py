"""Checks the user's arguments where they enter the consumer. A later error would not show where they came from.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java (its IllegalArgumentExceptions, and what Java's types
refuse) · book 4.1.3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_lite.clients.metadata import MAX_STRING_BYTES, ensure_can_be_asked_for
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_pattern import SubscriptionPattern

MAX_INT, MAX_LONG = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF
"""The largest number that fits into a request. Otherwise the sending thread would fail, perhaps the heartbeat
thread."""
LISTENER_METHODS = ("on_partitions_revoked", "on_partitions_assigned", "on_partitions_lost")


def topic_names(topics: object) -> set[str]:
    """Names of topics. Raises TypeError, ValueError, and ApiError for an invalid name."""
    if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
        raise TypeError(f"subscribe takes a list of topics, or a compiled pattern, not {_kind(topics)}")
    names = set()
    for name in topics:
        if name is None or (isinstance(name, str) and not name.strip()):
            raise ValueError("Topic collection to subscribe to cannot contain null or empty topic")
        names.add(topic_name(name))
    return names


def topic_name(name: object) -> str:
    """The name of a topic. Raises TypeError, ValueError, and ApiError for an invalid name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a topic is a str, not {_kind(name)}")
    if not name:
        raise ValueError("the name of a topic cannot be empty")
    ensure_can_be_asked_for(name)
    return name


def topic_pattern(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    """A pattern of topic names. Raises TypeError, ValueError."""
    if not isinstance(pattern.pattern, str):
        raise TypeError("a topic pattern must be compiled from a str, not from bytes: remove the b before the quotes")
    if not pattern.pattern:
        raise ValueError("Topic pattern to subscribe to cannot be empty")
    return pattern


def ensure_subscription_pattern(pattern: SubscriptionPattern, group_protocol: str) -> None:
    """Raises TypeError, ValueError unless the broker can be asked to resolve the pattern."""
    if not isinstance(pattern.pattern, str):
        raise TypeError(f"a SubscriptionPattern has a str, not {_kind(pattern.pattern)}")
    if not pattern.pattern:
        raise ValueError("Topic pattern to subscribe to cannot be empty")
    ensure_can_be_asked_for(pattern.pattern)
    if group_protocol != "consumer":
        raise ValueError(
            "a SubscriptionPattern is resolved by the broker, which needs group.protocol=consumer: subscribe by a "
            "compiled pattern of re, or set group.protocol"
        )


def rebalance_listener(listener: object) -> ConsumerRebalanceListener:
    """An object with a listener's methods. Raises TypeError."""
    missing = [name for name in LISTENER_METHODS if not callable(getattr(listener, name, None))]
    if isinstance(listener, type) or missing:
        lack = "is a class" if isinstance(listener, type) else f"has no {', '.join(missing)}"
        raise TypeError(
            f"a listener must be an object derived from ConsumerRebalanceListener, but {_kind(listener)} {lack}; "
            "omit it if you need no callbacks"
        )
    return listener  # type: ignore[return-value]


def topic_partitions(partitions: object, what: str) -> list[TopicPartition]:
    """Partitions; a pair of name and number is accepted too. Raises TypeError, ValueError."""
    if isinstance(partitions, str | bytes | TopicPartition) or not isinstance(partitions, Iterable):
        raise TypeError(f"{what} takes a list of partitions, [TopicPartition(topic, number), …], not {partitions!r}")
    return [topic_partition(each, what) for each in partitions]


def topic_partition(partition: object, what: str) -> TopicPartition:
    """One partition. Raises TypeError, ValueError."""
    if not (
        isinstance(partition, tuple)
        and len(partition) == 2
        and isinstance(partition[0], str)
        and isinstance(partition[1], int)
    ):
        raise TypeError(f"{what}: {partition!r} is not a partition: pass TopicPartition(topic, number)")
    if not partition[0].strip() or not 0 <= partition[1] <= MAX_INT:
        raise ValueError(f"{what}: {partition!r} is not a partition: it needs a topic's name, and a number from 0 on")
    ensure_can_be_asked_for(partition[0])
    return TopicPartition(*partition)


def position(offset: object) -> int:
    """An offset to seek to. Raises TypeError, ValueError."""
    wanted = offset.offset if isinstance(offset, OffsetAndMetadata) else offset
    if not isinstance(wanted, int):
        raise TypeError(f"an offset to seek to is an int, or an OffsetAndMetadata, not {_kind(offset)}")
    if wanted < 0:
        raise ValueError("seek offset must not be a negative number")
    if wanted > MAX_LONG:
        raise ValueError(f"invalid offset {wanted}: the largest is {MAX_LONG}")
    return wanted


def offsets_to_commit(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """Offsets by partition. Raises TypeError, ValueError."""
    how = "a commit takes offsets by partition, {TopicPartition(topic, number): OffsetAndMetadata(offset)}"
    if not isinstance(offsets, Mapping):
        raise TypeError(f"{how}, not {_kind(offsets)}")
    checked = {}
    for partition, each in offsets.items():
        if not isinstance(each, OffsetAndMetadata) or not isinstance(each.offset, int):
            raise TypeError(f"{how}, not {each!r}")
        partition = topic_partition(partition, "commit")
        _ensure_can_be_committed(partition, each)
        checked[partition] = each
    return checked


def _ensure_can_be_committed(partition: TopicPartition, offset: OffsetAndMetadata) -> None:
    """Check one offset. Raises TypeError, ValueError, and ApiError OFFSET_METADATA_TOO_LARGE."""
    if not 0 <= offset.offset <= MAX_LONG:
        raise ValueError(f"Invalid offset to commit for {partition}: {offset.offset}")
    if not isinstance(offset.leader_epoch, int):
        raise TypeError(f"a leader epoch is an int, not {_kind(offset.leader_epoch)}")
    if not -1 <= offset.leader_epoch <= MAX_INT:
        raise ValueError(f"Invalid leader epoch to commit for {partition}: {offset.leader_epoch}")
    try:
        size = len(offset.metadata.encode())
    except (AttributeError, UnicodeEncodeError):
        raise ValueError(f"the metadata of an offset is text, not {offset.metadata!r}") from None
    if size > MAX_STRING_BYTES:
        raise Errors.OFFSET_METADATA_TOO_LARGE.exception(f"{partition}: {size} bytes of metadata")


def ensure_timestamps(timestamps: object) -> None:
    """Raises TypeError, ValueError unless the argument is a mapping of partitions to times."""
    if not isinstance(timestamps, Mapping):
        raise TypeError(
            f"offsets_for_times takes times by partition, {{TopicPartition(topic, number): ms}}, not "
            f"{_kind(timestamps)}"
        )
    for partition, timestamp in timestamps.items():
        topic_partition(partition, "offsets_for_times")
        if not isinstance(timestamp, int):
            raise TypeError(f"a time to search for is an int, ms since the epoch, not {_kind(timestamp)}")
        if timestamp < 0:
            raise ValueError(f"a time to search for cannot be negative: {timestamp} of {partition}")
        if timestamp > MAX_LONG:
            raise ValueError(f"a time to search for counts milliseconds, up to {MAX_LONG}: {timestamp} of {partition}")


def callback_of_commit(callback: Callable[..., object] | None) -> None:
    """Raises TypeError for an object that is not callable."""
    if callback is not None and not callable(callback):
        raise TypeError(f"a callback is called as callback(offsets, error), but {_kind(callback)} is not callable")


def timeout(timeout_ms: object) -> float:
    """A timeout, ms. Raises TypeError, ValueError."""
    if not isinstance(timeout_ms, int | float):
        raise TypeError(f"a timeout is a number of milliseconds, not {_kind(timeout_ms)}")
    if not timeout_ms >= 0:  # nor is NaN
        raise ValueError("Timeout must not be negative")
    return timeout_ms


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
