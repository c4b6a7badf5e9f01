"""Records for a consumer that does not know their format, converted while they are sent.

Kafka 2.0: clients/.../common/record/LazyDownConversionRecords.java, LazyDownConversionRecordsSend.java · book 10.2
"""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Iterator

from kafka_lite.common.errors import ApiError
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.record.conversion import down_convert_batch
from kafka_lite.record.record_batch import MAGIC_POSITION

logger = logging.getLogger(__name__)

_OFFSET_AND_SIZE = struct.Struct(">qi")
_SMALLEST_CLAIM = 61
_PADDING_BYTES = 64 * 1024
FIRST_BYTES = 128 * 1024
"""So much is converted before the first byte is sent."""


def begins_with_newer(records: FileMessageSetSlice, magic: int) -> bool:
    """Whether the first batch has a format above ``magic``, be it whole or not."""
    beginning = records.first_bytes(MAGIC_POSITION + 1)
    return len(beginning) > MAGIC_POSITION and beginning[MAGIC_POSITION] > magic


class LazyDownConversionRecords:
    """The batches of a slice of a log in an older format, of which a part at a time is in memory.

    The size of an answer goes out before the answer, when only the first 128 KB have been converted. If that is not
    all, the size that is named is that of the slice, and what is sent is made to fit::

        slice          │ batch v2   │ batch v2      │ batch v2   │
        sent           │ set v1   │ set v1    │ set v1     │-1│ n │0 0│        shorter: the head of a message that is
                                                                            longer than what is left. Every consumer
                                                                            knows messages that the limit has cut.
        sent           │ set v1          │ set v1           │ set│            longer: the limit has cut it

    The first batch comes whole in any case, so that the consumer gets on. Only when the limit has cut it already in the
    slice, as it does for consumers of 0.10.0 and before, there is nothing to convert. They get its offset, its size
    and zeros: a message that is longer than what they have asked for, which they tell their users. (Kafka 1 sends
    the bytes as they are, which look like a format of the future; since 2.0 nothing, for which consumers ask for ever.)
    """

    def __init__(self, records: FileMessageSetSlice, to_magic: int, first_offset: int) -> None:
        """Convert the beginning; see ``down_convert`` for what is converted how.

        Raises UNSUPPORTED_COMPRESSION_TYPE when the first batch has a codec which the old format does not know, and
        CORRUPT_MESSAGE or INVALID_RECORD when it cannot be read.
        """
        # Batches of which nothing is left (markers, records before the first offset) are passed over.
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
        """Bytes that will be sent."""
        if not beginning and begins_with_newer(records, to_magic) and next(records.headers(), None) is None:
            self._next = memoryview(records.first_bytes(_OFFSET_AND_SIZE.size))
            self._is_padding = True
            self.size_in_bytes = records.size_in_bytes

    def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
        """Send what comes at ``offset``, where the last call ended; the bytes sent, BlockingIOError when none can be.

        Raises ValueError for another ``offset``: what has been sent is gone; OSError when the log cannot be read, and
        again at every further try, for the answer can never be completed.
        """
        if offset != self._sent:
            raise ValueError(f"{self._sent} bytes have been sent, there is no way to offset {offset}")
        if not self._next:
            self._next = memoryview(self._following())
        sent = sock.send(self._next[:length])
        self._next = self._next[sent:]
        self._sent += sent
        return sent

    def to_bytes(self) -> bytes:
        """All that has not been sent, in memory."""
        pieces = []
        while self._sent < self.size_in_bytes:
            piece = (self._next or memoryview(self._following()))[: self.size_in_bytes - self._sent]
            pieces.append(piece)
            self._sent += len(piece)
            self._next = memoryview(b"")
        return b"".join(pieces)

    def _following_batch(self) -> bytes:
        """The next batch; b"" when there is none, or one that cannot be converted: what comes before it is sent."""
        if self._read_error is not None:
            raise self._read_error
        try:
            return next(self._converted, b"")
        except ApiError as error:  # the consumer will hear of it when it asks for just this batch
            logger.info("Cannot convert all of an answer: %s", error)
            self._converted = iter(())
            return b""
        except OSError as error:
            self._read_error = error  # the iterator has ended with it, which must not look like the end of the records
            raise

    def _following(self) -> bytes:
        """The next batch, or else the message that cannot be completed, or a piece of it."""
        left = self.size_in_bytes - self._sent
        batch = self._following_batch()
        if batch:
            return batch
        if self._is_padding:
            return bytes(min(left, _PADDING_BYTES))
        self._is_padding = True
        return _OFFSET_AND_SIZE.pack(-1, max(left, _SMALLEST_CLAIM))[:left]
