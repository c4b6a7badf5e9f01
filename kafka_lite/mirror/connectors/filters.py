"""Filters topics, groups and settings to mirror: names, by lists of regular expressions.

Kafka 2.4: connect/mirror/.../connect/mirror/DefaultTopicFilter.java, DefaultGroupFilter.java,
DefaultConfigPropertyFilter.java, TopicFilter.java, GroupFilter.java, ConfigPropertyFilter.java · book 8.1.1
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import Check, ConfigDef, Importance, Type, ValidString
from kafka_lite.mirror.connectors.named_class import JAVA, NamedClass, javas

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
TOPICS, TOPICS_EXCLUDE, TOPICS_BLACKLIST = "topics", "topics.exclude", "topics.blacklist"
GROUPS, GROUPS_EXCLUDE, GROUPS_BLACKLIST = "groups", "groups.exclude", "groups.blacklist"
CONFIG_PROPERTIES_EXCLUDE = "config.properties.exclude"
CONFIG_PROPERTIES_BLACKLIST = "config.properties.blacklist"
USE_DEFAULTS_FROM = "use.defaults.from"
TOPICS_NOT_COPIED = r".*[\-\.]internal, .*\.replica, __.*"
GROUPS_NOT_COPIED = "console-consumer-.*, connect-.*, __.*"
CONFIGS_NOT_COPIED = (
    r"follower\.replication\.throttled\.replicas, leader\.replication\.throttled\.replicas, "
    r"message\.timestamp\.difference\.max\.ms, message\.timestamp\.type, unclean\.leader\.election\.enable, "
    r"min\.insync\.replicas"
)


def _are_patterns(patterns: Sequence[str]) -> bool:
    try:
        re.compile("|".join(patterns))
    except re.error:
        return False
    return True


PATTERNS = Check(_are_patterns, "names or regular expressions, separated by commas")

# fmt: off
TOPIC_FILTER_CONFIG = (
    ConfigDef()
    .define(TOPICS, Type.LIST, ".*", HIGH, "The topics to copy: names and regular expressions.", PATTERNS)
    .define(TOPICS_EXCLUDE, Type.LIST, TOPICS_NOT_COPIED, HIGH, "Topics of these that are not copied.", PATTERNS)
    .define(TOPICS_BLACKLIST, Type.LIST, None, HIGH, f"The old name of {TOPICS_EXCLUDE}.", PATTERNS)
)
GROUP_FILTER_CONFIG = (
    ConfigDef()
    .define(GROUPS, Type.LIST, ".*", HIGH, "The groups whose offsets are translated.", PATTERNS)
    .define(GROUPS_EXCLUDE, Type.LIST, GROUPS_NOT_COPIED, HIGH, "Groups of these that are left out.", PATTERNS)
    .define(GROUPS_BLACKLIST, Type.LIST, None, HIGH, f"The old name of {GROUPS_EXCLUDE}.", PATTERNS)
)
CONFIG_PROPERTY_FILTER_CONFIG = (
    ConfigDef()
    .define(CONFIG_PROPERTIES_EXCLUDE, Type.LIST, CONFIGS_NOT_COPIED, HIGH,
            "Settings of topics that are not copied.", PATTERNS)
    .define(CONFIG_PROPERTIES_BLACKLIST, Type.LIST, None, HIGH,
            f"The old name of {CONFIG_PROPERTIES_EXCLUDE}.", PATTERNS)
    .define(USE_DEFAULTS_FROM, Type.STRING, "target", MEDIUM,
            "The cluster whose default a topic has if it sets nothing itself.", ValidString.in_("source", "target"))
)
# fmt: on


class TopicFilter(ABC):
    """Chooses topics. A class of yours is created with the connector's properties."""

    @abstractmethod
    def should_replicate_topic(self, topic: str) -> bool:
        """Whether it is copied."""


class GroupFilter(ABC):
    """Chooses groups, likewise."""

    @abstractmethod
    def should_replicate_group(self, group: str) -> bool:
        """Whether its offsets are translated."""


class ConfigPropertyFilter(ABC):
    """Chooses settings of topics, likewise."""

    @abstractmethod
    def should_replicate_config_property(self, name: str) -> bool:
        """Whether a topic's own setting is copied."""

    def should_replicate_source_default(self) -> bool:
        """Whether a setting that is the source's default is copied as if it were the topic's own."""
        return False


class DefaultTopicFilter(TopicFilter):
    """Topics by their names."""

    def __init__(self, props: Mapping[str, object]) -> None:
        """Raises ConfigError."""
        self._names = _Names(TOPIC_FILTER_CONFIG.parse(props), TOPICS, TOPICS_EXCLUDE, TOPICS_BLACKLIST, props)

    def should_replicate_topic(self, topic: str) -> bool:
        """Whether it is copied."""
        return topic in self._names


class DefaultGroupFilter(GroupFilter):
    """Groups by their names."""

    def __init__(self, props: Mapping[str, object]) -> None:
        """Raises ConfigError."""
        self._names = _Names(GROUP_FILTER_CONFIG.parse(props), GROUPS, GROUPS_EXCLUDE, GROUPS_BLACKLIST, props)

    def should_replicate_group(self, group: str) -> bool:
        """Whether its offsets are translated."""
        return group in self._names


class DefaultConfigPropertyFilter(ConfigPropertyFilter):
    """Settings of topics by their names."""

    def __init__(self, props: Mapping[str, object]) -> None:
        """Raises ConfigError."""
        values = CONFIG_PROPERTY_FILTER_CONFIG.parse(props)
        excluded = _excluded(values, CONFIG_PROPERTIES_EXCLUDE, CONFIG_PROPERTIES_BLACKLIST, props)
        self._excluded = _pattern(excluded)
        self._takes_source_defaults: bool = values[USE_DEFAULTS_FROM] == "source"

    def should_replicate_config_property(self, name: str) -> bool:
        """Whether a topic's own setting is copied."""
        return not _matches(self._excluded, name)

    def should_replicate_source_default(self) -> bool:
        """Whether a setting that is the source's default is copied as if it were the topic's own."""
        return self._takes_source_defaults


class _Names:
    """The names that match one list, but not the other. An empty list matches nothing."""

    def __init__(
        self, values: Mapping[str, Sequence[str]], include: str, exclude: str, old: str, props: Mapping[str, object]
    ) -> None:
        self._included = _pattern(values[include])
        self._excluded = _pattern(_excluded(values, exclude, old, props))

    def __contains__(self, name: str) -> bool:
        return _matches(self._included, name) and not _matches(self._excluded, name)


def _excluded(
    values: Mapping[str, Sequence[str]], exclude: str, old: str, props: Mapping[str, object]
) -> Sequence[str]:
    """The list under its new name, or under the old one if only that is given."""
    return values[old] if old in props and exclude not in props else values[exclude]


def _pattern(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(patterns)) if patterns else None


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


TOPIC_FILTER = NamedClass("topic.filter.class", TopicFilter, javas(DefaultTopicFilter))
GROUP_FILTER = NamedClass("group.filter.class", GroupFilter, javas(DefaultGroupFilter))
CONFIG_PROPERTY_FILTER = NamedClass(
    "config.property.filter.class", ConfigPropertyFilter, javas(DefaultConfigPropertyFilter)
)

# fmt: off
TOPIC_FILTER_KEYS = (
    ConfigDef()
    .include(TOPIC_FILTER_CONFIG)
    .define(TOPIC_FILTER.key, Type.CLASS, f"{JAVA}.DefaultTopicFilter", LOW, "How topics are chosen.", TOPIC_FILTER)
)
GROUP_FILTER_KEYS = (
    ConfigDef()
    .include(GROUP_FILTER_CONFIG)
    .define(GROUP_FILTER.key, Type.CLASS, f"{JAVA}.DefaultGroupFilter", LOW, "How groups are chosen.", GROUP_FILTER)
)
CONFIG_PROPERTY_FILTER_KEYS = (
    ConfigDef()
    .include(CONFIG_PROPERTY_FILTER_CONFIG)
    .define(CONFIG_PROPERTY_FILTER.key, Type.CLASS, f"{JAVA}.DefaultConfigPropertyFilter", LOW,
            "How settings of topics are chosen.", CONFIG_PROPERTY_FILTER)
)
# fmt: on
"""The keys of a connector that has the filter: the filter's class, and what the default one asks for."""
