"""Decides which settings of a topic its copy gets.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConnector.java (targetConfig, incrementalAlterConfigs) ·
book 8.1.1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_lite.mirror.connectors.filters import ConfigPropertyFilter

SERVER_PROPERTIES, DEFAULT = 4, 5
"""Sources of a value: the broker's file, and nobody. A value of the topic's own has 1."""


class ConfigEntry(NamedTuple):
    """A setting of a topic, as a broker describes it."""

    name: str
    value: str | None
    source: int
    is_read_only: bool = False
    is_sensitive: bool = False

    @property
    def is_default(self) -> bool:
        """Whether neither the topic nor its broker sets it."""
        return self.source == DEFAULT


def configs_to_create(entries: Iterable[ConfigEntry], chosen: ConfigPropertyFilter) -> dict[str, str]:
    """The settings with which a copy is created."""
    return {
        each.name: each.value
        for each in _copied(entries, chosen)
        if each.value is not None and (not each.is_default or chosen.should_replicate_source_default())
    }


def configs_to_alter(entries: Iterable[ConfigEntry], chosen: ConfigPropertyFilter) -> dict[str, str | None]:
    """The settings of a copy that is there: None for one that is to be deleted, so that the target's default holds."""
    keeps_defaults = chosen.should_replicate_source_default()
    return {
        each.name: each.value if keeps_defaults or not each.is_default else None for each in _copied(entries, chosen)
    }


def _copied(entries: Iterable[ConfigEntry], chosen: ConfigPropertyFilter) -> Iterable[ConfigEntry]:
    for each in entries:
        is_the_topics = each.source != SERVER_PROPERTIES and not each.is_read_only and not each.is_sensitive
        if is_the_topics and chosen.should_replicate_config_property(each.name):
            yield each
