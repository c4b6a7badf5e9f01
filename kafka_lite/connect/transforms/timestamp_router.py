"""Appends a record's time to its topic.

Kafka 0.10.2: connect/transforms/.../connect/transforms/TimestampRouter.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type
from kafka_lite.common.java.simple_date_format import SimpleDateFormat
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R, Transformation

CONFIG = (
    ConfigDef()
    .define(
        "topic.format",
        Type.STRING,
        "${topic}-${timestamp}",
        Importance.HIGH,
        "Format string which can contain <code>${topic}</code> and <code>${timestamp}</code> as placeholders for the "
        "topic and timestamp, respectively.",
    )
    .define(
        "timestamp.format",
        Type.STRING,
        "yyyyMMdd",
        Importance.HIGH,
        "Format string for the timestamp that is compatible with <code>java.text.SimpleDateFormat</code>.",
    )
)


class TimestampRouter(Transformation):
    """A sink often makes a table or an index of each topic: this gives one per day, in UTC."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError for a pattern that is not one."""
        parsed = CONFIG.parse(configs)
        self._topic_format: str = parsed["topic.format"]
        try:
            self._timestamp_format = SimpleDateFormat(parsed["timestamp.format"])
        except ValueError as error:
            raise ConfigError("timestamp.format", parsed["timestamp.format"], str(error)) from error

    def apply(self, record: R) -> R:
        """Change the topic. Raises DataError for a record without a timestamp."""
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record: {record}")
        try:
            text = self._timestamp_format.format(record.timestamp)
        except ValueError as error:
            raise DataError(f"The timestamp of a record cannot be formatted: {error}") from error
        topic = self._topic_format.replace("${topic}", record.topic).replace("${timestamp}", text)
        return record.new_record(topic=topic)
