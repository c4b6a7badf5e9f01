"""The codecs of batches: gzip, snappy, lz4 and zstd, all with a bound on what comes out.

The bytes to decompress come from a producer and are not to be trusted: a kilobyte can claim to be a gigabyte. Nothing
here allocates more than the caller's ``max_bytes``, whatever the bytes claim.

Kafka 0.10.2: clients/.../common/record/CompressionType.java, KafkaLZ4BlockOutputStream.java · book 2.1.1
"""

from __future__ import annotations

import functools
import io
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.codec_libraries import DECOMPRESSION_ERRORS, cramjam, lz4_frame, xxhash, zstandard
from kafka_lite.record.record import MAGIC_V0, CorruptRecordError

_PIECE_BYTES = 1 << 21  # most batches fit into one; chosen with `python -m bench.appends --only lz4`
MAX_DECOMPRESSED_BYTES = 128 * 1024 * 1024
"""The bound if the caller gives none: far above the size of any real batch of ``message.max.bytes``."""


class CompressionType(Enum):
    """A codec: its code in the attributes of a batch and its name in configurations."""

    code: int
    codec_name: str

    def __init__(self, code: int, codec_name: str) -> None:
        self.code = code
        self.codec_name = codec_name

    NONE = (0, "none")
    GZIP = (1, "gzip")
    SNAPPY = (2, "snappy")
    LZ4 = (3, "lz4")
    ZSTD = (4, "zstd")  # since 2.1, in format v2 only

    @staticmethod
    def from_code(code: int) -> CompressionType:
        """The codec of the low three bits of a batch's attributes; ``CorruptRecordError`` for 5 to 7."""
        try:
            return _BY_CODE[code]
        except KeyError:
            raise CorruptRecordError(f"Unknown compression type {code}") from None

    @staticmethod
    def from_name(name: str) -> CompressionType:
        """The codec of a ``compression.type`` value (``uncompressed`` is none); ``ValueError`` for another name."""
        try:
            return _BY_NAME[name]
        except KeyError:
            raise ValueError(f"Unknown compression name {name!r}; known: {', '.join(_BY_NAME)}") from None


_BY_CODE = {codec.code: codec for codec in CompressionType}
_BY_NAME = {codec.codec_name: codec for codec in CompressionType} | {"uncompressed": CompressionType.NONE}

EXPANSION: Final = {CompressionType.GZIP.code: 1032, CompressionType.SNAPPY.code: 24, CompressionType.LZ4.code: 255}
"""The most bytes that a compressed byte can become in a codec's format. Zstandard has no such bound, but one of a
block."""


def compress(codec: CompressionType, data: Buffer, magic: int, level: int | None = None) -> bytes:
    """``data`` compressed as Kafka does for a batch of format ``magic``; ``level`` None is the codec's default.

    Raises UNSUPPORTED_COMPRESSION_TYPE if the codec's library is not installed.
    """
    return _COMPRESSORS[codec.code](data, magic, level)


def decompress(codec: CompressionType, data: Buffer, magic: int, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bytes:
    """``data`` decompressed.

    Raises ``CorruptRecordError`` if the codec cannot read it, or the result would exceed ``max_bytes``, and
    UNSUPPORTED_COMPRESSION_TYPE if its library is not installed.
    """
    try:
        return _DECOMPRESSORS[codec.code](data, magic, max_bytes)
    except DECOMPRESSION_ERRORS as error:
        raise CorruptRecordError(f"Undecodable {codec.codec_name} data: {error}") from error


def _joined(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """The pieces one after the other; ``CorruptRecordError`` beyond ``max_bytes``.

    ``b"".join`` would need the memory of all pieces and of the result; BytesIO hands out the memory that it wrote to.
    """
    whole, output, size = b"", None, 0
    for piece in pieces:
        size += len(piece)
        if size > max_bytes:
            raise _too_large(max_bytes)
        if output is not None:
            output.write(piece)
        elif whole:
            output = io.BytesIO()
            output.write(whole)
            output.write(piece)
            whole = b""
        else:
            whole = piece  # of most batches it is the only one
    return whole if output is None else output.getvalue()


def _too_large(max_bytes: int) -> CorruptRecordError:
    return CorruptRecordError(f"Compressed records expand to more than {max_bytes} bytes")


# --- none ---


def _copy(data: Buffer, _magic: int, _level: int | None) -> bytes:
    return bytes(data)


def _bounded_copy(data: Buffer, _magic: int, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        raise _too_large(max_bytes)
    return bytes(data)


# --- gzip ---

_GZIP_WBITS = 16 + zlib.MAX_WBITS  # tells zlib to use a gzip header
_GZIP_INPUT_BYTES = 1 << 20
_GZIP_MEMBER_BYTES = 256


def _gzip_compress(data: Buffer, _magic: int, level: int | None) -> bytes:
    stream = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, _GZIP_WBITS)
    return stream.compress(data) + stream.flush()


def _gzip_decompress(data: Buffer, _magic: int, max_bytes: int) -> bytes:
    return _joined(_gzip_pieces(data), max_bytes)


def _gzip_pieces(data: Buffer) -> Iterator[bytes]:
    """Yield what all members of the stream hold: gzip allows several in a row, of 20 bytes or more.

    zlib copies what it leaves of its input. So the first member, usually the only one, is given all of a usual batch,
    and each later one a little, then more: a million members would otherwise copy the rest a million times.
    """
    view, position, window = memoryview(data), 0, _GZIP_INPUT_BYTES
    while position < len(view):
        stream = zlib.decompressobj(_GZIP_WBITS)
        while not stream.eof:
            rest = stream.unconsumed_tail or view[position : position + window]
            if not stream.unconsumed_tail:
                position += len(rest)
                window = min(4 * window, _GZIP_INPUT_BYTES)
            piece = stream.decompress(rest, _PIECE_BYTES)
            if not piece and not rest and not stream.eof:
                raise CorruptRecordError("Truncated gzip data")
            yield piece
        position -= len(stream.unused_data)
        window = _GZIP_MEMBER_BYTES


# --- snappy ---

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = struct.Struct(">8sii")
_XERIAL_VERSION = 1
_XERIAL_BLOCK_BYTES = 32 * 1024
_I32 = struct.Struct(">i")


def _snappy_compress(data: Buffer, _magic: int, _level: int | None) -> bytes:
    r"""Snappy in the framing of Java's ``SnappyOutputStream`` (xerial)::

    +---------------------+-----------+--------------+---------------+--------------------+-----
    | 82 "SNAPPY" 00      | version 1 | compatible 1 | length of the | raw snappy of 32 KB | next
    | 8 bytes             | I32       | I32          | block I32     | of input            | block
    +---------------------+-----------+--------------+---------------+--------------------+-----
    """
    view = memoryview(data)
    pieces = [_XERIAL_HEADER.pack(_XERIAL_MAGIC, _XERIAL_VERSION, _XERIAL_VERSION)]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        pieces += (_I32.pack(len(block)), block)
    return b"".join(pieces)


def _snappy_decompress(data: Buffer, _magic: int, max_bytes: int) -> bytes:
    """Framed snappy, or one raw block as some clients send it and Java's reader accepts."""
    view = memoryview(data)
    if view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _snappy_block(view, max_bytes, max_bytes)
    return _joined(_snappy_pieces(view, max_bytes), max_bytes)


def _snappy_pieces(view: memoryview, max_bytes: int) -> Iterator[bytes]:
    room = max_bytes
    position = _XERIAL_HEADER.size
    while position < len(view):
        (length,) = _I32.unpack_from(view, position)
        position += _I32.size
        if not 0 <= length <= len(view) - position:
            raise CorruptRecordError(f"Snappy block of {length} bytes, {len(view) - position} are left")
        piece = _snappy_block(view[position : position + length], room, max_bytes)
        yield piece
        room -= len(piece)
        position += length


def _snappy_block(block: memoryview, room: int, max_bytes: int) -> bytes:
    # A raw block starts with its uncompressed length. Check it before the library allocates that much.
    claimed = cramjam.snappy.decompress_raw_len(block)
    if claimed > room:
        raise _too_large(max_bytes)
    if claimed > len(block) * EXPANSION[CompressionType.SNAPPY.code]:
        raise CorruptRecordError(f"A snappy block of {len(block)} bytes claims to hold {claimed}")
    return bytes(cramjam.snappy.decompress_raw(block))


# --- lz4 ---

_LZ4_MAGIC_BYTES = 4
_LZ4_FLAG_CONTENT_SIZE = 0x08
_LZ4_FLAG_DICTIONARY = 0x01


def _lz4_compress(data: Buffer, magic: int, level: int | None) -> bytes:
    """An lz4 frame as Kafka writes it: independent blocks of 64 KB, no checksums but the header's."""
    frame: bytes = lz4_frame.compress(
        data,
        compression_level=0 if level is None else level,
        block_size=lz4_frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        content_checksum=False,
        block_checksum=False,
        store_size=False,
    )
    return _with_header_checksum(frame, broken=True) if magic == MAGIC_V0 else frame


def _lz4_decompress(data: Buffer, magic: int, max_bytes: int) -> bytes:
    frame = memoryview(data)
    if magic == MAGIC_V0:  # old clients write a broken header checksum, newer ones a correct one: do not verify it
        frame = memoryview(_with_header_checksum(bytes(data), broken=False))
    return _joined(_lz4_pieces(frame), max_bytes)


def _lz4_pieces(frame: memoryview) -> Iterator[bytes]:
    """Yield the content in pieces: for all at once, the library reserves the largest possible result, 128 MB."""
    context = lz4_frame.create_decompression_context()
    is_end = False
    while not is_end:
        piece, consumed, is_end = lz4_frame.decompress_chunk(context, frame, max_length=_PIECE_BYTES)
        if not piece and not is_end:
            raise CorruptRecordError("Truncated lz4 data")
        yield piece
        frame = frame[consumed:]


def _with_header_checksum(frame: bytes, *, broken: bool) -> bytes:
    r"""The frame with a new header checksum (HC).

    ::

        +-------------+-----+-----+-----------------------+------------------+----+--------
        | 04 22 4d 18 | FLG | BD  | content size, 8 bytes | dictionary id, 4 | HC | blocks
        | magic       |     |     | if FLG has 0x08       | if FLG has 0x01  |    |
        +-------------+-----+-----+-----------------------+------------------+----+--------

    HC is the second byte of the xxh32 of the bytes between magic and HC. Kafka up to 0.9 hashed the magic, too, and
    messages of format v0 still have that ``broken`` checksum.
    """
    if len(frame) < _LZ4_MAGIC_BYTES + 3:
        raise CorruptRecordError("Truncated lz4 header")
    flags = frame[_LZ4_MAGIC_BYTES]
    end = _LZ4_MAGIC_BYTES + 2
    end += 8 if flags & _LZ4_FLAG_CONTENT_SIZE else 0
    end += 4 if flags & _LZ4_FLAG_DICTIONARY else 0
    hashed = frame[:end] if broken else frame[_LZ4_MAGIC_BYTES:end]
    checksum = xxhash.xxh32_intdigest(hashed) >> 8 & 0xFF
    return frame[:end] + bytes((checksum,)) + frame[end + 1 :]


# --- zstd ---

# The largest window that zstd's levels use (level 22) and that Kafka's library accepts. The window that a frame asks
# for is reserved, but only the part that is written to becomes resident memory.
_ZSTD_MAX_WINDOW_BYTES = 1 << 27
_ZSTD_USUAL_WINDOW_BYTES = 1 << 23  # enough for all levels up to 19


def _zstd_compress(data: Buffer, _magic: int, level: int | None) -> bytes:
    return zstandard.ZstdCompressor(level=3 if level is None else level).compress(data)


def _zstd_decompress(data: Buffer, _magic: int, max_bytes: int) -> bytes:
    """One or several frames. A frame that is cut short just ends early; the reader of the records notices."""
    try:
        return _zstd_stream(_of_thread.usual, data, max_bytes)
    except zstandard.ZstdError:  # the frame is broken, or needs a large window, which is not kept for the next one
        return _zstd_stream(zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW_BYTES), data, max_bytes)


class _ZstdOfThread(threading.local):
    """A decompressor for each thread: creating one takes three times as long as decompressing a batch of 16 KB."""

    @functools.cached_property
    def usual(self) -> zstandard.ZstdDecompressor:
        """The decompressor of this thread."""
        return zstandard.ZstdDecompressor(max_window_size=_ZSTD_USUAL_WINDOW_BYTES)


_of_thread = _ZstdOfThread()


def _zstd_stream(decompressor: zstandard.ZstdDecompressor, data: Buffer, max_bytes: int) -> bytes:
    with decompressor.stream_reader(data, read_across_frames=True) as stream:
        return _joined(iter(partial(stream.read, _PIECE_BYTES), b""), max_bytes)


# By code, not by member, since Enum computes the hash of a member in Python.
_COMPRESSORS: dict[int, Callable[[Buffer, int, int | None], bytes]] = {
    CompressionType.NONE.code: _copy,
    CompressionType.GZIP.code: _gzip_compress,
    CompressionType.SNAPPY.code: _snappy_compress,
    CompressionType.LZ4.code: _lz4_compress,
    CompressionType.ZSTD.code: _zstd_compress,
}

_DECOMPRESSORS: dict[int, Callable[[Buffer, int, int], bytes]] = {
    CompressionType.NONE.code: _bounded_copy,
    CompressionType.GZIP.code: _gzip_decompress,
    CompressionType.SNAPPY.code: _snappy_decompress,
    CompressionType.LZ4.code: _lz4_decompress,
    CompressionType.ZSTD.code: _zstd_decompress,
}
