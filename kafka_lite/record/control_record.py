"""Control records: the markers that the broker writes into a log to commit or abort a transaction.

Kafka 0.11: clients/.../common/record/ControlRecordType.java, EndTransactionMarker.java · book 10.3
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import InvalidRecordError, Record

_KEY = struct.Struct(">hh")
_END_TRANSACTION_VALUE = struct.Struct(">hi")
_VERSION = 0


class ControlRecordType(IntEnum):
    """The type of a control record. Readers skip types that they do not know."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1

    @classmethod
    def parse(cls, key: bytes | None) -> ControlRecordType:
        """The type in a control record's key; ``InvalidRecordError`` if there is none."""
        version, control_type = _unpack(_KEY, key)
        if version < 0:
            raise InvalidRecordError(f"Control record with key version {version}")
        return cls(control_type) if control_type in (cls.ABORT, cls.COMMIT) else cls.UNKNOWN


class EndTransactionMarker(NamedTuple):
    r"""The marker that ends a transaction.

    ::

        key    version I16 = 0 | type I16: 0 abort, 1 commit
        value  version I16 = 0 | coordinator epoch I32
    """

    control_type: ControlRecordType
    coordinator_epoch: int

    @classmethod
    def from_record(cls, record: Record) -> EndTransactionMarker:
        """The marker in a record of a control batch; ``InvalidRecordError`` if it is not a marker."""
        control_type = ControlRecordType.parse(record.key)
        if control_type is ControlRecordType.UNKNOWN:
            raise InvalidRecordError(f"Not an end-of-transaction marker: key {record.key!r}")
        version, coordinator_epoch = _unpack(_END_TRANSACTION_VALUE, record.value)
        if version < 0:
            raise InvalidRecordError(f"End-of-transaction marker of version {version}")
        return cls(control_type, coordinator_epoch)

    @property
    def key(self) -> bytes:
        """The record's key."""
        return _KEY.pack(_VERSION, self.control_type)

    @property
    def value(self) -> bytes:
        """The record's value."""
        return _END_TRANSACTION_VALUE.pack(_VERSION, self.coordinator_epoch)

    def to_batch(
        self,
        producer_id: int,
        producer_epoch: int,
        timestamp: int,
        *,
        base_offset: int = 0,
        partition_leader_epoch: int = -1,
    ) -> bytes:
        """The control batch that ends the transaction of a producer."""
        builder = MemoryRecordsBuilder(
            base_offset=base_offset,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_transactional=True,
            is_control=True,
            partition_leader_epoch=partition_leader_epoch,
        )
        builder.append(timestamp, self.key, self.value)
        return builder.build()


def _unpack(layout: struct.Struct, data: bytes | None) -> tuple[int, ...]:
    # Later versions may add fields at the end, so more bytes are allowed, and fewer are not.
    if data is None or len(data) < layout.size:
        raise InvalidRecordError(f"Control record with {data!r} where {layout.size} bytes are needed")
    return layout.unpack_from(data)
