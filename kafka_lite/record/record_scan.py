"""The broker's checks and sums over the records of a batch that is appended.

Kafka 2.4: clients/.../common/record/PartialDefaultRecord.java, core/.../log/LogValidator.scala · book 10.3
"""

from __future__ import annotations

from typing import Final, NoReturn

from kafka_lite.record.default_record import decode_record
from kafka_lite.record.record import InvalidRecordError

MAX_OUT_OF_ORDER: Final = 100_000
"""Batches of more records must have the offset deltas 0, 1, 2, ...: to bring others into order, all records are
rebuilt, and a kilobyte that is compressed well holds millions."""


class RecordScan:
    """The summary of a batch's records."""

    __slots__ = ("first_null_key", "max_timestamp_delta", "min_timestamp_delta", "offsets_are_consecutive")

    def __init__(
        self,
        min_timestamp_delta: int,
        max_timestamp_delta: int,
        offsets_are_consecutive: bool,
        first_null_key: int | None,
    ) -> None:
        self.min_timestamp_delta = min_timestamp_delta
        """0 without records, as is ``max_timestamp_delta``."""
        self.max_timestamp_delta = max_timestamp_delta
        self.offsets_are_consecutive = offsets_are_consecutive
        """Whether the offset deltas are 0, 1, 2, ..."""
        self.first_null_key = first_null_key
        """Index of the first record without a key."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordScan) and self._as_tuple() == other._as_tuple()

    def __repr__(self) -> str:
        return f"RecordScan{self._as_tuple()}"

    def _as_tuple(self) -> tuple[object, ...]:
        deltas = (self.min_timestamp_delta, self.max_timestamp_delta)
        return (*deltas, self.offsets_are_consecutive, self.first_null_key)


def scan_records(data: bytes, record_count: int) -> RecordScan:
    """Check that ``data`` is ``record_count`` well-formed records and nothing else, and sum them up.

    Raises ``InvalidRecordError`` otherwise, and for more than ``MAX_OUT_OF_ORDER`` records that are out of order. The
    fast twin is ``fast.scan.scan_records``.
    """
    scan = RecordScan(0, 0, offsets_are_consecutive=True, first_null_key=None)
    position = 0
    for index in range(record_count):
        timestamp_delta, offset_delta, key, _value, _headers, position = decode_record(data, position)
        if index == 0:
            scan.min_timestamp_delta = scan.max_timestamp_delta = timestamp_delta
        scan.min_timestamp_delta = min(scan.min_timestamp_delta, timestamp_delta)
        scan.max_timestamp_delta = max(scan.max_timestamp_delta, timestamp_delta)
        if offset_delta != index:
            scan.offsets_are_consecutive = False
            check_order(record_count)
        if key is None and scan.first_null_key is None:
            scan.first_null_key = index
    if position != len(data):
        raise_rest(data, position, record_count)
    return scan


def check_order(record_count: int) -> None:
    """Raise ``InvalidRecordError`` if the batch has too many records to be out of order."""
    if record_count > MAX_OUT_OF_ORDER:
        raise InvalidRecordError(f"Offsets out of order in a batch of {record_count} records")


def raise_rest(data: bytes, position: int, record_count: int) -> NoReturn:
    """Raise ``InvalidRecordError`` for the bytes from ``position`` on, which follow the last record."""
    raise InvalidRecordError(f"{len(data) - position} bytes follow the {record_count} records of the batch")
