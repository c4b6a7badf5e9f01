"""What becomes of a string that is no UTF-8: replacement characters, as in Java, as long as the text can be sent back.

Each replacement character has three bytes, so a string of 32,767 bytes may become a text of three times as many. An
answer that names the topic or the group would have no bytes, nor would the record of an offset: such a string is none.

Kafka 0.10.2: clients/.../common/protocol/types/Type.java (STRING) · book 2.3.5
"""

from __future__ import annotations

import codecs

from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

REPLACE_OR_REFUSE = "kafka_lite.replace_or_refuse"
"""What to name as ``errors`` of ``bytes.decode``. Only bytes that are no UTF-8 cost anything."""


def replace_or_refuse(error: UnicodeError) -> tuple[str, int]:
    """The text of all bytes from the first bad one on, and where they end. Raises ``SchemaError``."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    text = error.object[error.start :].decode("utf-8", "replace")
    size = error.start + len(text.encode())
    if size > MAX_STRING_BYTES:
        raise SchemaError(f"a string of {len(error.object)} bytes is no UTF-8, and one of {size} bytes when replaced")
    return text, len(error.object)


codecs.register_error(REPLACE_OR_REFUSE, replace_or_refuse)
