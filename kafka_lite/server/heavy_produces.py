"""Produce requests that are handled one at a time, because of the memory and the time that they take.

Kafka 0.10.2: none; there every request handler decompresses whatever comes · book 2.3.3
"""

from __future__ import annotations

from typing import Final

from kafka_lite.common.sendable import Part
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest
from kafka_lite.record.compression import EXPANSION, CompressionType
from kafka_lite.record.default_record_batch import CODEC_POSITION, RECORD_BATCH_OVERHEAD
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import CODEC_MASK, MAGIC_POSITION
from kafka_lite.server.quick_batches import zstd_bound

MAX_EXPANDED_AT_ONCE: Final = 16 << 20
"""How many bytes a request may expand to beside others. Usual batches, of some megabytes, expand to less; but a hundred
kilobytes can hold a hundred megabytes, which are in memory several times while they are checked."""
MAX_PARTITIONS_AT_ONCE: Final = 2000
"""How many partitions it may have beside others: two handlers that compute share one GIL."""

_PRODUCE: Final = int(ApiKey.PRODUCE)
_GZIP, _LZ4, _ZSTD = (codec.code for codec in (CompressionType.GZIP, CompressionType.LZ4, CompressionType.ZSTD))
_OLD_CODEC_POSITION: Final = MAGIC_POSITION + 1
_OLD_FORMATS_WEIGH: Final = 16
"""Each message of an old format is decoded and encoded by Python, several microseconds for 26 bytes or more."""
_UNKNOWN: Final = 1 << 62
_LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"


def is_heavy(request: Request) -> bool:
    """Whether a request must not be handled beside others of this kind."""
    if request.header.api_key != _PRODUCE:
        return False
    body = request.body
    assert isinstance(body, ProduceRequest)
    partitions, expanded_bytes = len(body.topic_data), 0
    for topic in body.topic_data:
        partitions += len(topic.partition_data)
        if partitions > MAX_PARTITIONS_AT_ONCE:
            return True
        for data in topic.partition_data:
            expanded_bytes += expansion_of(data.records)
    return expanded_bytes > MAX_EXPANDED_AT_ONCE


def expansion_of(records: Part | None) -> int:
    """How many bytes the records become when they are decompressed: a bound, of a gzip batch what its trailer says.

    Of formats before v2, the codec of the first message counts for all.
    """
    if not isinstance(records, (memoryview, bytes, bytearray)) or len(records) <= CODEC_POSITION:
        return 0
    if records[MAGIC_POSITION] < MAGIC_V2:
        codec = records[_OLD_CODEC_POSITION] & CODEC_MASK
        return len(records) * _OLD_FORMATS_WEIGH * (EXPANSION.get(codec, 0) if codec else 1)
    codec = records[CODEC_POSITION] & CODEC_MASK
    if codec == _ZSTD:
        return zstd_bound(records, RECORD_BATCH_OVERHEAD, MAX_EXPANDED_AT_ONCE)
    if codec == _LZ4:
        return lz4_bound(records, RECORD_BATCH_OVERHEAD)
    if codec == _GZIP:
        return int.from_bytes(records[-4:], "little")
    return (len(records) - RECORD_BATCH_OVERHEAD) * EXPANSION.get(codec, 0)


def lz4_bound(data: memoryview | bytes | bytearray, begin: int) -> int:
    """How many bytes the lz4 frame at ``begin`` can become at most: a sum over its blocks, of which none is read.

    The frame's header says how large a block may be, 64 KB to 4 MB. Stops above ``MAX_EXPANDED_AT_ONCE``.
    """
    if bytes(data[begin : begin + 4]) != _LZ4_MAGIC or len(data) < begin + 7:
        return _UNKNOWN
    flags, block_bytes = data[begin + 4], 1 << (8 + 2 * (data[begin + 5] >> 4 & 7))
    position = begin + 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    bound = 0
    while bound <= MAX_EXPANDED_AT_ONCE:
        size = int.from_bytes(data[position : position + 4], "little")
        if not size or position >= len(data):
            return bound  # the end, or cut off: that is an error
        bound += block_bytes
        position += 4 + (size & 0x7FFF_FFFF) + (4 if flags & 0x10 else 0)
    return bound
