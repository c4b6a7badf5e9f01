"""The errors of Helix.

Helix 0.6.9: helix-core/.../HelixException.java · book 8.2.1
"""

from __future__ import annotations

from kafka_lite.common.errors import KafkaError


class HelixError(KafkaError):
    """The base class of the errors of Helix. Helix: HelixException."""


class UnreadableRecordError(HelixError):
    """Bytes that are no ZNRecord for Helix: no JSON, no object of its fields, or with an unknown property."""


class RecordTooLargeError(HelixError):
    """A record that is over ZooKeeper's limit even when it is compressed. Nothing is written."""
