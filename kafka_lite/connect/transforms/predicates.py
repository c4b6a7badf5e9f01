"""Conditions for transformations: a transformation of a connector may name one.

Kafka 2.6: connect/transforms/.../connect/transforms/predicates · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, Importance, Type
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.transformation import Predicate
from kafka_lite.connect.transforms.regex_router import RegexValidator


class TopicNameMatches(Predicate):
    """True of a record whose topic matches ``pattern`` as a whole."""

    CONFIG = ConfigDef().define(
        "pattern",
        Type.STRING,
        NO_DEFAULT,
        Importance.MEDIUM,
        "A Java regular expression for matching against the name of a record's topic.",
        RegexValidator(),
    )

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return self.CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError for a pattern that is not one."""
        self._pattern = java_pattern(self.CONFIG.parse(configs)["pattern"])

    def test(self, record: ConnectRecord) -> bool:
        """Whether the topic matches."""
        return self._pattern.fullmatch(record.topic) is not None


class HasHeaderKey(Predicate):
    """True of a record with a header of the name ``name``."""

    CONFIG = ConfigDef().define("name", Type.STRING, NO_DEFAULT, Importance.MEDIUM, "The header name.", NON_EMPTY)

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return self.CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._name: str = self.CONFIG.parse(configs)["name"]

    def test(self, record: ConnectRecord) -> bool:
        """Whether there is such a header."""
        return record.headers.last_with_name(self._name) is not None


class RecordIsTombstone(Predicate):
    """True of a record without a value."""

    def test(self, record: ConnectRecord) -> bool:
        """Whether the value is missing."""
        return record.value is None
