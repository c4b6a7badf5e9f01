"""The markers of transactions: what other brokers may write, and what is no marker."""

from __future__ import annotations

import pytest

from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.record import InvalidRecordError, Record
from kafka_lite.record.records import batches

COMMIT_KEY, VALUE = b"\0\0\0\1", b"\0\0\0\0\0\7"


def record_of(key: bytes | None, value: bytes | None) -> Record:
    (batch,) = batches(EndTransactionMarker(ControlRecordType.COMMIT, 0).to_batch(1, 0, 1_000))
    (record,) = batch.records()
    return record._replace(key=key, value=value)


@pytest.mark.parametrize("later", [b"", b"\5", b"a field of a later version"])
def test_a_later_version_may_add_fields(later: bytes) -> None:
    marker = EndTransactionMarker.from_record(record_of(COMMIT_KEY + later, VALUE + later))
    assert marker == (ControlRecordType.COMMIT, 7)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, VALUE),
        (COMMIT_KEY[:-1], VALUE),
        (b"", VALUE),
        (b"\0\0\0\2", VALUE),
        (b"\xff\xff\0\1", VALUE),
        (COMMIT_KEY, None),
        (COMMIT_KEY, VALUE[:-1]),
        (COMMIT_KEY, b"\xff\xff" + VALUE[2:]),
    ],
    ids=["no key", "short key", "empty key", "another type", "key version", "no value", "short value", "value version"],
)
def test_what_is_no_marker_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(InvalidRecordError):
        EndTransactionMarker.from_record(record_of(key, value))
