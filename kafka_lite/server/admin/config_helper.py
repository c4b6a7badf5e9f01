"""Describes configurations: each value, its source, and its synonyms.

Kafka 0.11: core/.../server/AdminManager.scala; later ConfigHelper.scala · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from itertools import dropwhile

from kafka_lite.common.config_def import ConfigKey, Importance, Type, format_value
from kafka_lite.coordinator.group.modern.consumer_group_config import GROUP_CONFIG_DEF
from kafka_lite.log.log_config import LOG_CONFIG_DEF, LogConfig
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.dynamic.dynamic_broker_config import (
    DYNAMIC_BROKER_CONFIGS,
    REPLICATION_THROTTLES,
    DynamicBrokerConfig,
    is_custom,
)
from kafka_lite.server.dynamic.dynamic_listener_stores import is_listener_store, listener_store_key
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF, KafkaConfig


class ConfigSource(IntEnum):
    """The source of a value, numbered as in the protocol."""

    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


CONFIG_TYPES: dict[Type, int] = {
    Type.BOOLEAN: 1,
    Type.STRING: 2,
    Type.INT: 3,
    Type.SHORT: 4,
    Type.LONG: 5,
    Type.DOUBLE: 6,
    Type.LIST: 7,
    Type.CLASS: 8,
    Type.PASSWORD: 9,
}
"""The types of values, numbered as in the protocol."""

UNKNOWN_TYPE = 0
"""The type of values of custom configs."""

_BROKER_SYNONYMS: dict[str, tuple[str, ...]] = {}
"""Broker key -> the keys of the same setting, strongest first, if there are several.

``log.flush.scheduler.interval.ms`` is a setting of its own, to which ``log.flush.interval.ms`` falls back.
"""
for _synonyms in TOPIC_CONFIG_SYNONYMS.values():
    _names = tuple(synonym.name for synonym in _synonyms)
    _in_several_units = any(synonym.factor != 1 for synonym in _synonyms)
    _BROKER_SYNONYMS |= dict.fromkeys(_names if _in_several_units else _names[:1], _names)

_DEFAULTS: dict[str, object] = {
    key.name: key.default
    for key in (*KAFKA_CONFIG_DEF, *REPLICATION_THROTTLES)
    if key.has_default and key.default is not None
}
"""Broker key -> its default."""


class ConfigHelper:
    """Serves DescribeConfigs from the broker's configuration and a topic's overrides.

    A value may have several sources. They are its synonyms, of which the first one wins: the topic's override, the
    broker's dynamic override, that of all brokers, server.properties, and the default.

    Synonyms of other names count only after one of the own name: while only ``log.retention.hours`` is set,
    ``log.retention.ms`` and topics' ``retention.ms`` have none, and their source is the default, as in Kafka.
    """

    def __init__(self, config: KafkaConfig, dynamic_config: DynamicBrokerConfig) -> None:
        self._config = config
        self._dynamic_config = dynamic_config

    def describe_topic(
        self,
        overrides: Mapping[str, str],
        names: Iterable[str] | None = None,
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResourceResult]:
        """All keys (or those in ``names``) of a topic with these overrides."""
        log_config = LogConfig(overrides, self._dynamic_config.topic_defaults())

        def describe(key: ConfigKey) -> DescribeConfigsResourceResult:
            synonyms = self._topic_synonyms(key.name, overrides)
            return _entry(key, log_config.values[key.name], synonyms, include_synonyms, include_documentation)

        return _describe(LOG_CONFIG_DEF, names, describe)

    def describe_group(
        self,
        overrides: Mapping[str, str],
        names: Iterable[str] | None = None,
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResourceResult]:
        """All keys (or those in ``names``) of a group with these overrides."""

        def describe(key: ConfigKey) -> DescribeConfigsResourceResult:
            own = overrides.get(key.name)
            broker_key = f"group.{key.name}"
            value = self._config.values.get(broker_key, key.default) if own is None else key.parse(own)
            override = DescribeConfigsSynonym(name=key.name, value=own, source=ConfigSource.GROUP_CONFIG)
            synonyms = ([] if own is None else [override]) + self._broker_synonyms(broker_key)
            return _entry(key, value, synonyms, include_synonyms, include_documentation)

        return _describe(GROUP_CONFIG_DEF, names, describe)

    def describe_broker(
        self,
        names: Iterable[str] | None = None,
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResourceResult]:
        """All keys of this broker (or those in ``names``): static ones, which are read-only, and dynamic ones."""

        current = self._dynamic_config.current_config.values

        def describe(key: ConfigKey) -> DescribeConfigsResourceResult:
            synonyms = self._broker_synonyms(key.name)
            if key.name not in KAFKA_CONFIG_DEF:
                value = key.parse(synonyms[0].value) if synonyms else key.default
            else:
                value = current[key.name]
            entry = _entry(key, value, synonyms, include_synonyms, include_documentation)
            return _of_broker(entry)

        dynamic = self._dynamic_config
        custom = _custom_keys([*self._config.original, *dynamic.default_configs, *dynamic.broker_configs])
        return _describe([*KAFKA_CONFIG_DEF, *REPLICATION_THROTTLES, *custom], names, describe)

    def describe_all_brokers(
        self,
        names: Iterable[str] | None = None,
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> list[DescribeConfigsResourceResult]:
        """The dynamic overrides that apply to every broker."""
        overrides = self._dynamic_config.default_configs

        def describe(key: ConfigKey) -> DescribeConfigsResourceResult:
            synonym = _synonym(key.name, overrides[key.name], ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
            value = key.parse(overrides[key.name])
            return _of_broker(_entry(key, value, [synonym], include_synonyms, include_documentation))

        keys = [key for key in DYNAMIC_BROKER_CONFIGS if key.name in overrides]
        return _describe([*keys, *_custom_keys(overrides)], names, describe)

    @staticmethod
    def describe_client_metrics(
        overrides: Mapping[str, str], names: Iterable[str] | None = None
    ) -> list[DescribeConfigsResourceResult]:
        """The keys of a subscription to metrics of clients that are set (or those of them in ``names``)."""
        wanted = None if names is None else set(names)
        return [
            DescribeConfigsResourceResult(
                name=name, value=value, read_only=False, config_source=ConfigSource.CLIENT_METRICS_CONFIG
            )
            for name, value in sorted(overrides.items())
            if wanted is None or name in wanted
        ]

    # ------------------------------------------------------------------------------------------------------- synonyms

    def _topic_synonyms(self, name: str, overrides: Mapping[str, str]) -> list[DescribeConfigsSynonym]:
        found = []
        if name in overrides:
            override = DescribeConfigsSynonym(name=name, value=overrides[name], source=ConfigSource.TOPIC_CONFIG)
            found.append(override)
        broker_keys = TOPIC_CONFIG_SYNONYMS.get(name)
        return found + self._broker_synonyms(broker_keys[0].name) if broker_keys else found

    def _broker_synonyms(self, name: str) -> list[DescribeConfigsSynonym]:
        """The sources of this broker key's value, in order of precedence."""
        names = _BROKER_SYNONYMS.get(name, (name,))
        original = self._config.original
        static = {each: self._config.values.get(each, original[each]) for each in names if each in original}
        sources: list[tuple[Mapping[str, object], ConfigSource]] = [
            (self._dynamic_config.broker_configs, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self._dynamic_config.default_configs, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (static, ConfigSource.STATIC_BROKER_CONFIG),
            (_DEFAULTS, ConfigSource.DEFAULT_CONFIG),
        ]
        found = [(each, values[each], source) for values, source in sources for each in names if each in values]
        return [_synonym(*each) for each in dropwhile(lambda each: each[0] != name, found)]


def _custom_keys(names: Iterable[str]) -> list[ConfigKey]:
    """The custom ones of these keys, whose values may be passwords, for all that the broker knows; and those of single
    listeners that can change."""
    distinct = {*names}
    custom = [ConfigKey(name, Type.PASSWORD, None, Importance.LOW, "") for name in distinct if is_custom(name)]
    return custom + [listener_store_key(name) for name in distinct if is_listener_store(name)]


def _describe(
    keys: Iterable[ConfigKey],
    names: Iterable[str] | None,
    describe: Callable[[ConfigKey], DescribeConfigsResourceResult],
) -> list[DescribeConfigsResourceResult]:
    """Describe each key, or those in ``names``, sorted by name; Kafka's order is that of a hash table."""
    wanted = None if names is None else set(names)
    chosen = (key for key in keys if wanted is None or key.name in wanted)
    return [describe(key) for key in sorted(chosen, key=lambda key: key.name)]


def _synonym(name: str, value: object, source: ConfigSource) -> DescribeConfigsSynonym:
    return DescribeConfigsSynonym(name=name, value=_shown(name, value), source=source)


def _shown(name: str, value: object) -> str | None:
    key = KAFKA_CONFIG_DEF.keys.get(name)
    return None if is_custom(name) or (key is not None and key.is_sensitive) else format_value(value)


def _entry(
    key: ConfigKey,
    value: object,
    synonyms: list[DescribeConfigsSynonym],
    include_synonyms: bool,
    include_documentation: bool,
) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=key.name,
        value=None if key.is_sensitive else format_value(value),
        read_only=False,
        config_source=synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG,
        is_sensitive=key.is_sensitive,
        synonyms=synonyms if include_synonyms else [],
        config_type=CONFIG_TYPES[key.type],
        documentation=key.doc if include_documentation else None,
    )


def _of_broker(entry: DescribeConfigsResourceResult) -> DescribeConfigsResourceResult:
    entry.read_only = entry.name not in DYNAMIC_BROKER_CONFIGS and not is_listener_store(entry.name)
    if is_custom(entry.name):
        entry.config_type = UNKNOWN_TYPE
    return entry
