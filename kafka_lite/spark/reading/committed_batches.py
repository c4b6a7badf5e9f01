"""Filters out batches that a consumer must not see: transaction markers and, with read_committed, aborted records.

Kafka 0.10.2: later addition: clients/.../consumer/internals/Fetcher.java (PartitionRecords, 0.11) · book 10.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from kafka_lite.record.record_batch import RecordBatch

_CONTROL_RECORD_KEY = struct.Struct(">hh")  # version, type
_ABORT = 0

AbortedTransaction = tuple[int, int]
"""Producer id and first offset, as in a fetch response."""


def visible_batches(
    batches: Iterable[RecordBatch], aborted: Iterable[AbortedTransaction] = ()
) -> Iterator[RecordBatch]:
    """Yield the data batches, except those of ``aborted`` transactions (empty with read_uncommitted).

    A transaction spans from its first offset to its abort marker; a producer has at most one at a time.
    """
    to_begin = sorted(aborted, key=lambda transaction: transaction[1], reverse=True)
    aborting: set[int] = set()
    for batch in batches:
        while to_begin and to_begin[-1][1] <= batch.last_offset:
            aborting.add(to_begin.pop()[0])
        if batch.is_control:
            if _is_abort_marker(batch):
                aborting.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborting):
            yield batch


def _is_abort_marker(batch: RecordBatch) -> bool:
    marker = next(batch.records(), None)
    if marker is None or marker.key is None or len(marker.key) < _CONTROL_RECORD_KEY.size:
        return False
    _version, kind = _CONTROL_RECORD_KEY.unpack_from(marker.key)
    return bool(kind == _ABORT)
