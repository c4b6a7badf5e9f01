"""Source partitions and offsets, as MirrorMaker 2 stores them with Connect.

::

    of a topic     {"cluster": "west", "topic": "t", "partition": 0}     {"offset": 41}      the last copied record's
    of a group     {"group": "g", "topic": "west.t", "partition": 0}     {"offset": 0}       always

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorUtils.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.errors import ConnectError

SOURCE_CLUSTER, TOPIC, PARTITION, OFFSET, GROUP = "cluster", "topic", "partition", "offset", "group"
MAX_INT = 0x7FFFFFFF

Offsets = Sequence[tuple[dict[str, Any], dict[str, Any] | None]]
"""Source partitions whose offsets a user wants to set; None removes an offset."""


def wrap_partition(partition: TopicPartition, source_cluster_alias: str) -> dict[str, Any]:
    """A partition of a topic, as source partition."""
    return {TOPIC: partition.topic, PARTITION: partition.partition, SOURCE_CLUSTER: source_cluster_alias}


def unwrap_partition(wrapped: Mapping[str, Any]) -> TopicPartition:
    """The partition of a topic."""
    return TopicPartition(wrapped[TOPIC], wrapped[PARTITION])


def wrap_offset(offset: int) -> dict[str, Any]:
    """An offset, as source offset."""
    return {OFFSET: offset}


def unwrap_offset(wrapped: Mapping[str, Any] | None) -> int | None:
    """The offset; None if there is none, or if a user has set one below 0."""
    offset = None if wrapped is None else wrapped.get(OFFSET)
    return None if offset is None or offset < 0 else int(offset)


def encode_topic_partition(partition: TopicPartition) -> str:
    """``t-0``, for the configuration of a task."""
    return f"{partition.topic}-{partition.partition}"


def decode_topic_partition(text: str) -> TopicPartition:
    """The partition of ``t-0``. Raises ValueError."""
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


# ── checks of offsets that a user sets ────────────────────────────────────────────────────────────────────────────────


def check_offsets(offsets: Offsets, names: Sequence[str], *, only_zero: bool, with_partition: bool = True) -> None:
    """Check offsets whose source partitions have strings under these names, and a partition. Raises ConnectError.

    ``only_zero``: no other offset is valid. Anything may be removed, garbage above all.
    """
    for partition, offset in offsets:
        if offset is not None:
            for name in names:
                _check_string(partition, name)
            if with_partition:
                _check_partition(partition)
            _check_offset(partition, offset, only_zero=only_zero)


def _check_string(partition: Mapping[str, Any], name: str) -> None:
    value = _required(partition, name)
    if not isinstance(value, str):
        raise _invalid(partition, value, name, "which must be a string")


def _check_partition(partition: Mapping[str, Any]) -> None:
    value = _required(partition, PARTITION)
    if not _is_integer(value) or value > MAX_INT:
        raise _invalid(partition, value, PARTITION, "which must be an integer")
    if value < 0:
        raise _invalid(partition, value, PARTITION, "which cannot be negative")


def _check_offset(partition: Mapping[str, Any], offset: Mapping[str, Any], *, only_zero: bool) -> None:
    place = f"Source offset {java_text(offset)} for source partition {java_text(partition)}"
    if OFFSET not in offset:
        raise ConnectError(f"{place} is missing the '{OFFSET}' key, which is required")
    value = offset[OFFSET]
    invalid = f"{place} has an invalid value {java_text(value)} for the '{OFFSET}' key"
    if not _is_integer(value):
        raise ConnectError(f"{invalid}, which must be an integer")
    if only_zero and value != 0:
        raise ConnectError(f"{invalid}; the only accepted value is 0")
    if value < 0:
        raise ConnectError(f"{invalid}, which cannot be negative")


def _required(partition: Mapping[str, Any], name: str) -> Any:
    if name not in partition:
        raise ConnectError(f"Source partition {java_text(partition)} is missing the '{name}' key, which is required")
    return partition[name]


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _invalid(partition: Mapping[str, Any], value: object, name: str, rule: str) -> ConnectError:
    return ConnectError(
        f"Source partition {java_text(partition)} has an invalid value {java_text(value)} for the '{name}' key, {rule}"
    )
