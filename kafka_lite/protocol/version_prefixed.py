"""Messages with their version in front, because no header has it.

    version:int16 | message

Kafka 0.10.2: clients/.../clients/consumer/internals/ConsumerProtocol.java,
core/.../coordinator/GroupMetadataManager.scala · book 5.1.3
"""

from __future__ import annotations

import struct
from typing import TypeVar

from kafka_lite.common.sendable import Buffer
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError

M = TypeVar("M", bound=Message)

_VERSION = struct.Struct(">h")


def encode_with_version(message: Message, version: int) -> bytes:
    """The version, followed by the message. Raises ``SchemaError``."""
    return _VERSION.pack(version) + message.encode(version)


def read_version(buffer: Buffer) -> int:
    """The version in front, which may determine the kind of message. Raises ``SchemaError``."""
    if len(buffer) < _VERSION.size:
        raise SchemaError(f"{len(buffer)} bytes hold no version")
    version: int = _VERSION.unpack_from(buffer)[0]
    return version


def decode_with_version(message: type[M], buffer: Buffer, *, lenient: bool = False, as_version: int | None = None) -> M:
    """Read the version, then the message.

    ``lenient`` reads a later version as the latest known one, which is right for the consumer protocol, because it only
    ever adds fields at the end. For the same reason, ``as_version`` reads the message as an older version than it has,
    if later fields are not needed. Otherwise, and for invalid bytes, raises ``SchemaError``.
    """
    version = read_version(buffer)
    if lenient:
        version = min(version, message.VERSIONS.highest)
    if as_version is not None:
        version = as_version
    return message.decode_from(buffer, _VERSION.size, version)[0]
