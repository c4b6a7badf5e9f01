"""The batches of the log that a share fetch has read, without their records.

Kafka 4.1: core/.../server/share/ShareFetchUtils.java (maybeSliceFetchRecords) · book 6.1.3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafka_lite.common.sendable import Part
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.share.aborted_batches import aborted_batches
from kafka_lite.server.share.acquisition import Acquired


class FetchedBatch(NamedTuple):
    """The header of a batch, and where it is in its slice, in bytes."""

    base_offset: int
    last_offset: int
    position: int
    size_in_bytes: int


def fetched_batches(records: Part, fetch_offset: int) -> list[FetchedBatch]:
    """The whole batches of a slice that was read from ``fetch_offset`` on.

    The first offset of a compressed message of format v0 or v1 is not in its header: it is the one after the message
    before, or the fetch offset.
    """
    if not isinstance(records, FileMessageSetSlice):
        return []
    found: list[FetchedBatch] = []
    for header in records.headers():
        last = header.last_offset
        base = header.first_or_last_offset
        if header.magic < MAGIC_V2:
            base = found[-1].last_offset + 1 if found else min(fetch_offset, last)
        found.append(FetchedBatch(base, last, header.position - records.position, header.size_in_bytes))
    return found


def aborted_of(records: Part, aborted: Sequence[AbortedTxn] | None) -> list[DefaultRecordBatch]:
    """The batches of aborted transactions. They are read only if there are any."""
    if not aborted or not isinstance(records, FileMessageSetSlice):
        return []
    batches = [batch for batch in records.batches() if isinstance(batch, DefaultRecordBatch)]
    return aborted_batches(batches, aborted, _is_abort_marker)


def _is_abort_marker(batch: DefaultRecordBatch) -> bool:
    first = next(iter(batch.records()), None)
    return first is not None and ControlRecordType.parse(first.key) is ControlRecordType.ABORT


def slice_of_acquired(records: Part, batches: Sequence[FetchedBatch], acquired: Sequence[Acquired]) -> Part:
    """The part of the slice that has the acquired offsets: whole batches, as they are in the log."""
    if not acquired or not isinstance(records, FileMessageSetSlice):
        return b""
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    wanted = [batch for batch in batches if batch.last_offset >= first and batch.base_offset <= last]
    begin, end = wanted[0].position, wanted[-1].position + wanted[-1].size_in_bytes
    return records.between(begin, end)
