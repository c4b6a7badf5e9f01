"""Converts the records of a fetch response to an older format, for a consumer that needs it.

Kafka 0.10.2: core/.../log/FileMessageSet.scala (toMessageFormat); since 2.0 LazyDownConversionRecords.java · book 10.2
"""

from __future__ import annotations

import logging
from typing import Final

from kafka_lite.common.errors import ApiError
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.record.conversion import measured_down_convert
from kafka_lite.record.record_batch import LOG_OVERHEAD, MAGIC_POSITION

logger = logging.getLogger(__name__)

MAX_CONVERTED_BYTES: Final = 1 << 20
"""Once a response has so many converted bytes of a partition, it ends: what old consumers fetch of one by default."""
MAX_EXPANDED_BYTES: Final = 4 << 20
"""The same before compression: the work that a response may cost. A batch that holds more comes alone."""


def begins_with_newer(records: FileMessageSetSlice, magic: int) -> bool:
    """Whether the first batch, even if incomplete, has a format above ``magic``."""
    beginning = records.first_bytes(MAGIC_POSITION + 1)
    return len(beginning) > MAGIC_POSITION and beginning[MAGIC_POSITION] > magic


def converted_records(records: FileMessageSetSlice, to_magic: int, first_offset: int) -> bytes:
    """The batches of a slice of a log in an older format; see ``down_convert`` for the rules.

    ::

        slice          │ batch v2   │ batch v2      │ batch v2   │ batch v2   │
        sent           │ set v1   │ set v1      │                                 up to a megabyte; the consumer fetches
                                                                                 the next ones from where these end

    The first batch is always converted, so that the consumer can make progress. Only if the fetch size has already
    cut it off in the slice, as happens for consumers up to 0.10.0, there is nothing to convert. They get its offset,
    its size and zeros: a message that is larger than their fetch size, which they report to the user. (Kafka 1 sends
    the raw bytes, which look like an unknown format; since 2.0 it sends nothing, and consumers retry forever.)

    Kafka converts the whole slice, since 2.0 while it is being sent: its network threads then decompress. Here they
    never do, since all connections would wait for that.

    Raises UNSUPPORTED_COMPRESSION_TYPE if the old format does not support the first batch's codec, CORRUPT_MESSAGE or
    INVALID_RECORD if that batch cannot be read, and OSError.
    """
    pieces: list[bytes] = []
    converted_bytes = expanded_bytes = 0
    batches = records.batches()
    while converted_bytes < MAX_CONVERTED_BYTES and expanded_bytes < MAX_EXPANDED_BYTES:
        try:
            batch = next(batches, None)
            if batch is None:
                break
            piece, size = measured_down_convert(batch, to_magic, first_offset)
        except ApiError as error:
            if not pieces:
                raise
            logger.info("Cannot convert all records of a fetch response: %s", error)  # it fetches that batch first then
            break
        expanded_bytes += size
        if piece:  # a batch may become empty: a marker, records before the first offset
            pieces.append(piece)
            converted_bytes += len(piece)
    if not pieces and begins_with_newer(records, to_magic) and next(records.headers(), None) is None:
        return records.first_bytes(LOG_OVERHEAD).ljust(records.size_in_bytes, b"\0")
    return b"".join(pieces)
