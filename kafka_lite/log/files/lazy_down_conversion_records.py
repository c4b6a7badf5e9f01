"""Converts records to an older format while they are sent to a consumer that needs it.

Kafka 2.0: clients/.../common/record/LazyDownConversionRecords.java, LazyDownConversionRecordsSend.java · book 10.2
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator

from kafka_lite.common.errors import ApiError
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.record.conversion import down_convert_batch
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD
from kafka_lite.record.record_batch import LOG_OVERHEAD, MAGIC_POSITION, OFFSET_AND_LENGTH

logger = logging.getLogger(__name__)

_SMALLEST_CLAIM = RECORD_BATCH_OVERHEAD
_PADDING_BYTES = 64 * 1024
FIRST_BYTES = 128 * 1024
"""How much is converted before the first byte is sent."""


def begins_with_newer(records: FileMessageSetSlice, magic: int) -> bool:
    """Whether the first batch, even if incomplete, has a format above ``magic``."""
    beginning = records.first_bytes(MAGIC_POSITION + 1)
    return len(beginning) > MAGIC_POSITION and beginning[MAGIC_POSITION] > magic


class LazyDownConversionRecords:
    """The batches of a slice of a log, converted to an older format, a part at a time.

    The size of a response is sent before its content, when only the first 128 KB have been converted. If there is more,
    the announced size is that of the slice, and the content is made to fit::

        slice          │ batch v2   │ batch v2      │ batch v2   │
        sent           │ set v1   │ set v1    │ set v1     │-1│ n │0 0│        shorter: padded with the header of a
                                                                            message that is longer than the remaining
                                                                            bytes. Every consumer expects messages
                                                                            that are cut off by the fetch size.
        sent           │ set v1          │ set v1           │ set│            longer: cut off

    The first batch is always sent whole, so that the consumer can make progress. Only if the fetch size has already
    cut it off in the slice, as happens for consumers up to 0.10.0, there is nothing to convert. They get its offset,
    its size and zeros: a message that is larger than their fetch size, which they report to the user. (Kafka 1 sends
    the raw bytes, which look like an unknown format; since 2.0 it sends nothing, and consumers retry forever.)
    """

    def __init__(self, records: FileMessageSetSlice, to_magic: int, first_offset: int) -> None:
        """Convert the beginning; see ``down_convert`` for the rules.

        Raises UNSUPPORTED_COMPRESSION_TYPE if the old format does not support the first batch's codec, and
        CORRUPT_MESSAGE or INVALID_RECORD if the batch cannot be read.
        """
        # Batches that become empty (markers, records before the first offset) are skipped.
        converted = (down_convert_batch(batch, to_magic, first_offset) for batch in records.batches())
        self._converted: Iterator[bytes] = filter(None, converted)
        self._is_padding = False
        self._read_error: OSError | None = None
        beginning = bytearray(next(self._converted, b""))
        while 0 < len(beginning) < FIRST_BYTES and (following := self._following_batch()):
            beginning += following
        self._next = memoryview(beginning)
        self._sent = 0
        is_all = len(beginning) < FIRST_BYTES
        self.size_in_bytes = len(beginning) if is_all else max(records.size_in_bytes, len(beginning))
        """Number of bytes that will be sent."""
        if not beginning and begins_with_newer(records, to_magic) and next(records.headers(), None) is None:
            self._next = memoryview(records.first_bytes(LOG_OVERHEAD))
            self._is_padding = True
            self.size_in_bytes = records.size_in_bytes

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Send from ``offset``, where the last call ended. Returns the bytes sent; BlockingIOError if none can be.

        Raises ValueError for any other ``offset``, since sent data is not kept. Raises OSError if the log cannot be
        read, and then on every further call, because the response can never be completed.
        """
        if offset != self._sent:
            raise ValueError(f"cannot continue at offset {offset}: {self._sent} bytes have been sent")
        if not self._next:
            self._next = memoryview(self._following())
        sent = sock.send(self._next[:length])
        self._next = self._next[sent:]
        self._sent += sent
        return sent

    def to_bytes(self) -> bytes:
        """All data not sent yet, in memory."""
        pieces = []
        while self._sent < self.size_in_bytes:
            piece = (self._next or memoryview(self._following()))[: self.size_in_bytes - self._sent]
            pieces.append(piece)
            self._sent += len(piece)
            self._next = memoryview(b"")
        return b"".join(pieces)

    def _following_batch(self) -> bytes:
        """The next batch, or b"" if there is none or it cannot be converted; the batches before it are still sent."""
        if self._read_error is not None:
            raise self._read_error
        try:
            return next(self._converted, b"")
        except ApiError as error:  # the consumer gets the error when it fetches that batch first
            logger.info("Cannot convert all records of a fetch response: %s", error)
            self._converted = iter(())
            return b""
        except OSError as error:
            self._read_error = error  # the iterator ends with the error; that must not look like the end of the records
            raise

    def _following(self) -> bytes:
        """The next batch, or else the incomplete message used as padding, or a piece of it."""
        left = self.size_in_bytes - self._sent
        batch = self._following_batch()
        if batch:
            return batch
        if self._is_padding:
            return bytes(min(left, _PADDING_BYTES))
        self._is_padding = True
        return OFFSET_AND_LENGTH.pack(-1, max(left, _SMALLEST_CLAIM))[:left]
