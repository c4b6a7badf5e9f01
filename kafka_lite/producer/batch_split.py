"""Splits a batch that the broker has found too large.

Kafka 0.11: clients/.../producer/internals/ProducerBatch.java (split) · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.producer.producer_batch import ProducerBatch, Thunk
from kafka_lite.producer.records_buffer import Headers, RecordsBuffer
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches


def split(batch: ProducerBatch, limit: int, new_part: Callable[[bytearray], ProducerBatch]) -> list[ProducerBatch]:
    """Move the records of a closed batch to parts of at most ``limit`` bytes, or of one record that is larger.

    A part has at most half of the records. Otherwise small records, whose sizes are estimated generously, would all fit
    into the first part, and a broker that refuses it would make the producer split it for ever. ``new_part`` makes a
    batch with this buffer. The futures of the batch get the results of its parts.
    """
    parts: list[ProducerBatch] = []
    records = [record for each in batches(batch.records) for record in each.records()]
    most = (len(records) + 1) // 2
    for record, thunk in zip(records, batch.take_thunks(), strict=True):
        if not parts or parts[-1].record_count == most or not _try_move(record, thunk, parts[-1]):
            estimate = RecordsBuffer.estimate_size(batch.magic, record.key, record.value, _headers(record))
            part = new_part(bytearray(max(limit, estimate)))
            part.is_part = True
            parts.append(part)
            moved = _try_move(record, thunk, part)
            assert moved, "the buffer was made for this record"
    for part in parts:
        part.trim()  # another record would take the sequence number of the next batch
    return parts


def _try_move(record: Record, thunk: Thunk, part: ProducerBatch) -> bool:
    """Append a record of a batch that is split to one of its parts; false if it does not fit."""
    if not isinstance(thunk, tuple):
        return part.try_append_for(thunk, record.timestamp, record.key, record.value)
    old_future, callback = thunk
    future = part.try_append(record.timestamp, record.key, record.value, _headers(record), callback)
    if future is None:
        return False
    old_future.chain(future)
    return True


def _headers(record: Record) -> Headers:
    return [(header.key, header.value) for header in record.headers]
