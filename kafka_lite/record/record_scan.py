"""What the broker must know about the records of a batch, without decoding them.

Kafka 0.10.2: later addition: clients/.../common/record/PartialDefaultRecord.java (2.4) · book 10.3
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.record_batch import decode_record


class RecordScan(NamedTuple):
    """The summary of a batch's records."""

    min_timestamp_delta: int
    max_timestamp_delta: int
    offsets_are_consecutive: bool
    """Whether the offset deltas are 0, 1, 2, ..."""
    first_null_key: int | None
    """Index of the first record without a key."""


def scan_records(data: bytes, record_count: int) -> RecordScan:
    """Check that ``data`` is ``record_count`` well-formed records and nothing else, and sum them up.

    Raises ``InvalidRecordError`` otherwise.
    """
    position = 0
    min_delta = max_delta = 0
    consecutive = True
    first_null_key = None
    for index in range(record_count):
        timestamp_delta, offset_delta, key, _value, _headers, position = decode_record(data, position)
        if index == 0 or timestamp_delta < min_delta:
            min_delta = timestamp_delta
        if index == 0 or timestamp_delta > max_delta:
            max_delta = timestamp_delta
        consecutive = consecutive and offset_delta == index
        if key is None and first_null_key is None:
            first_null_key = index
    if position != len(data):
        raise InvalidRecordError(f"{len(data) - position} bytes follow the {record_count} records of the batch")
    return RecordScan(min_delta, max_delta, consecutive, first_null_key)
