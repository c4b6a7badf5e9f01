"""Message sets, the message formats v0 and v1 that the book describes.

Kafka 0.10.2: clients/.../common/record/Record.java, LogEntry.java, ByteBufferLogInputStream.java,
core/.../message/MessageAndOffset.scala · book 6.1.2
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import MAX_DECOMPRESSED_BYTES, CompressionType, decompress
from kafka_lite.record.record import (
    MAGIC_V0,
    MAGIC_V1,
    NO_TIMESTAMP,
    CorruptRecordError,
    InvalidRecordError,
    Record,
    TimestampType,
)
from kafka_lite.record.record_batch import CODEC_MASK, LOG_OVERHEAD, TIMESTAMP_TYPE_MASK, RecordBatch, sized_view

RECORD_OVERHEAD = (14, 22)
"""Bytes of a message of v0 and of v1 without its key and value: the smallest size that its prefix may name."""

_HEADER_V0 = struct.Struct(">qiIbb")
_HEADER_V1 = struct.Struct(">qiIbbq")
_HEADERS = (_HEADER_V0, _HEADER_V1)
_CRC_POSITION = 12
_CRC_COVERS_FROM = 16
_ATTRIBUTES_POSITION = 17
_TIMESTAMP_POSITION = 18
_I32 = struct.Struct(">i")
_U32 = struct.Struct(">I")
_I64 = struct.Struct(">q")


class MessageAndOffset(RecordBatch):
    r"""A message of format v0 or v1 with its offset: one entry of a message set.

    ::

         0         8         12     16      17            18              18 (v1: 26)
        +---------+---------+------+-------+-------------+---------------+------------+-----+--------------+-------+
        | offset  | size    | crc  | magic | attributes  | timestamp I64 | key length | key | value length | value |
        | I64     | I32     | U32  | 0, 1  | I8          | only in v1    | I32 or -1  |     | I32 or -1    |       |
        +---------+---------+------+-------+-------------+---------------+------------+-----+--------------+-------+

        size         the bytes that follow it
        crc          CRC-32 of everything from the magic on, so a new offset does not change it
        attributes   bits 0-2 codec, bit 3 (v1) timestamp type

    With a codec, the value is a compressed message set, and this message is its *wrapper*, with the offset of the last
    inner message. Inner offsets of v0 are absolute, so a broker that assigns offsets must decompress the set and
    compress it again. Those of v1 are relative to the first, 0, 1, 2 ..., so only the wrapper changes::

        wrapper's offset 8:  [ 0 | 1 | 2 ]   ->  absolute offsets 6, 7, 8

    The wrapper of v1 has the largest timestamp of the inner messages. With LogAppendTime its timestamp holds for all.
    """

    __slots__ = (
        "_inner_first_offset",
        "_offset",
        "attributes",
        "crc",
        "magic",
        "max_timestamp",
        "size_in_bytes",
        "view",
    )

    attributes: int
    max_timestamp: int
    _offset: int

    def __init__(self, buffer: Buffer, position: int, size: int) -> None:
        """A view of the ``size`` bytes at ``position``; ``CorruptRecordError`` if they cannot be a message."""
        self.view = sized_view(buffer, position, size)
        self.size_in_bytes = size
        self._inner_first_offset: int | None = None
        self.magic = self.view[_CRC_COVERS_FROM] if size > _CRC_COVERS_FROM else -1
        if not MAGIC_V0 <= self.magic <= MAGIC_V1:
            raise CorruptRecordError(f"Message with magic {self.magic}")
        if size < LOG_OVERHEAD + RECORD_OVERHEAD[self.magic]:
            raise CorruptRecordError(f"Message of {size - LOG_OVERHEAD} bytes with magic {self.magic}")
        self.max_timestamp = NO_TIMESTAMP
        if self.magic == MAGIC_V0:
            self._offset, _size, self.crc, _magic, self.attributes = _HEADER_V0.unpack_from(self.view)
        else:
            header = _HEADER_V1.unpack_from(self.view)
            self._offset, _size, self.crc, _magic, self.attributes, self.max_timestamp = header

    @property
    def last_offset(self) -> int:
        """The message's offset."""
        return self._offset

    @property
    def base_offset(self) -> int:
        """The message's offset, or that of the first inner message, which takes one decompression."""
        if not self.is_compressed:
            return self._offset
        if self._inner_first_offset is None:
            self._inner_first_offset = next(self.records()).offset
        return self._inner_first_offset

    @property
    def record_count(self) -> int | None:
        """One, or None for a wrapper."""
        return None if self.is_compressed else 1

    @property
    def base_timestamp(self) -> int:
        """The message's timestamp."""
        return self.max_timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the client or the broker set the timestamp."""
        if self.magic == MAGIC_V0:
            return TimestampType.NO_TIMESTAMP_TYPE
        log_append_time = self.attributes & TIMESTAMP_TYPE_MASK
        return TimestampType.LOG_APPEND_TIME if log_append_time else TimestampType.CREATE_TIME

    def compute_crc(self) -> int:
        """CRC-32 from the magic to the end."""
        return zlib.crc32(self.view[_CRC_COVERS_FROM:])

    def key_and_value(self) -> tuple[memoryview | None, memoryview | None]:
        """Views of key and value (in a wrapper: the compressed set); ``CorruptRecordError`` if they do not fit."""
        key, position = self._field(_HEADERS[self.magic].size)
        value, position = self._field(position)
        if position != self.size_in_bytes:
            raise CorruptRecordError(f"{self.size_in_bytes - position} bytes follow the value of a message")
        return key, value

    def _field(self, position: int) -> tuple[memoryview | None, int]:
        if position + _I32.size > self.size_in_bytes:
            raise CorruptRecordError("Message ends before the length of its key or value")
        (length,) = _I32.unpack_from(self.view, position)
        position += _I32.size
        if length == -1:
            return None, position
        if not 0 <= length <= self.size_in_bytes - position:
            raise CorruptRecordError(f"Key or value of {length} bytes in {self.size_in_bytes - position}")
        return self.view[position : position + length], position + length

    def inner_data(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
        """The message set inside a wrapper, decompressed."""
        if self.compression is CompressionType.ZSTD:
            raise Errors.UNSUPPORTED_COMPRESSION_TYPE.exception(f"Message of magic {self.magic} with zstd")
        value = self.key_and_value()[1]
        if value is None:
            raise InvalidRecordError("Compressed message without a value")
        return decompress(self.compression, value, self.magic, max_bytes)

    def inner_messages(self, inner_data: bytes) -> Iterator[MessageAndOffset]:
        """The messages of this wrapper's ``inner_data``, with their offsets as they are stored.

        Raises ``InvalidRecordError`` for an empty set, a message of another magic, or another wrapper.
        """
        if not inner_data:
            raise InvalidRecordError("Compressed message that holds no messages")
        for position, size in _positions(inner_data):
            message = MessageAndOffset(inner_data, position, size)
            if message.magic != self.magic or message.is_compressed:
                raise InvalidRecordError(
                    f"Compressed message of magic {self.magic} holds one of magic {message.magic}, "
                    f"codec {message.attributes & CODEC_MASK}"
                )
            yield message

    def records(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Iterator[Record]:
        """The message as a record; for a wrapper the inner ones, with absolute offsets and the timestamps that hold."""
        if not self.is_compressed:
            yield self.to_record(self._offset, self.max_timestamp, self.timestamp_type)
            return
        inner_data = self.inner_data(max_bytes)
        first_offset = self._offset_of_inner_zero(inner_data)
        log_append_time = self.timestamp_type is TimestampType.LOG_APPEND_TIME
        for message in self.inner_messages(inner_data):
            timestamp = self.max_timestamp if log_append_time else message.max_timestamp
            yield message.to_record(first_offset + message.last_offset, timestamp, self.timestamp_type)

    def _offset_of_inner_zero(self, inner_data: bytes) -> int:
        """The difference to add to the inner offsets: the wrapper has the offset of the last one."""
        # Some versions of librdkafka send wrappers with offset 0, whatever is inside. Then nothing is added.
        if self.magic == MAGIC_V0 or self._offset == 0:
            return 0
        last_inner_offset = 0
        for position, _size in _positions(inner_data):
            (last_inner_offset,) = _I64.unpack_from(inner_data, position)
        if self._offset < last_inner_offset:
            raise InvalidRecordError(f"Wrapper offset {self._offset} is below the inner offset {last_inner_offset}")
        return self._offset - last_inner_offset

    def to_record(self, offset: int, timestamp: int, timestamp_type: TimestampType) -> Record:
        """Key and value of this message, with an offset and a timestamp that may be those of its wrapper."""
        key, value = self.key_and_value()
        return Record(
            offset,
            timestamp,
            timestamp_type,
            None if key is None else bytes(key),
            None if value is None else bytes(value),
        )

    def set_last_offset(self, offset: int) -> None:
        """Assign the offset."""
        self._offset = offset
        self._inner_first_offset = None
        _I64.pack_into(self.view, 0, offset)

    def set_partition_leader_epoch(self, epoch: int) -> None:
        """Does nothing: these formats have no such field."""

    def set_max_timestamp(self, timestamp_type: TimestampType, max_timestamp: int) -> None:
        """Write type and timestamp of a message of v1, and a new checksum if they changed; v0 has neither."""
        if self.magic == MAGIC_V0 or (timestamp_type is self.timestamp_type and max_timestamp == self.max_timestamp):
            return
        self.attributes = self.attributes & ~TIMESTAMP_TYPE_MASK | (timestamp_type << 3 & TIMESTAMP_TYPE_MASK)
        self.max_timestamp = max_timestamp
        self.view[_ATTRIBUTES_POSITION] = self.attributes & 0xFF
        _I64.pack_into(self.view, _TIMESTAMP_POSITION, max_timestamp)
        self.crc = self.compute_crc()
        _U32.pack_into(self.view, _CRC_POSITION, self.crc)


def _positions(data: bytes) -> Iterator[tuple[int, int]]:
    """Position and size of each message of a set; ``CorruptRecordError`` if one is incomplete."""
    position, end = 0, len(data)
    while position < end:
        if end - position < LOG_OVERHEAD:
            raise CorruptRecordError(f"Message set ends with {end - position} bytes of a message")
        size = _I32.unpack_from(data, position + 8)[0] + LOG_OVERHEAD
        if not LOG_OVERHEAD <= size <= end - position:
            raise CorruptRecordError(f"Message of {size} bytes where {end - position} are left")
        yield position, size
        position += size


def encode_message(
    magic: int,
    offset: int,
    attributes: int,
    timestamp: int,
    key: Buffer | None,
    value: Buffer | None,
) -> bytes:
    """One message of the figure above, checksum included. In v0 the timestamp is dropped."""
    size = RECORD_OVERHEAD[magic] + (0 if key is None else len(key)) + (0 if value is None else len(value))
    fields = (offset, size, 0, magic, attributes)
    header = _HEADER_V0.pack(*fields) if magic == MAGIC_V0 else _HEADER_V1.pack(*fields, timestamp)
    message = bytearray(header)
    for field in (key, value):
        if field is None:
            message += _I32.pack(-1)
        else:
            message += _I32.pack(len(field))
            message += field
    _U32.pack_into(message, _CRC_POSITION, zlib.crc32(memoryview(message)[_CRC_COVERS_FROM:]))
    return bytes(message)
