"""The offset map in bounded memory: a hash table of hashes.

Kafka 0.10.2: core/.../log/OffsetMap.scala (SkimpyOffsetMap); since 3.5 SkimpyOffsetMap.java · book 6.1.6
"""

from __future__ import annotations

import hashlib
import mmap
import struct

from kafka_lite.common.sendable import Buffer
from kafka_lite.log.cleaning.offset_map import OffsetMap


class SkimpyOffsetMap(OffsetMap):
    r"""An open-addressing hash table in one block of memory; each slot stores the hash of a key instead of the key.

    ::

        slot 0                     slot 1                     slot 2
        +------------+-----------+ +------------+-----------+ +------------+-----------+
        | MD5 of key | offset    | | zeros: the slot is     | | MD5 of key | offset    |  ...
        | 16 bytes   | I64       | | empty                  | |            |           |
        +------------+-----------+ +------------+-----------+ +------------+-----------+

    So a key takes 24 bytes however long it is, and 128 MiB hold five million keys. Two keys with the same hash would be
    taken for one; with 128 bits that does not happen in practice.

    A key's hash determines its *probes*, the slots where it may be. Bytes 0-3, 1-4, 2-5 ... up to the last four, each
    read as a number, give one slot each; if other keys occupy all of these, the slots after the last one follow one by
    one. A lookup ends at the key's slot or at the first empty one. Keys cannot be removed individually (a gap would
    hide the keys after it); the table can only be cleared.

    The memory is mapped: the kernel provides zeroed pages when they are first written to.
    """

    SLOT = struct.Struct(">16sq")

    def __init__(self, memory_bytes: int) -> None:
        """Create a map with as many slots as fit in ``memory_bytes``. Raises ValueError if not even one fits."""
        self._slots = memory_bytes // self.SLOT.size
        if self._slots < 1:
            raise ValueError(f"{memory_bytes} bytes cannot hold a slot of {self.SLOT.size} bytes")
        self._memory = self._new_memory()
        self._entries = 0
        self._latest_offset = -1
        self._lookups = self._probes = 0

    @property
    def slots(self) -> int:
        """Number of slots; the table becomes slow long before it is full."""
        return self._slots

    @property
    def size(self) -> int:
        """Number of keys in the map."""
        return self._entries

    @property
    def latest_offset(self) -> int:
        """The offset that was put last, or a later value from ``update_latest_offset``."""
        return self._latest_offset

    @property
    def collision_rate(self) -> float:
        """Average number of probes beyond the first per lookup."""
        return (self._probes - self._lookups) / self._lookups if self._lookups else 0.0

    def put(self, key: Buffer, offset: int) -> None:
        """Set the offset of a key. Raises ValueError if all slots are taken, even if this key has one of them."""
        if self._entries >= self._slots:
            raise ValueError(f"the offset map is full: all {self._slots} slots are taken")
        key_hash = self._hash(key)
        position = self._find(key_hash)
        if self._is_empty(position):
            self._entries += 1
        self.SLOT.pack_into(self._memory, position, key_hash, offset)
        self._latest_offset = offset

    def get(self, key: Buffer) -> int:
        """Return the offset of a key, or -1 if it is not in the map."""
        key_hash = self._hash(key)
        position = self._find(key_hash)
        if position < 0:
            return -1
        found, offset = self.SLOT.unpack_from(self._memory, position)
        return int(offset) if found == key_hash else -1

    def update_latest_offset(self, offset: int) -> None:
        """Extend the covered range to this offset."""
        self._latest_offset = offset

    def clear(self) -> None:
        """Remove all keys and return the memory to the kernel until it is written to again."""
        self._memory.close()
        self._memory = self._new_memory()
        self._entries = 0
        self._latest_offset = -1
        self._lookups = self._probes = 0

    def close(self) -> None:
        """Free the memory; the map cannot be used afterwards."""
        self._memory.close()

    def _new_memory(self) -> mmap.mmap:
        return mmap.mmap(-1, self._slots * self.SLOT.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    # -- slots -------------------------------------------------------------------------------------------------------

    @staticmethod
    def _hash(key: Buffer) -> bytes:
        """The 16-byte hash of a key. MD5 because it is fast; resistance to deliberate collisions is not needed here."""
        return hashlib.md5(key, usedforsecurity=False).digest()

    def _position_of(self, key_hash: bytes, attempt: int) -> int:
        """Byte position of the slot of probe number ``attempt`` (from 0)."""
        last_window = len(key_hash) - 4
        window = min(attempt, last_window)
        number = int.from_bytes(key_hash[window : window + 4], "big") + max(0, attempt - last_window)
        return number % self._slots * self.SLOT.size

    def _find(self, key_hash: bytes) -> int:
        """Position of the slot with this hash, or of the empty slot where it belongs; -1 if there is neither."""
        self._lookups += 1
        # One probe for each window of four bytes in the hash, then every slot once.
        for attempt in range(len(key_hash) - 4 + self._slots):
            self._probes += 1
            position = self._position_of(key_hash, attempt)
            if self._memory[position : position + 16] == key_hash or self._is_empty(position):
                return position
        return -1

    def _is_empty(self, position: int) -> bool:
        """Whether the slot at ``position`` is empty."""
        return self._memory[position : position + 24] == _EMPTY


_EMPTY = bytes(SkimpyOffsetMap.SLOT.size)
