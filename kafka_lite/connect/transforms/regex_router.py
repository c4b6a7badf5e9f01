"""Changes a topic by a regular expression.

Kafka 0.10.2: connect/transforms/.../connect/transforms/RegexRouter.java, util/RegexValidator.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Importance, Type
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.java.java_replacement import java_replacement
from kafka_lite.connect.api.transformation import R, Transformation


class RegexValidator:
    """Checks a pattern in Java's syntax."""

    def ensure_valid(self, name: str, value: str) -> None:
        """Raise ConfigError if it is not one."""
        try:
            java_pattern(value)
        except JavaPatternError as error:
            raise ConfigError(name, value, f"Invalid regex: {error}") from error

    def __str__(self) -> str:
        return "valid regex"


CONFIG = (
    ConfigDef()
    .define(
        "regex", Type.STRING, NO_DEFAULT, Importance.HIGH, "Regular expression to use for matching.", RegexValidator()
    )
    .define("replacement", Type.STRING, NO_DEFAULT, Importance.HIGH, "Replacement string.")
)


class RegexRouter(Transformation):
    """A topic that ``regex`` matches as a whole becomes ``replacement``, in which ``$1`` is the first group."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError for a group that the pattern has not."""
        parsed = CONFIG.parse(configs)
        self._regex = java_pattern(parsed["regex"])
        try:
            self._replacement = java_replacement(parsed["replacement"], self._regex)
        except JavaPatternError as error:
            raise ConfigError("replacement", parsed["replacement"], str(error)) from error

    def apply(self, record: R) -> R:
        """Change the topic, if it matches."""
        if self._regex.fullmatch(record.topic) is None:
            return record
        return record.new_record(topic=self._regex.sub(self._replacement, record.topic, count=1))
