"""A decoded record of any format, and the errors that reading one can raise.

Kafka 0.10.2: clients/.../common/record/Record.java, TimestampType.java · book 10.2
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from kafka_lite.common.errors import ApiError, Errors

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_PARTITION_LEADER_EPOCH: Final = -1

MAGIC_V0: Final = 0  # 0.8, 0.9: no timestamps
MAGIC_V1: Final = 1  # 0.10: timestamps, relative offsets inside compressed messages
MAGIC_V2: Final = 2  # 0.11 and later: batches, headers, producer ids
CURRENT_MAGIC = MAGIC_V2


class TimestampType(IntEnum):
    """Whether the client or the broker set a record's timestamp; the value is that of the bit in the attributes."""

    NO_TIMESTAMP_TYPE = -1  # format v0 has none
    CREATE_TIME = 0  # the producer
    LOG_APPEND_TIME = 1  # the broker, when it appended

    @classmethod
    def for_name(cls, name: str) -> TimestampType:
        """The type of a ``message.timestamp.type`` value; ``ValueError`` for any other name."""
        for timestamp_type, known in ((cls.CREATE_TIME, "CreateTime"), (cls.LOG_APPEND_TIME, "LogAppendTime")):
            if name == known:
                return timestamp_type
        raise ValueError(f"Invalid timestamp type {name!r}: CreateTime and LogAppendTime are valid")


# Looked up once, for code that runs on every append: in Python 3.11, looking up an enum member costs as much as a call.
CREATE_TIME: Final = TimestampType.CREATE_TIME
LOG_APPEND_TIME: Final = TimestampType.LOG_APPEND_TIME


class Header(NamedTuple):
    """A header of a record of format v2."""

    key: str
    value: bytes | None


class Record(NamedTuple):
    """One record, decoded.

    ``offset`` is absolute, ``timestamp`` in ms since the epoch (-1: none); a ``value`` of None is a tombstone.
    """

    offset: int
    timestamp: int
    timestamp_type: TimestampType
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class CorruptRecordError(ApiError):
    """The bytes were damaged: wrong checksum, impossible length, data that the codec cannot read."""

    def __init__(self, message: str) -> None:
        super().__init__(Errors.CORRUPT_MESSAGE, message)


class InvalidRecordError(ApiError):
    """The bytes are intact, but the producer broke a rule of the format."""

    def __init__(self, message: str) -> None:
        super().__init__(Errors.INVALID_RECORD, message)
