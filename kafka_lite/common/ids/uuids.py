"""UUIDs as Kafka draws and writes them: the ids of topics and of the cluster.

Kafka 2.8: clients/.../common/Uuid.java; 0.10.2: core/.../server/KafkaServer.scala (getOrGenerateClusterId)
· book 7.1.3
"""

from __future__ import annotations

import base64
import uuid

ZERO_UUID = uuid.UUID(int=0)
"""No id: in a message, the id of a topic that has none."""
RESERVED = frozenset({ZERO_UUID, uuid.UUID(int=1)})
"""Zero, and the id of the topic in which KRaft keeps its metadata. ``random_uuid`` never returns them."""


def random_uuid() -> uuid.UUID:
    """Draw an id; one with a leading dash is avoided, because tools take ids as command line arguments."""
    while (drawn := uuid.uuid4()) in RESERVED or encode_uuid(drawn).startswith("-"):
        pass
    return drawn


def encode_uuid(value: uuid.UUID) -> str:
    """Format an id as Kafka does: URL-safe base 64 without padding, 22 characters."""
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def decode_uuid(text: str) -> uuid.UUID:
    """Parse the 22 characters. Raises ValueError."""
    return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))
