"""Reads the metrics of a push: ``MetricsData`` of OpenTelemetry, in the wire format of Protocol Buffers.

Not in Kafka, whose brokers pass the bytes to a plugin (server/.../telemetry/ClientTelemetryReceiver.java); the messages
are in opentelemetry/proto/metrics/v1/metrics.proto · book 10.1
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka_lite.common.sendable import Buffer

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
MAX_VARINT_BYTES = 10
MAX_POINTS = 10_000
"""How many values a push may have: fifty for each of two hundred partitions."""


class MetricsDataError(ValueError):
    """The bytes are not metrics, or they are too many."""


class Point(NamedTuple):
    """One value of a metric."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    value: float
    is_delta: bool
    """Whether it is a change since the last push."""

    @property
    def key(self) -> str:
        """The name with its attributes: ``messages{topic=orders,partition=0}``."""
        labels = ",".join(f"{name}={value}" for name, value in self.attributes)
        return f"{self.name}{{{labels}}}" if labels else self.name


def fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """The fields of a message: number, wire type, and the value: an integer, or the bytes of all other types.

    ::

        field   │ key: varint, number × 8 + wire type │ value                                      │
        value   │ 0: varint │ 1: 8 bytes │ 2: varint, the length, and as many bytes │ 5: 4 bytes       │
        varint  │ 7 bits in each byte, the lowest first; the highest bit of a byte says that more follow │

    Raises MetricsDataError.
    """
    place, end = 0, len(data)
    while place < end:
        key, place = _varint(data, place)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            value, place = _varint(data, place)
            yield number, wire_type, value
            continue
        if wire_type == LENGTH:
            size, place = _varint(data, place)
        elif wire_type in (FIXED64, FIXED32):
            size = 8 if wire_type == FIXED64 else 4
        else:
            raise MetricsDataError(f"wire type {wire_type} is not known")
        if size > end - place:
            raise MetricsDataError(f"a field of {size} bytes exceeds its message")
        yield number, wire_type, data[place : place + size]
        place += size


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for position in range(MAX_VARINT_BYTES):
        if place >= len(data):
            break
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            return value, place
    raise MetricsDataError("a number does not end")


def _messages(data: memoryview, number: int) -> Iterator[memoryview]:
    for found, _, value in fields(data):
        if found == number and isinstance(value, memoryview):
            yield value


def read_metrics_data(data: Buffer) -> list[Point]:
    """All values of a push.

    ::

        MetricsData         1: ResourceMetrics …
        └─ ResourceMetrics  2: ScopeMetrics …
           └─ ScopeMetrics  2: Metric …
              └─ Metric     1: name   5: Gauge   7: Sum   9: Histogram
                 └─ Gauge   1: NumberDataPoint …
                    Sum     1: NumberDataPoint …    2: 1 if the values are changes, 2 if they are totals
                 └─ NumberDataPoint                 7: KeyValue …   4: double   6: 64 bits, signed

    Of a histogram there are the count and the sum, with ``.count`` and ``.sum`` behind its name. Other kinds are
    skipped: clients do not send them. Raises MetricsDataError.
    """
    points: list[Point] = []
    for resource in _messages(memoryview(data), 1):
        for scope in _messages(resource, 2):
            for metric in _messages(scope, 2):
                points.extend(_points_of(metric))
                if len(points) > MAX_POINTS:
                    raise MetricsDataError(f"there are more than {MAX_POINTS} values")
    return points


GAUGE, SUM, HISTOGRAM = 5, 7, 9
DELTA = 1


def _points_of(metric: memoryview) -> Iterator[Point]:
    found = list(fields(metric))
    name = "".join(_text(value) for number, _, value in found if number == 1)
    for number, _, value in found:
        if number not in (GAUGE, SUM, HISTOGRAM) or not isinstance(value, memoryview):
            continue
        is_delta = number != GAUGE and any((each, kind) == (2, DELTA) for each, _, kind in fields(value))
        for data_point in _messages(value, 1):
            yield from (
                _histogram(name, data_point, is_delta) if number == HISTOGRAM else _number(name, data_point, is_delta)
            )


def _number(name: str, data_point: memoryview, is_delta: bool) -> Iterator[Point]:
    number: float | None = None
    attributes = []
    for field, wire_type, value in fields(data_point):
        if field == 4 and wire_type == FIXED64:
            number = _unpacked("<d", value)
        elif field == 6 and wire_type == FIXED64:
            number = _unpacked("<q", value)
        elif field == 7:
            attributes.append(_attribute(value))
    if number is not None:
        yield Point(name, tuple(attributes), number, is_delta)


def _histogram(name: str, data_point: memoryview, is_delta: bool) -> Iterator[Point]:
    attributes = tuple(_attribute(value) for field, _, value in fields(data_point) if field == 9)
    for field, wire_type, value in fields(data_point):
        if field == 4 and wire_type == FIXED64:
            yield Point(f"{name}.count", attributes, _unpacked("<Q", value), is_delta)
        elif field == 5 and wire_type == FIXED64:
            yield Point(f"{name}.sum", attributes, _unpacked("<d", value), is_delta)


def _attribute(key_value: int | memoryview) -> tuple[str, str]:
    """Read a key (1) and its value (2), which has 1: string, 2: bool, 3: int, or 4: double."""
    key = value = ""
    if isinstance(key_value, memoryview):
        for number, _, found in fields(key_value):
            if number == 1:
                key = _text(found)
            elif number == 2 and isinstance(found, memoryview):
                value = "".join(_any_value(*each) for each in fields(found))
    return key, value


def _any_value(number: int, wire_type: int, value: int | memoryview) -> str:
    if number == 1:
        return _text(value)
    if number == 2:
        return str(bool(value)).lower()
    if number == 3 and isinstance(value, int):
        return str(value - (1 << 64) if value >> 63 else value)
    if number == 4 and wire_type == FIXED64:
        return str(_unpacked("<d", value))
    return ""


def _unpacked(layout: str, value: int | memoryview) -> float:
    assert isinstance(value, memoryview), "a field of wire type 1"
    number: float = struct.unpack(layout, value)[0]
    return number


def _text(value: int | memoryview) -> str:
    if isinstance(value, int):
        raise MetricsDataError("a text is a number")
    return bytes(value).decode("utf-8", errors="replace")
