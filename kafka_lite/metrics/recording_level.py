"""The recording level of sensors.

Kafka 0.10.2: clients/.../common/metrics/Sensor.java (RecordingLevel) · book 10.1
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.common.errors import KafkaError


class RecordingLevel(Enum):
    """The level of a sensor: DEBUG sensors record only if ``metrics.recording.level`` is DEBUG."""

    INFO = "INFO"
    DEBUG = "DEBUG"

    @classmethod
    def for_name(cls, name: str) -> RecordingLevel:
        """Look up a level by name, ignoring case. Raises KafkaError."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise KafkaError(f"metrics.recording.level={name}: must be INFO or DEBUG") from None

    def should_record(self, configured: RecordingLevel) -> bool:
        """Whether a sensor of this level records under the ``configured`` level."""
        return self is RecordingLevel.INFO or configured is RecordingLevel.DEBUG
