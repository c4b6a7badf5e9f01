"""CRC-32C in Python alone, for a host without the package ``crc32c``, such as a page in a browser.

Kafka 0.11: clients/.../common/utils/PureJavaCrc32C.java · book 6.1.2

A CRC is the remainder of a division of the data, read as a polynomial over GF(2), by a generator polynomial. A table
has the remainder of each byte, so one look-up takes the division eight bits further::

    crc      ........ ........ ........ xxxxxxxx ─┐ xor
    data                                dddddddd ─┴─▶ number of the entry in the table
                                                      │
    crc      00000000 ........ ........ ........ ─┐   ▼
    table    ssssssss ssssssss ssssssss ssssssss ─┴─▶ the next crc
"""

from __future__ import annotations

from typing import Final

from kafka_lite.common.sendable import Buffer

CASTAGNOLI: Final = 0x82F63B78
"""The generator polynomial, with the lowest power in the highest bit."""
_ALL_BITS: Final = 0xFFFFFFFF


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ CASTAGNOLI if byte & 1 else byte >> 1
    return byte


_TABLE: Final = tuple(_remainder(byte) for byte in range(256))


def crc32c(data: Buffer, value: int = 0) -> int:
    """The checksum of ``data``, continuing from ``value``."""
    crc, table = value ^ _ALL_BITS, _TABLE
    for byte in memoryview(data).cast("B"):
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ALL_BITS
