"""Whether a network thread may validate a produced batch itself: bounds of what it can expand to.

Kafka 0.10.2: none; there request handlers validate every batch · book 2.3.3
"""

from __future__ import annotations

import struct
from typing import Final

from kafka_lite.common.sendable import Part
from kafka_lite.record.compression import EXPANSION, CompressionType
from kafka_lite.record.default_record_batch import CODEC_POSITION, RECORD_BATCH_OVERHEAD
from kafka_lite.record.record_batch import CODEC_MASK

MAX_QUICK_EXPANDED_BYTES: Final = 2 << 20
"""How much a network thread may have to decompress for one request: some milliseconds."""
MAX_QUICK_RECORDS: Final = 2000
"""How many records it may have to look at for one request: each takes one or two microseconds."""

ZSTD_BLOCK_BYTES: Final = 1 << 17
"""The most bytes that a block can become (RFC 8878, Block_Maximum_Size)."""

_ZSTD: Final = CompressionType.ZSTD.code
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_RAW, _RLE = 0, 1
_UNKNOWN: Final = 1 << 62
_RECORD_COUNT: Final = struct.Struct(">i")
_RECORD_COUNT_POSITION: Final = RECORD_BATCH_OVERHEAD - _RECORD_COUNT.size


def quick_cost(records: Part | None) -> tuple[int, int]:
    """Bounds of one batch of format v2: how many records it has, and how many bytes there are to decompress.

    What is no such batch is refused at once, and costs nothing: a request may have no more than one batch.
    """
    if not isinstance(records, (memoryview, bytes, bytearray)) or len(records) < RECORD_BATCH_OVERHEAD:
        return 0, 0
    (count,) = _RECORD_COUNT.unpack_from(records, _RECORD_COUNT_POSITION)
    codec = records[CODEC_POSITION] & CODEC_MASK
    count = max(count, 0)  # a batch with a negative one is refused at once
    if not codec:
        return count, 0
    if codec == _ZSTD:
        return count, zstd_bound(records, RECORD_BATCH_OVERHEAD)
    return count, (len(records) - RECORD_BATCH_OVERHEAD) * EXPANSION.get(codec, 0)


def zstd_bound(data: memoryview | bytes | bytearray, begin: int, enough: int = MAX_QUICK_EXPANDED_BYTES) -> int:
    r"""How many bytes the zstd frame at ``begin`` can become at most: a sum over its blocks, of which none is read.

    ::

        +-------------+------------+--------+---------------+--------------+-----------------------------+-----
        | 28 b5 2f fd | descriptor | window | dictionary id | content size | block header, 3 bytes       | ...
        |             | 1 byte     | 0, 1   | 0, 1, 2, 4    | 0, 1, 2, 4, 8| last 1 · type 2 · size 21   |
        +-------------+------------+--------+---------------+--------------+-----------------------------+-----

    A block has ``size`` bytes, or one that is repeated so often (type 1). Several frames, and what is no frame, have no
    bound. Stops as soon as the sum exceeds ``enough``.
    """
    if bytes(data[begin : begin + 4]) != _ZSTD_MAGIC or len(data) < begin + 5:
        return _UNKNOWN
    descriptor = data[begin + 4]
    is_single_segment = bool(descriptor & 0x20)
    position = begin + 5 + (0 if is_single_segment else 1) + (0, 1, 2, 4)[descriptor & 3]
    position += (1 if is_single_segment else 0, 2, 4, 8)[descriptor >> 6]
    bound = 0
    while bound <= enough:
        header = int.from_bytes(data[position : position + 3], "little")
        position += 3
        if position > len(data):
            return _UNKNOWN
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        bound += size if kind in (_RAW, _RLE) else ZSTD_BLOCK_BYTES
        position += 1 if kind == _RLE else size
        if is_last:
            checksum_bytes = 4 if descriptor & 4 else 0
            return bound if position + checksum_bytes == len(data) else _UNKNOWN
    return bound
