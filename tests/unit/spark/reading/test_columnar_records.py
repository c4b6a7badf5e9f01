"""Decoding by column yields the same records as the plain decoder, and rejects the same bytes."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings

from kafka_lite.record.default_record import decode_headers, decode_record, encode_record
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.spark.reading.columnar_records import decode_columns
from tests.support.encoded_records import records_and_garbage
from tests.support.examples import examples

REFUSED = "refused"


def by_column(data: bytes, count: int) -> Any:
    try:
        columns = decode_columns(data, count)
        keys, values = columns.keys.gather(data).to_pylist(), columns.values.gather(data).to_pylist()
        headers = []
        for at, end in zip(columns.headers_at.tolist(), columns.ends.tolist(), strict=True):
            found, position = decode_headers(data, at, end)
            if position != end:
                return REFUSED
            headers.append(found)
    except InvalidRecordError:
        return REFUSED
    deltas = columns.timestamp_deltas.tolist(), columns.offset_deltas.tolist()
    return list(zip(*deltas, keys, values, headers, columns.ends.tolist(), strict=True))


def one_by_one(data: bytes, count: int) -> Any:
    records = []
    position = 0
    try:
        for _ in range(count):
            record = decode_record(data, position)
            records.append(record)
            *_, position = record
    except InvalidRecordError:
        return REFUSED
    return records if position == len(data) and count >= 0 else REFUSED


@settings(derandomize=True, max_examples=examples(600))
@given(records_and_garbage())
@example((encode_record(0, 0, b"k", b"v", (Header("h", b"value"),))[:-1], 1))  # the last header is truncated
@example((b"\x10" + encode_record(0, 0, None, b"v", ())[1:] + b"!", 1))  # a byte after the headers
def test_columns_agree_with_the_plain_decoder(data_and_count: tuple[bytes, int]) -> None:
    assert by_column(*data_and_count) == one_by_one(*data_and_count)
