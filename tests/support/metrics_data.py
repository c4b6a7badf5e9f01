"""Writes ``MetricsData`` of OpenTelemetry, as clients push it."""

from __future__ import annotations

import struct
from collections.abc import Mapping

Value = int | float


def varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def field(number: int, content: bytes) -> bytes:
    """A field of wire type 2: with its length before it."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def fixed64(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 1) + content


def key_value(number: int, key: str, value: str) -> bytes:
    return field(number, field(1, key.encode()) + field(2, field(1, value.encode())))


def number_point(value: Value, attributes: Mapping[str, str] | None = None) -> bytes:
    number = fixed64(6, struct.pack("<q", value)) if isinstance(value, int) else fixed64(4, struct.pack("<d", value))
    times = fixed64(2, bytes(8)) + fixed64(3, bytes(8))
    return times + number + b"".join(key_value(7, *each) for each in (attributes or {}).items())


def gauge(name: str, value: Value, **attributes: str) -> bytes:
    return field(2, field(1, name.encode()) + field(5, field(1, number_point(value, attributes))))


def counter(name: str, value: Value, *, delta: bool, **attributes: str) -> bytes:
    """A sum, which only grows."""
    kind = varint(2 << 3) + varint(1 if delta else 2) + varint(3 << 3) + varint(1)
    return field(2, field(1, name.encode()) + field(7, field(1, number_point(value, attributes)) + kind))


def metrics_data(*metrics: bytes) -> bytes:
    """One resource with one scope."""
    resource = field(1, key_value(1, "client_rack", "r1"))
    scope = field(2, field(1, field(1, b"scope")) + b"".join(metrics))
    return field(1, resource + scope)
