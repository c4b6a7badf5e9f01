"""Short texts for values, for the labels of recorded runs."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from enum import Enum
from pathlib import PurePath

from kafka_learn.recording.recorded_run import Detail
from kafka_lite.common.sendable import size_of
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import Response
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.schema import Struct
from kafka_lite.server.fetch_params import FetchPartition

TEXT_LIMIT = 60
SHOWN_ELEMENTS = 2
LESS_IMPORTANT = ("timeout_ms", "max_bytes", "partition_max_bytes", "last_stable_offset", "log_start_offset")
"""Message fields that would only clutter an arrow's label."""

Short = str | int | float | bool | None


@functools.singledispatch
def summary(value: object) -> Short:
    """A value as a number or a few words; None if there is no short text for it.

    Register more types with ``summary.register``.
    """
    size = getattr(value, "size_in_bytes", None)
    return f"{size} bytes" if isinstance(size, int) else None


@summary.register
def _(value: int | None) -> Short:
    return value


@summary.register
def _(value: float) -> Short:
    return float(f"{value:.3g}")


@summary.register
def _(value: str) -> Short:
    return value if len(value) <= TEXT_LIMIT else value[: TEXT_LIMIT - 1] + "…"


@summary.register
def _(value: bytes | bytearray) -> Short:
    return f"{len(value)} bytes"


@summary.register
def _(value: memoryview) -> Short:
    return f"{value.nbytes} bytes"


@summary.register
def _(value: Enum) -> Short:
    return value.name


@summary.register
def _(value: PurePath) -> Short:
    return value.name


@summary.register
def _(value: TopicPartition) -> Short:
    return str(value)


@summary.register
def _(value: Struct) -> Short:
    return type(value).__name__


@summary.register
def _(value: Request) -> Short:
    return f"{ApiKey(value.header.api_key).name} v{value.header.api_version}"


@summary.register
def _(value: Response) -> Short:
    return f"response to {summary(value.request)}" if value.send is not None else value.action.name


@summary.register
def _(value: LogAppendInfo) -> Short:
    return f"offsets {value.first_offset}–{value.last_offset}"


@summary.register
def _(value: FetchDataInfo) -> Short:
    return f"{size_of(value.records)} bytes from {value.fetch_offset_metadata.message_offset} on"


@summary.register
def _(value: FetchPartition) -> Short:
    return f"from offset {value.fetch_offset} on"


@summary.register(Mapping)
def _(value: Mapping[object, object]) -> Short:
    pairs = [f"{summary(key)}: {_word(one)}" for key, one in list(value.items())[:SHOWN_ELEMENTS]]
    return summary("{" + ", ".join(pairs) + _more(value) + "}")


@summary.register(Sequence)
def _(value: Sequence[object]) -> Short:
    words = [_word(one) for one in value[:SHOWN_ELEMENTS]]
    return summary("[" + ", ".join(words) + _more(value) + "]")


@summary.register(Set)
def _(value: Set[object]) -> Short:
    """In order, for a run that is recorded again is to look the same."""
    try:
        ordered = sorted(value)  # type: ignore[type-var]
    except TypeError:  # without an order of their own
        ordered = sorted(value, key=_word)
    words = [_word(one) for one in ordered[:SHOWN_ELEMENTS]]
    return summary("[" + ", ".join(words) + _more(value) + "]")


def _more(value: Sequence[object] | Set[object] | Mapping[object, object]) -> str:
    return ", …" if len(value) > SHOWN_ELEMENTS else ""


def _word(value: object) -> str:
    short = summary(value)
    return class_name(value) if short is None else str(short)


def class_name(value: object) -> str:
    """The name of an object's class."""
    return type(value).__name__


def fields(message: Struct, limit: int = 6) -> Detail:
    """The first fields of a message with non-default values; lists contribute those of their first element."""
    found: Detail = {}
    for field in message.FIELDS:
        if field.name in LESS_IMPORTANT:
            continue
        value = getattr(message, field.name)
        if isinstance(value, list):
            found |= fields(value[0]) if value and isinstance(value[0], Struct) else {}
        elif isinstance(value, Struct):
            found |= fields(value)
        elif value is not None and value != field.default and (short := summary(value)) is not None:
            found[field.name] = short
    return dict(list(found.items())[:limit])
