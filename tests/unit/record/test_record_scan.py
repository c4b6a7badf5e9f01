"""What is validated and summarised when records are appended."""

from __future__ import annotations

import pytest

from kafka_lite.record.default_record import encode_record
from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.record_scan import MAX_OUT_OF_ORDER, RecordScan, check_order, scan_records
from kafka_lite.record.varint import encode_varint


def test_timestamps_order_and_the_first_record_without_a_key() -> None:
    in_order = [(5, 0, b"k"), (-3, 1, None), (70, 2, None)]
    data = b"".join(encode_record(timestamp, offset, key, b"v", ()) for timestamp, offset, key in in_order)
    assert scan_records(data, 3) == RecordScan(-3, 70, True, 1)


def test_offset_deltas_that_are_not_consecutive_from_0() -> None:
    for offsets in ((1, 2), (0, 2), (0, 0)):
        data = b"".join(encode_record(0, offset, b"k", b"v", ()) for offset in offsets)
        assert scan_records(data, 2) == RecordScan(0, 0, False, None)


def test_an_empty_batch() -> None:
    assert scan_records(b"", 0) == RecordScan(0, 0, True, None)


@pytest.mark.parametrize("length", [-1, 0, 1, 100])
def test_a_record_length_that_does_not_fit_is_rejected(length: int) -> None:
    with pytest.raises(InvalidRecordError):
        scan_records(encode_varint(length) + bytes(6), 1)


def test_a_wrong_record_count_is_rejected() -> None:
    data = encode_record(0, 0, b"k", b"v", ()) + encode_record(0, 1, b"k", b"v", ())
    with pytest.raises(InvalidRecordError, match="Varint is cut short"):
        scan_records(data, 3)
    with pytest.raises(InvalidRecordError, match="9 bytes follow the 1 records"):
        scan_records(data, 1)


def test_so_many_records_may_be_out_of_order() -> None:
    check_order(MAX_OUT_OF_ORDER)
    with pytest.raises(InvalidRecordError, match="100001 records"):
        check_order(MAX_OUT_OF_ORDER + 1)


def test_a_scan_is_equal_to_another_with_the_same_properties_only() -> None:
    scan = RecordScan(1, 2, offsets_are_consecutive=True, first_null_key=None)
    assert scan == RecordScan(1, 2, offsets_are_consecutive=True, first_null_key=None)
    assert scan != RecordScan(1, 3, offsets_are_consecutive=True, first_null_key=None)
    assert scan != (1, 2, True, None)
