"""The file format of producer snapshots: the producer state of a log at an offset.

Kafka 0.11: core/.../log/ProducerStateManager.scala (readSnapshot, writeSnapshot); since 3.8 ProducerSnapshot.json
· book 10.3
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path

from kafka_lite.common.crc32c import crc32c
from kafka_lite.common.errors import KafkaError
from kafka_lite.log.producers.producer_state_entry import NUM_BATCHES_TO_RETAIN, BatchMetadata, ProducerStateEntry
from kafka_lite.record.record import NO_SEQUENCE, NO_TIMESTAMP

PRODUCER_SNAPSHOT_VERSION = 1
NO_OFFSET = -1

_VERSION = struct.Struct(">h")
_CRC = struct.Struct(">I")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_CRC_OFFSET = 2
_PRODUCER_ENTRIES_OFFSET = 6
_HEADER_SIZE = 10


class CorruptSnapshotError(KafkaError):
    """A corrupt or incomplete snapshot."""


def encode_snapshot(entries: Collection[ProducerStateEntry]) -> bytes:
    """Encode a snapshot file.

    ::

        | version I16 = 1 | crc U32 (CRC-32C of what follows) | count I32 | entries of 46 bytes ...

        entry:  producer id I64 | epoch I16 | last sequence I32 | last offset I64 | offset delta I32
                | timestamp I64 | coordinator epoch I32 | current transaction's first offset I64 (-1: none) |

    Kafka stores only the last of the five batches, which is enough to continue the sequence. It then rejects
    an earlier one as out of order if it is retried, and the producer writes both again, with a new id or epoch.
    Here a producer has one entry for each batch, oldest first. Kafka reads them, too, and keeps the last.
    """
    rows = [row for entry in entries for row in _encode_entry(entry)]
    body = _COUNT.pack(len(rows)) + b"".join(rows)
    return _VERSION.pack(PRODUCER_SNAPSHOT_VERSION) + _CRC.pack(crc32c(body)) + body


def _encode_entry(entry: ProducerStateEntry) -> Iterator[bytes]:
    batches = entry.batch_metadata or [BatchMetadata(NO_SEQUENCE, NO_OFFSET, 0, NO_TIMESTAMP)]
    txn_offset = entry.current_txn_first_offset
    for batch in batches:
        yield _ENTRY.pack(
            entry.producer_id,
            entry.producer_epoch,
            batch.last_seq,
            batch.last_offset,
            batch.offset_delta,
            entry.last_timestamp if batch is batches[-1] else batch.timestamp,
            entry.coordinator_epoch,
            NO_OFFSET if txn_offset is None else txn_offset,
        )


def decode_snapshot(data: bytes) -> list[ProducerStateEntry]:
    """Decode a snapshot file (see ``encode_snapshot``). Raises CorruptSnapshotError."""
    entries: list[ProducerStateEntry] = []
    for entry in decode_entries(data):
        if entries and entries[-1].producer_id == entry.producer_id and not entry.is_empty:
            entry.batch_metadata = deque([*entries.pop().batch_metadata, *entry.batch_metadata], NUM_BATCHES_TO_RETAIN)
        entries.append(entry)
    return entries


def decode_entries(data: bytes) -> list[ProducerStateEntry]:
    """The entries as they are in the file, with at most one batch each. Raises CorruptSnapshotError."""
    if len(data) < _HEADER_SIZE:
        raise CorruptSnapshotError(f"the snapshot has only {len(data)} bytes")
    (version,) = _VERSION.unpack_from(data)
    if version != PRODUCER_SNAPSHOT_VERSION:
        raise CorruptSnapshotError(f"the snapshot has the unknown version {version}")
    (stored_crc,) = _CRC.unpack_from(data, _CRC_OFFSET)
    computed_crc = crc32c(data[_PRODUCER_ENTRIES_OFFSET:])
    if stored_crc != computed_crc:
        raise CorruptSnapshotError(f"the CRC is not valid: stored {stored_crc}, computed {computed_crc}")
    (count,) = _COUNT.unpack_from(data, _PRODUCER_ENTRIES_OFFSET)
    if count < 0 or len(data) != _HEADER_SIZE + count * _ENTRY.size:
        raise CorruptSnapshotError(f"{len(data)} bytes cannot be {count} entries")
    return [_decode_entry(data, _HEADER_SIZE + i * _ENTRY.size) for i in range(count)]


def _decode_entry(data: bytes, position: int) -> ProducerStateEntry:
    producer_id, epoch, last_seq, last_offset, delta, timestamp, coordinator, txn_offset = _ENTRY.unpack_from(
        data, position
    )
    batches = [BatchMetadata(last_seq, last_offset, delta, timestamp)] if last_offset >= 0 else []
    return ProducerStateEntry(
        producer_id,
        epoch,
        coordinator,
        timestamp,
        txn_offset if txn_offset >= 0 else None,
        deque(batches, maxlen=NUM_BATCHES_TO_RETAIN),
    )


def read_snapshot(file: Path) -> list[ProducerStateEntry]:
    """Read the entries from a file. Raises CorruptSnapshotError or OSError."""
    return decode_snapshot(file.read_bytes())


def write_snapshot(file: Path, entries: Collection[ProducerStateEntry], *, sync: bool) -> None:
    """Write a snapshot file; ``sync`` forces it to disk. Raises OSError."""
    try:
        with open(file, "wb") as out:
            out.write(encode_snapshot(entries))
            if sync:
                out.flush()
                os.fsync(out.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            file.unlink()  # an incomplete snapshot is useless
        raise
