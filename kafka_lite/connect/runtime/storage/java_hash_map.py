"""A map of byte arrays as Java serializes it: the format of a standalone worker's offset file.

Kafka 0.10.2: java.util.HashMap and java.io.ObjectOutputStream, called by FileOffsetBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from kafka_lite.common.errors import KafkaError

STREAM = bytes.fromhex("aced0005")
"""The magic number of Java's streams and their version, 5."""
_HASH_MAP = (
    b"\x73\x72\x00\x11java.util.HashMap" + bytes.fromhex("0507dac1c31660d103")
    + b"\x00\x02F\x00\x0aloadFactorI\x00\x09threshold" + b"\x78\x70"
)  # fmt: skip
_BYTES_CLASS = b"\x72\x00\x02[B" + bytes.fromhex("acf317f8060854e00200007870")
_BYTES_CLASS_AGAIN = bytes.fromhex("71007e0002")
_ARRAY, _NULL, _BLOCK_OF_8, _END = b"\x75", b"\x70", b"\x77\x08", b"\x78"
_LOAD_FACTOR = 0.75
_MIN_CAPACITY = 16
_SIZES = struct.Struct(">fi2sii")


class JavaStreamError(KafkaError):
    """Bytes that are not a serialized map of byte arrays."""


def dump(entries: Mapping[bytes | None, bytes | None]) -> bytes:
    """Serialize a map.

    ::

        STREAM  object  class description of HashMap, with its fields
                loadFactor:float32  threshold:int32
                block of 8 bytes: capacity:int32  size:int32
                size × { key  value }
                end

        key, value:  70 (null)  or  75  class  length:int32  bytes
        class:       72 "[B" … the first time,  71 007e0002 (a reference to that) later

    Java ignores capacity and threshold when it reads, but they have to be plausible.
    """
    capacity = _MIN_CAPACITY
    while len(entries) > capacity * _LOAD_FACTOR:
        capacity *= 2
    threshold = int(capacity * _LOAD_FACTOR)
    parts = [STREAM, _HASH_MAP, _SIZES.pack(_LOAD_FACTOR, threshold, _BLOCK_OF_8, capacity, len(entries))]
    class_of_bytes = _BYTES_CLASS
    for value in (each for entry in entries.items() for each in entry):
        if value is None:
            parts.append(_NULL)
        else:
            parts += [_ARRAY, class_of_bytes, struct.pack(">i", len(value)), value]
            class_of_bytes = _BYTES_CLASS_AGAIN
    return b"".join([*parts, _END])


def load(data: bytes) -> dict[bytes | None, bytes | None]:
    """Read a serialized map. Raises JavaStreamError, and EOFError if the bytes end too early."""
    reader = _Reader(data)
    reader.expect(STREAM, "a Java stream")
    reader.expect(_HASH_MAP, "a HashMap")
    _, _, block, _, size = _SIZES.unpack(reader.take(_SIZES.size))
    if block != _BLOCK_OF_8 or size < 0:
        raise JavaStreamError(f"a HashMap of {size} entries")
    entries = {}
    for _ in range(size):
        key = reader.byte_array()
        entries[key] = reader.byte_array()
    reader.expect(_END, "the end of the HashMap")
    return entries


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise EOFError(f"the map ends after {len(self._data)} bytes, {end} are needed")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def expect(self, expected: bytes, what: str) -> None:
        found = self.take(len(expected))
        if found != expected:
            raise JavaStreamError(f"expected {what} at byte {self._position - len(found)}, found {found.hex()}")

    def byte_array(self) -> bytes | None:
        kind = self.take(1)
        if kind == _NULL:
            return None
        if kind != _ARRAY:
            raise JavaStreamError(f"expected a byte array at byte {self._position - 1}, found {kind.hex()}")
        first = self._data.startswith(_BYTES_CLASS[:1], self._position)
        self.expect(_BYTES_CLASS if first else _BYTES_CLASS_AGAIN, "the class of byte arrays")
        (length,) = struct.unpack(">i", self.take(4))
        if length < 0:
            raise JavaStreamError(f"a byte array of {length} bytes")
        return self.take(length)
