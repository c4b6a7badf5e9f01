"""What the logs of each topic go by: the broker's defaults, and over them what a topic overrides.

Kafka 0.10.2: core/.../log/LogManager.scala (topicConfigs, defaultConfig); defaults that change: Kafka 1.1,
LogManager.reconfigureDefaultLogConfig · book 6.1.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.log_config import LogConfig


class OutdatedConfigError(KafkaError):
    """A topic has been altered since its configuration was read: read it again."""


class LogConfigs:
    """Topic -> its LogConfig. Both halves of it may change, one at a time, and neither loses the other::

        broker's defaults   retention.ms=604800000  segment.bytes=1073741824   set_default
        topic's overrides   retention.ms=3600000                               set_topic
        of(topic)           retention.ms=3600000    segment.bytes=1073741824

    Who changes something holds a lock; who asks needs none.
    """

    def __init__(self, default: LogConfig, topics: Mapping[str, LogConfig]) -> None:
        self.default = default
        """Of topics that override nothing, and what the others do not override."""
        self._topics = {topic: config for topic, config in topics.items() if config.overridden}
        self._alterations: Counter[str] = Counter()

    def of(self, topic: str) -> LogConfig:
        """What holds for a topic; the same object until something of it changes."""
        return self._topics.get(topic, self.default)

    def alterations(self, topic: str) -> int:
        """How many alterations of a topic have been heard of. Who reads its configuration asks for this first."""
        return self._alterations[topic]

    def alter_topic(self, topic: str, config: LogConfig) -> None:
        """An alteration of the topic has been heard of."""
        self._alterations[topic] += 1
        self.set_topic(topic, config)

    def set_topic(self, topic: str, config: LogConfig, alterations: int | None = None) -> None:
        """The overrides in ``config`` are the topic's now; its defaults may be those of a moment ago.

        ``alterations``: as many as there were when ``config`` was read. Raises OutdatedConfigError when there are more,
        for what has been heard of meanwhile must not be undone by what was read before it (KAFKA-8813).
        """
        if alterations not in (None, self._alterations[topic]):
            raise OutdatedConfigError(f"topic {topic} has been altered since its configuration was read")
        known = self._topics.get(topic)
        if not config.overridden:
            self._topics.pop(topic, None)
        elif known is None or known.overridden != config.overridden:
            self._topics[topic] = self._with_default(config)

    def set_default(self, default: LogConfig) -> None:
        """The broker's defaults are others now."""
        self.default = default
        self._topics = {topic: self._with_default(config) for topic, config in self._topics.items()}

    def _with_default(self, config: LogConfig) -> LogConfig:
        return LogConfig(config.overridden, self.default.values)
