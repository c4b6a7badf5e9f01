"""What the logs of each topic go by: the broker's defaults, and over them what a topic overrides.

Kafka 0.10.2: core/.../log/LogManager.scala (topicConfigs, defaultConfig); defaults that change: Kafka 1.1,
LogManager.reconfigureDefaultLogConfig · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.log.log_config import LogConfig


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

    def of(self, topic: str) -> LogConfig:
        """What holds for a topic; the same object until something of it changes."""
        return self._topics.get(topic, self.default)

    def set_topic(self, topic: str, config: LogConfig) -> None:
        """The overrides in ``config`` are the topic's now; its defaults may be those of a moment ago."""
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
