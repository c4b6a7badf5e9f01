"""The entries of a segment's transaction index: aborted transactions, which consumers skip.

Kafka 0.11: core/.../log/TransactionIndex.scala (AbortedTxn) · book 10.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple, Self

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.sendable import Buffer

CURRENT_VERSION = 0

_ENTRY = struct.Struct(">hqqqq")
ENTRY_SIZE = _ENTRY.size


class AbortedTxn(NamedTuple):
    """One aborted transaction.

    ::

        version I16 (0) | producer id I64 | first offset I64 | last offset I64 | last stable offset I64     34 bytes

    ``last_offset`` is that of the marker. Entries are ordered by marker. The last stable offset at the time of the
    marker tells a reader where to stop: transactions that begin after its fetch have no entries before that one.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def encode(self) -> bytes:
        """Encode in the current version."""
        return _ENTRY.pack(CURRENT_VERSION, *self)

    @classmethod
    def read_all(cls, data: Buffer) -> Iterator[Self]:
        """Yield the entries of an index, except for a torn last one. Raises KafkaError for another version."""
        for position in range(0, len(data) - _ENTRY.size + 1, _ENTRY.size):
            version, *fields = _ENTRY.unpack_from(data, position)
            if version > CURRENT_VERSION:
                raise KafkaError(f"Unexpected aborted transaction version {version}, current version is 0")
            yield cls(*fields)
