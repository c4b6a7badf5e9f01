from __future__ import annotations

import struct

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.spark.reading.committed_batches import visible_batches

ABORT, COMMIT = 0, 1


def data(offset: int, producer_id: int = -1, transactional: bool = True) -> bytes:
    builder = MemoryRecordsBuilder(
        2, CompressionType.NONE, base_offset=offset, producer_id=producer_id, producer_epoch=min(producer_id, 0),
        base_sequence=min(producer_id, 0), is_transactional=transactional and producer_id >= 0,
    )  # fmt: skip
    builder.append(0, None, b"v")
    return builder.build()


def marker(offset: int, producer_id: int, kind: int) -> bytes:
    builder = MemoryRecordsBuilder(
        2, CompressionType.NONE, base_offset=offset, producer_id=producer_id, producer_epoch=0, base_sequence=-1,
        is_transactional=True, is_control=True,
    )  # fmt: skip
    builder.append(0, struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 0))
    return builder.build()


LOG = (
    data(0)
    + data(1, producer_id=7)
    + data(2, producer_id=8)
    + marker(3, 7, ABORT)
    + data(4, producer_id=7)
    + marker(5, 8, COMMIT)
    + data(6, producer_id=7, transactional=False)
    + marker(7, 7, COMMIT)
    + data(8, producer_id=7)
    + marker(9, 7, ABORT)
)


def offsets(log: bytes, aborted: list[tuple[int, int]]) -> list[int]:
    return [batch.base_offset for batch in visible_batches(batches(log), aborted)]


def test_markers_are_never_returned() -> None:
    assert offsets(LOG, []) == [0, 1, 2, 4, 6, 8]


def test_only_records_of_aborted_transactions_are_left_out() -> None:
    assert offsets(LOG, [(7, 8), (7, 1)]) == [0, 2, 4, 6]


def test_an_aborted_transaction_that_began_before_the_fetched_range() -> None:
    assert offsets(data(11, producer_id=7) + data(12, producer_id=9), [(7, 5)]) == [12]


def test_formats_without_transactions_are_unchanged() -> None:
    builder = MemoryRecordsBuilder(1, CompressionType.NONE, base_offset=3)
    builder.append(0, None, b"v")
    assert offsets(builder.build(), [(7, 1)]) == [3]
