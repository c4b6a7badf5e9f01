"""Converts fetched batches into Arrow record batches with the columns of Spark's Kafka source.

Kafka 0.10.2: clients/.../clients/consumer/internals/Fetcher.java (parseFetchedData) · book 4.1.5
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.record.default_record import decode_headers
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2, Header, InvalidRecordError, TimestampType
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.spark.reading.columnar_records import Ints, RecordColumns, decode_columns

_TARGET_BYTES = 8 * 1024 * 1024  # approximate size of the uncompressed records in one Arrow batch
_MICROS_PER_MS = 1000
_MAX_TIMESTAMP_MS = np.iinfo(np.int64).max // _MICROS_PER_MS

_TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")
_HEADER_TYPE = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_HEADERS_TYPE = pa.list_(pa.field("element", _HEADER_TYPE))

_FIELDS = [
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", _TIMESTAMP_TYPE),
    pa.field("timestampType", pa.int32()),
]


def arrow_schema(include_headers: bool) -> pa.Schema:
    """The source's schema as an Arrow schema; Spark only accepts exactly its own translation of the schema."""
    return pa.schema([*_FIELDS, pa.field("headers", _HEADERS_TYPE)] if include_headers else _FIELDS)


class ArrowDecoder:
    """Decodes the batches of one partition."""

    def __init__(self, topic_partition: TopicPartition, include_headers: bool) -> None:
        self._topic_partition = topic_partition
        self._include_headers = include_headers
        self._schema = arrow_schema(include_headers)

    def decode(self, batches: Iterable[RecordBatch], from_offset: int, until_offset: int) -> Iterator[pa.RecordBatch]:
        """Yield the records from ``from_offset`` up to but excluding ``until_offset``; never an empty Arrow batch.

        Small batches are combined, since an Arrow batch of a hundred records costs about as much as one of a
        thousand. Raises ``CorruptRecordError`` or ``InvalidRecordError`` for invalid bytes.
        """
        for is_v2, group in groupby(batches, lambda batch: batch.magic >= MAGIC_V2):
            decode = self._decode_v2 if is_v2 else self._decode_legacy
            for decoded in decode(group, from_offset, until_offset):
                if decoded.num_rows:
                    yield decoded

    def _decode_v2(self, batches: Iterable[Any], from_offset: int, until_offset: int) -> Iterator[pa.RecordBatch]:
        for together in _grouped(batches):
            buffer = b"".join(data for _, data in together)
            columns = decode_columns(buffer, sum(batch.record_count for batch, _ in together))
            counts = _checked_counts(together, columns)
            base_offsets = np.repeat([batch.base_offset for batch, _ in together], counts)
            offsets = base_offsets + columns.offset_deltas
            rows = np.flatnonzero((offsets >= from_offset) & (offsets < until_offset))
            of_batch = np.repeat(np.arange(len(together)), counts)[rows]
            columns = columns.select(rows)
            yield self._assemble(
                key=columns.keys.gather(buffer),
                value=columns.values.gather(buffer),
                offset=offsets[rows],
                timestamp=_timestamps([batch for batch, _ in together], of_batch, columns),
                timestamp_type=np.array([batch.timestamp_type for batch, _ in together], np.int32)[of_batch],
                headers=_headers(columns) if self._include_headers else None,
            )

    def _decode_legacy(
        self, batches: Iterable[RecordBatch], from_offset: int, until_offset: int
    ) -> Iterator[pa.RecordBatch]:
        """Decode formats v0 and v1 record by record: Kafka has not written them by default since 2017."""
        decoded = (record for batch in batches for record in batch.records())
        records = [record for record in decoded if from_offset <= record.offset < until_offset]
        yield self._assemble(
            key=pa.array([record.key for record in records], pa.binary()),
            value=pa.array([record.value for record in records], pa.binary()),
            offset=np.array([record.offset for record in records], np.int64),
            timestamp=np.array([record.timestamp for record in records], np.int64),
            timestamp_type=np.array([record.timestamp_type for record in records], np.int32),
            headers=pa.nulls(len(records), _HEADERS_TYPE) if self._include_headers else None,
        )

    def _assemble(
        self, *, key: pa.Array, value: pa.Array, offset: Ints, timestamp: Ints, timestamp_type: Any, headers: Any
    ) -> pa.RecordBatch:
        topic, partition = self._topic_partition
        arrays = [
            key,
            value,
            pa.repeat(pa.scalar(topic, pa.string()), len(offset)),
            pa.repeat(pa.scalar(partition, pa.int32()), len(offset)),
            pa.array(offset),
            pa.array(self._micros(timestamp, offset)).view(_TIMESTAMP_TYPE),
            pa.array(timestamp_type),
        ]
        return pa.RecordBatch.from_arrays(arrays if headers is None else [*arrays, headers], schema=self._schema)

    def _micros(self, timestamp: Ints, offset: Ints) -> Ints:
        """Spark counts time in µs, in 64 bits: a timestamp beyond them, such as one in ns, would become another."""
        beyond = np.flatnonzero(np.abs(timestamp) > _MAX_TIMESTAMP_MS)
        if len(beyond):
            first = int(beyond[0])
            raise InvalidRecordError(
                f"the timestamp of offset {offset[first]} of {self._topic_partition}, {timestamp[first]}, is beyond "
                "what Spark can represent; is it not in ms?"
            )
        return timestamp * _MICROS_PER_MS


def _grouped(batches: Iterable[DefaultRecordBatch]) -> Iterator[list[tuple[DefaultRecordBatch, bytes]]]:
    """Batches with their records' bytes, in groups of about _TARGET_BYTES."""
    group: list[tuple[DefaultRecordBatch, bytes]] = []
    size = 0
    for batch in batches:
        if batch.record_count == 0:  # emptied by compaction: there may be nothing to decompress
            continue
        data = batch.records_data()
        if group and size + len(data) > _TARGET_BYTES:
            yield group
            group, size = [], 0
        group.append((batch, data))
        size += len(data)
    if group:
        yield group


def _checked_counts(together: list[tuple[DefaultRecordBatch, bytes]], columns: RecordColumns) -> Ints:
    """The record count of every batch. Raises InvalidRecordError if a count does not match the batch's bytes."""
    counts = np.array([batch.record_count for batch, _ in together], np.int64)
    edges = np.cumsum([len(data) for _, data in together])
    if (counts < 0).any() or not np.array_equal(np.append(0, columns.ends)[np.cumsum(counts)], edges):
        raise InvalidRecordError("the record counts of the batches do not fit their records")
    return counts


def _timestamps(batches: list[DefaultRecordBatch], of_batch: Ints, columns: RecordColumns) -> Ints:
    """Timestamps in ms: the producer's, or for a whole batch the time when the broker appended it."""
    by_broker = np.array([batch.timestamp_type is TimestampType.LOG_APPEND_TIME for batch in batches])
    max_timestamps = np.array([batch.max_timestamp for batch in batches], np.int64)
    base_timestamps = np.array([batch.base_timestamp for batch in batches], np.int64)
    by_producer = base_timestamps[of_batch] + columns.timestamp_deltas
    return np.where(by_broker[of_batch], max_timestamps[of_batch], by_producer)


def _headers(columns: RecordColumns) -> pa.Array:
    """A list of (key, value) pairs for every record; null for a record without headers."""
    if not columns.header_counts.any():
        return pa.nulls(len(columns.header_counts), _HEADERS_TYPE)
    rows: list[tuple[Header, ...] | None] = [None] * len(columns.header_counts)
    for row in np.flatnonzero(columns.header_counts).tolist():
        end = int(columns.ends[row])
        rows[row], position = decode_headers(columns.buffer, int(columns.headers_at[row]), end)
        if position != end:
            raise InvalidRecordError(f"the headers of a record end {abs(position - end)} bytes off")
    return pa.array(rows, _HEADERS_TYPE)
