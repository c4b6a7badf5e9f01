"""The configurations of all topics: the broker's defaults, and the overrides of each topic.

Kafka 0.10.2: core/.../log/LogManager.scala (topicConfigs, defaultConfig); defaults that change: Kafka 1.1,
LogManager.reconfigureDefaultLogConfig · book 6.1.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.log_config import LogConfig


class OutdatedConfigError(KafkaError):
    """A topic has been altered since its configuration was read; it must be read again."""


class LogConfigs:
    """Map from a topic to its LogConfig. Defaults and overrides change independently of each other::

        broker's defaults   retention.ms=604800000  segment.bytes=1073741824   set_default
        topic's overrides   retention.ms=3600000                               set_topic
        of(topic)           retention.ms=3600000    segment.bytes=1073741824

    A caller that changes something holds a lock; readers need none.
    """

    def __init__(self, default: LogConfig, topics: Mapping[str, LogConfig]) -> None:
        self.default = default
        """For topics without overrides, and for the keys that the others do not override."""
        self._topics = {topic: config for topic, config in topics.items() if config.overridden}
        self._alterations: Counter[str] = Counter()

    def of(self, topic: str) -> LogConfig:
        """The configuration of a topic; the same object until part of it changes."""
        return self._topics.get(topic, self.default)

    def alterations(self, topic: str) -> int:
        """Number of alterations of a topic received so far. Get it before reading the topic's configuration."""
        return self._alterations[topic]

    def alter_topic(self, topic: str, config: LogConfig) -> None:
        """Record an alteration of the topic and apply it."""
        self._alterations[topic] += 1
        self.set_topic(topic, config)

    def set_topic(self, topic: str, config: LogConfig, alterations: int | None = None) -> None:
        """Set the topic's overrides to those in ``config``; the defaults in ``config`` may be outdated and are ignored.

        ``alterations`` is the number of alterations when ``config`` was read. Raises OutdatedConfigError if there are
        more by now: an older configuration must not undo a later alteration (KAFKA-8813).
        """
        if alterations not in (None, self._alterations[topic]):
            raise OutdatedConfigError(f"topic {topic} has been altered since its configuration was read")
        known = self._topics.get(topic)
        if not config.overridden:
            self._topics.pop(topic, None)
        elif known is None or known.overridden != config.overridden:
            self._topics[topic] = self._with_default(config)

    def set_default(self, default: LogConfig) -> None:
        """Change the broker's defaults in all configurations."""
        self.default = default
        self._topics = {topic: self._with_default(config) for topic, config in self._topics.items()}

    def _with_default(self, config: LogConfig) -> LogConfig:
        return LogConfig(config.overridden, self.default.values)
