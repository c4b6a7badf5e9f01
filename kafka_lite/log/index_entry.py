"""The entries of a segment's two indexes; each is a key and a value.

Kafka 0.10.2: core/.../log/IndexEntry.scala (OffsetPosition, TimestampOffset) · book 6.1.3
"""

from __future__ import annotations

from typing import NamedTuple


class OffsetPosition(NamedTuple):
    """Offset index: to find the message with this offset, read the .log file from this position (bytes) on."""

    offset: int
    position: int


class TimestampOffset(NamedTuple):
    """Time index: no message before this offset has a timestamp (ms) greater than this one."""

    timestamp: int
    offset: int
