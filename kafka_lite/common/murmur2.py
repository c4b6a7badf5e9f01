"""The hash that maps equal keys to the same partition, whichever client produced them.

Kafka 0.10.2: clients/.../common/utils/Utils.java (murmur2) · book 2.1.1
"""

from __future__ import annotations

import struct

SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Hash to 32 bits, as a signed integer like Java's: every Kafka client must compute the same hash."""
    length = len(data)
    h = (SEED ^ length) & _MASK
    whole = length & ~3
    for k in struct.unpack_from(f"<{whole // 4}I", data):
        k = k * _M & _MASK
        k ^= k >> 24
        h = (h * _M & _MASK) ^ (k * _M & _MASK)
    if length != whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h ^= h >> 13
    h = h * _M & _MASK
    h ^= h >> 15
    return h - (1 << 32) if h & 0x80000000 else h


def to_positive(number: int) -> int:
    """Clear the sign bit. Not the absolute value: that of -2**31 would still be negative in 32 bits."""
    return number & 0x7FFFFFFF
