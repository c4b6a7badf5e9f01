"""What goes wrong between bytes and messages.

Kafka 0.10.2: clients/.../common/protocol/types/SchemaException.java · book 2.3.2
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import KafkaError


class SchemaError(KafkaError):
    """Bytes that are no message of the schema, or a message that the schema has no bytes for.

    A broker answers with a closed connection: once a frame cannot be read, nothing after it can be trusted.
    """


class UnsupportedVersionError(SchemaError):
    """An API key or a version that no schema here describes, or a field set that its version cannot carry.

    ``header`` is the request header where it could be read all the same: an ApiVersions request of a version from the
    future deserves an answer (error 35 in the layout of version 0), anything else a closed connection.
    """

    def __init__(self, message: str, header: Any = None) -> None:
        super().__init__(message)
        self.header = header
