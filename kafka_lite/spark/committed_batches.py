"""Leaves out of fetched batches what a consumer does not see: transaction markers and, if asked, aborted records.

Kafka 0.10.2: later addition: clients/.../consumer/internals/Fetcher.java (PartitionRecords, 0.11) · book 10.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from kafka_lite.record.record_batch import RecordBatch

_CONTROL_RECORD_KEY = struct.Struct(">hh")  # version, type
_ABORT = 0

AbortedTransaction = tuple[int, int]
"""Producer id and first offset, as a fetch answer lists them."""


def visible_batches(
    batches: Iterable[RecordBatch], aborted: Iterable[AbortedTransaction] = ()
) -> Iterator[RecordBatch]:
    """The batches whose records are data, without those of the ``aborted`` transactions (read_uncommitted has none).

    A transaction begins for us at its first offset and ends at its abort marker; one producer has one at a time.
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
