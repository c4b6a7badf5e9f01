"""Decodes strings that are not valid UTF-8: with replacement characters, as in Java, if the result fits into a string.

A replacement character has three bytes, so the text of a 32,767-byte string may become three times as long. A response
that names the topic or group could not be encoded, and neither could the record of an offset. Such a string is refused.

Kafka 0.10.2: clients/.../common/protocol/types/Type.java (STRING) · book 2.3.5
"""

from __future__ import annotations

import codecs

from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

REPLACE_OR_REFUSE = "kafka_lite.replace_or_refuse"
"""The ``errors`` argument of ``bytes.decode``. Only invalid UTF-8 costs anything."""


def replace_or_refuse(error: UnicodeError) -> tuple[str, int]:
    """The text from the first invalid byte on, and its end. Raises ``SchemaError``."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    text = error.object[error.start :].decode("utf-8", "replace")
    size = error.start + len(text.encode())
    if size > MAX_STRING_BYTES:
        raise SchemaError(
            f"a string of {len(error.object)} bytes is not valid UTF-8, and has {size} bytes once replaced"
        )
    return text, len(error.object)


codecs.register_error(REPLACE_OR_REFUSE, replace_or_refuse)
