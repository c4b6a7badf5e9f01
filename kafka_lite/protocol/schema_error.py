"""Errors of encoding and decoding messages.

Kafka 0.10.2: clients/.../common/protocol/types/SchemaException.java · book 2.3.2
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import KafkaError


class SchemaError(KafkaError):
    """Bytes that are no message of the schema, or a message that cannot be encoded.

    The broker responds by closing the connection: after an unreadable frame, nothing on it can be trusted.
    """


class UnsupportedVersionError(SchemaError):
    """An API key or version without a schema, or a field that is set but does not exist in the version.

    ``header`` is the request header if it could be read. An ApiVersions request of an unknown version gets a response
    (error 35 in the layout of version 0); for any other, the connection is closed.
    """

    def __init__(self, message: str, header: Any = None) -> None:
        super().__init__(message)
        self.header = header
