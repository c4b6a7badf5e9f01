"""The broker keys that are the defaults of topic keys.

Kafka 0.10.2: core/.../log/LogConfig.scala, KafkaServer.copyKafkaConfigToLog; as a table: Kafka 3.9's
ServerTopicConfigSynonyms · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MS_PER_MINUTE = 60_000
MS_PER_HOUR = 60 * MS_PER_MINUTE


@dataclass(frozen=True)
class ConfigSynonym:
    """A broker key, and the factor that converts its value into the topic key's (1: unchanged)."""

    name: str
    factor: int = 1

    def convert(self, value: Any) -> Any:
        """The broker key's value in the topic key's unit; negative (no limit) stays -1."""
        if self.factor == 1:
            return value
        return -1 if value < 0 else value * self.factor


def _same(name: str) -> tuple[ConfigSynonym, ...]:
    return (ConfigSynonym(name),)


TOPIC_CONFIG_SYNONYMS: dict[str, tuple[ConfigSynonym, ...]] = {
    "segment.bytes": _same("log.segment.bytes"),
    "segment.ms": (ConfigSynonym("log.roll.ms"), ConfigSynonym("log.roll.hours", MS_PER_HOUR)),
    "segment.jitter.ms": (ConfigSynonym("log.roll.jitter.ms"), ConfigSynonym("log.roll.jitter.hours", MS_PER_HOUR)),
    "segment.index.bytes": _same("log.index.size.max.bytes"),
    "flush.messages": _same("log.flush.interval.messages"),
    "flush.ms": (ConfigSynonym("log.flush.interval.ms"), ConfigSynonym("log.flush.scheduler.interval.ms")),
    "retention.bytes": _same("log.retention.bytes"),
    "retention.ms": (
        ConfigSynonym("log.retention.ms"),
        ConfigSynonym("log.retention.minutes", MS_PER_MINUTE),
        ConfigSynonym("log.retention.hours", MS_PER_HOUR),
    ),
    "max.message.bytes": _same("message.max.bytes"),
    "index.interval.bytes": _same("log.index.interval.bytes"),
    "delete.retention.ms": _same("log.cleaner.delete.retention.ms"),
    "min.compaction.lag.ms": _same("log.cleaner.min.compaction.lag.ms"),
    "max.compaction.lag.ms": _same("log.cleaner.max.compaction.lag.ms"),
    "file.delete.delay.ms": _same("log.segment.delete.delay.ms"),
    "min.cleanable.dirty.ratio": _same("log.cleaner.min.cleanable.ratio"),
    "cleanup.policy": _same("log.cleanup.policy"),
    "unclean.leader.election.enable": _same("unclean.leader.election.enable"),
    "min.insync.replicas": _same("min.insync.replicas"),
    "compression.type": _same("compression.type"),
    "preallocate": _same("log.preallocate"),
    "message.format.version": _same("log.message.format.version"),
    "message.timestamp.type": _same("log.message.timestamp.type"),
    "message.timestamp.difference.max.ms": _same("log.message.timestamp.difference.max.ms"),
    "message.timestamp.before.max.ms": _same("log.message.timestamp.before.max.ms"),
    "message.timestamp.after.max.ms": _same("log.message.timestamp.after.max.ms"),
    "message.downconversion.enable": _same("log.message.downconversion.enable"),
}
"""Topic key -> broker keys. The first one that is set wins, and the last one always has a value."""


def effective(topic_key: str, lookup: Callable[[str], Any]) -> Any:
    """The default of a topic key. ``lookup`` returns the value of a broker key, or None if it is not set."""
    for synonym in TOPIC_CONFIG_SYNONYMS[topic_key]:
        if (value := lookup(synonym.name)) is not None:
            return synonym.convert(value)
    return None


def log_config_map(broker_values: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of all topic keys on a broker with these (parsed) values."""
    return {topic_key: effective(topic_key, broker_values.get) for topic_key in TOPIC_CONFIG_SYNONYMS}
