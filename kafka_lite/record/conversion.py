"""Conversion between message formats: down for consumers that are older than the log, up for such producers.

Kafka 0.10.2: clients/.../common/record/AbstractRecords.java (toMessageFormat); since 0.11 RecordsUtil.java · book 10.2
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.default_record_batch import DefaultRecordBatch, encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V0, MAGIC_V2, Record, TimestampType
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches


def down_convert(buffer: Buffer, to_magic: int, first_offset: int = 0) -> bytes:
    """The batches of ``buffer`` in a format not above ``to_magic``, for a fetch that starts at ``first_offset``.

    Offsets stay, with the gaps that compaction left. Timestamps are dropped below v1, headers and producer ids below
    v2. Control batches are dropped, since old consumers would take the markers for data. Batches in an old enough
    format stay unchanged. Records below ``first_offset`` are left out of converted batches, as old consumers may not
    skip them.

    Raises ``UNSUPPORTED_COMPRESSION_TYPE`` for zstd, which formats below v2 do not have.
    """
    return b"".join(down_convert_batch(batch, to_magic, first_offset) for batch in batches(buffer))


def down_convert_batch(batch: RecordBatch, to_magic: int, first_offset: int = 0) -> bytes:
    """Convert one batch to an older format; b"" if no record is left."""
    return measured_down_convert(batch, to_magic, first_offset)[0]


def measured_down_convert(batch: RecordBatch, to_magic: int, first_offset: int = 0) -> tuple[bytes, int]:
    """The same, and how many bytes the batch has without compression, which is what the conversion costs."""
    if batch.magic <= to_magic:
        return bytes(batch.view), batch.size_in_bytes
    if batch.is_control:
        return b"", batch.size_in_bytes
    if batch.compression is CompressionType.ZSTD:
        raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception("Zstandard batches cannot be down-converted")
    builder = _builder_of(batch, to_magic, (record for record in batch.records() if record.offset >= first_offset))
    if builder is None:
        return b"", batch.size_in_bytes
    return builder.build(), builder.estimated_size_in_bytes


def _builder_of(batch: RecordBatch, to_magic: int, records: Iterable[Record]) -> MemoryRecordsBuilder | None:
    """``records`` of ``batch`` in a batch of ``to_magic`` with the same codec, offsets and kind of timestamps."""
    builder = None
    for record in records:
        if builder is None:
            builder = MemoryRecordsBuilder(
                to_magic,
                batch.compression,
                max(batch.timestamp_type, TimestampType.CREATE_TIME),
                record.offset,
                log_append_time_ms=batch.max_timestamp,
            )
        headers = record.headers if to_magic >= MAGIC_V2 else ()
        builder.append(record.timestamp, record.key, record.value, headers, record.offset)
    return builder


def _rebuilt(batch: RecordBatch, to_magic: int) -> bytes:
    builder = _builder_of(batch, to_magic, batch.records())
    return b"" if builder is None else builder.build()


def up_convert(buffer: Buffer, to_magic: int = MAGIC_V2) -> bytes:
    """The batches of ``buffer`` in a format not below ``to_magic``. Records of v0 get the timestamp -1."""
    return b"".join(
        bytes(batch.view) if batch.magic >= to_magic else _rebuilt(batch, to_magic) for batch in batches(buffer)
    )


def magic_for_fetch_version(version: int) -> int:
    """The newest format that a consumer with that version of Fetch reads."""
    if version >= 4:
        return MAGIC_V2
    return MAGIC_V0 if version < 2 else MAGIC_V0 + 1


def recompress(
    batch: DefaultRecordBatch, data: bytes, target: CompressionType, compression_level: int | None
) -> DefaultRecordBatch:
    """The batch in another codec. Its records, ``data``, stay encoded as they are; the leader epoch is left open."""
    recompressed = encode_batch(
        compress(target, data, batch.magic, compression_level),
        base_offset=batch.base_offset,
        last_offset_delta=batch.last_offset_delta,
        attributes=batch.attributes & ~batch.compression.code | target.code,
        base_timestamp=batch.base_timestamp,
        max_timestamp=batch.max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        record_count=batch.record_count,
    )
    return DefaultRecordBatch(bytearray(recompressed), 0, len(recompressed))
