"""The configuration keys that every connector has, and those of its transformations.

Kafka 0.10.2: connect/runtime/.../connect/runtime/ConnectorConfig.java, SourceConnectorConfig.java,
SinkConnectorConfig.java, TaskConfig.java; topics.regex: Kafka 1.1 · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, Check, ConfigDef, ConfigError, Importance, Range, Type, parse_value
from kafka_lite.common.config_value import Width
from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.transformation import Transformation
from kafka_lite.connect.java_names import TRANSFORMATIONS, TRANSFORMATIONS_PACKAGE
from kafka_lite.connect.runtime.errors.error_handling_config import (
    DLQ_TOPIC,
    ErrorHandlingConfig,
    dead_letter_topic_problem,
    define_dead_letter_queue_keys,
    define_error_keys,
)
from kafka_lite.connect.runtime.plugin_discovery import load_class, new_plugin
from kafka_lite.connect.transforms.regex_router import RegexValidator

HIGH, LOW = Importance.HIGH, Importance.LOW
NAME, CONNECTOR_CLASS, TASKS_MAX = "name", "connector.class", "tasks.max"
KEY_CONVERTER, VALUE_CONVERTER, HEADER_CONVERTER = "key.converter", "value.converter", "header.converter"
TRANSFORMS, TOPICS, TOPICS_REGEX, TASK_CLASS = "transforms", "topics", "topics.regex", "task.class"
COMMON_GROUP, TRANSFORMS_GROUP = "Common", "Transforms"


def source_config_def() -> ConfigDef:
    """The keys of a source connector."""
    return define_error_keys(
        ConfigDef()
        .define(NAME, Type.STRING, NO_DEFAULT, HIGH, "The name of the connector, unique in the group of workers.",
                group=COMMON_GROUP, order_in_group=1, width=Width.MEDIUM, display_name="Connector name")
        .define(CONNECTOR_CLASS, Type.STRING, NO_DEFAULT, HIGH,
                "The class of the connector: its full name, its simple name, or that without Connector at the end.",
                group=COMMON_GROUP, order_in_group=2, width=Width.LONG, display_name="Connector class")
        .define(TASKS_MAX, Type.INT, 1, HIGH, "How many tasks the connector may have.", Range.at_least(1),
                group=COMMON_GROUP, order_in_group=3, width=Width.SHORT, display_name="Tasks max")
        .define(KEY_CONVERTER, Type.CLASS, None, LOW, "The class that converts keys, in place of the worker's.",
                group=COMMON_GROUP, order_in_group=4, width=Width.SHORT, display_name="Key converter class")
        .define(VALUE_CONVERTER, Type.CLASS, None, LOW, "The class that converts values, in place of the worker's.",
                group=COMMON_GROUP, order_in_group=5, width=Width.SHORT, display_name="Value converter class")
        .define(TRANSFORMS, Type.LIST, None, LOW, "The aliases of transformations, in the order of their application.",
                Check(lambda aliases: len(aliases) == len(set(aliases)), "a list without duplicates"),
                group=TRANSFORMS_GROUP, order_in_group=6, width=Width.LONG, display_name="Transforms")
    )  # fmt: skip


def sink_config_def() -> ConfigDef:
    """The keys of a sink connector."""
    return define_dead_letter_queue_keys(
        source_config_def().define(
            TOPICS, Type.LIST, "", HIGH, "The topics to read, comma separated.",
            group=COMMON_GROUP, order_in_group=4, width=Width.LONG, display_name="Topics",
        ).define(
            TOPICS_REGEX, Type.STRING, "", HIGH,
            "In place of topics: a regular expression. All topics that it matches as a whole are read, new ones, too.",
            RegexValidator(),
            group=COMMON_GROUP, order_in_group=4, width=Width.LONG, display_name="Topics regex",
        )
    )  # fmt: skip


def topic_errors(props: Mapping[str, str]) -> list[str]:
    """Errors in the topics of a sink that their definition alone does not show."""
    topics, regex = parse_value(TOPICS, Type.LIST, props.get(TOPICS)) or [], (props.get(TOPICS_REGEX) or "").strip()
    if topics and regex:
        return [f"{TOPICS} and {TOPICS_REGEX} are mutually exclusive options, but both are set."]
    problem = dead_letter_topic_problem(topics, regex, (props.get(DLQ_TOPIC) or "").strip())
    return [] if problem is None else [problem]


def enriched(definition: ConfigDef, props: Mapping[str, str], *, require_full_config: bool) -> ConfigDef:
    """A definition with the keys of the transformations that a configuration names: ``transforms.ALIAS.…``.

    A transformation whose class is missing has only its ``type`` then; with ``require_full_config`` this raises
    ConfigError.
    """
    aliases = parse_value(TRANSFORMS, Type.LIST, props.get(TRANSFORMS)) or []
    found = ConfigDef().include(definition)
    for alias in dict.fromkeys(aliases):
        prefix, group = f"{TRANSFORMS}.{alias}.", f"{TRANSFORMS_GROUP}: {alias}"
        key = f"{prefix}type"
        found.define(
            key, Type.CLASS, NO_DEFAULT, HIGH, f"The class of the transformation '{alias}'.", _TransformationClass(),
            group=group, order_in_group=0, width=Width.LONG, display_name=f"Transformation type for {alias}",
            recommender=_KnownTransformations(),
        )  # fmt: skip
        try:
            own = transformation_of(key, props.get(key)).config()
        except ConfigError:
            if require_full_config:
                raise
            continue
        for order, each in enumerate(own, 1):
            found.define(
                prefix + each.name, each.type, each.default, each.importance, each.doc, each.validator, group=group,
                order_in_group=order, width=each.width, display_name=each.display_name,
                dependents=[prefix + name for name in each.dependents], recommender=each.recommender,
            )  # fmt: skip
    return found


def transformation_of(key: str, name: object) -> Transformation:
    """A new transformation of a class. Raises ConfigError, which names ``key``."""
    try:
        found: Transformation = new_plugin(load_class(str(name)), Transformation)
    except ConnectError as error:
        raise ConfigError(key, name, f"Not a Transformation: {error}") from error
    return found


class _TransformationClass:
    def ensure_valid(self, name: str, value: Any) -> None:
        transformation_of(name, value)

    def __str__(self) -> str:
        return "the class of a Transformation"


class _KnownTransformations:
    def valid_values(self, name: str, parsed_config: Mapping[str, Any]) -> list[str]:  # noqa: ARG002  a Recommender
        return sorted(f"{TRANSFORMATIONS_PACKAGE}.{known}" for known in TRANSFORMATIONS)

    def visible(self, name: str, parsed_config: Mapping[str, Any]) -> bool:  # noqa: ARG002  a Recommender
        return True


class ConnectorConfig:
    """The values of a connector's keys; ``config["tasks.max"]``."""

    def __init__(self, props: Mapping[str, str], definition: ConfigDef | None = None) -> None:
        """By default as a source connector's. Raises ConfigError."""
        self.originals = dict(props)
        base = definition or source_config_def()
        self._values = enriched(base, self.originals, require_full_config=True).parse(self.originals)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def originals_with_prefix(self, prefix: str) -> dict[str, str]:
        """The given keys that begin with a prefix, without it."""
        return {key.removeprefix(prefix): self.originals[key] for key in self.originals if key.startswith(prefix)}

    def transformations(self) -> list[Transformation]:
        """New transformations, configured, in order. Raises ConfigError."""
        found = []
        for alias in self[TRANSFORMS] or ():
            prefix = f"{TRANSFORMS}.{alias}."
            transformation = transformation_of(f"{prefix}type", self[f"{prefix}type"])
            transformation.configure(self.originals_with_prefix(prefix))
            found.append(transformation)
        return found

    def error_handling(self) -> ErrorHandlingConfig:
        """The values of ``errors.*``. Raises ConfigError if a sink is to read its own dead letter queue."""
        for problem in topic_errors(self.originals):
            raise ConfigError(TOPICS, self.originals.get(TOPICS), problem)
        return ErrorHandlingConfig.of(self._values)

    def subscription(self) -> dict[str, str]:
        """The keys by which the tasks of a sink know their topics."""
        if self[TOPICS_REGEX]:
            return {TOPICS_REGEX: self[TOPICS_REGEX]}
        return {TOPICS: ",".join(self[TOPICS])}

    def converter(self, key: str, default: Converter) -> Converter:
        """The connector's own converter of keys or values, or else the worker's. Raises ConnectError, ConfigError."""
        if self[key] is None:
            return default
        return new_converter(self[key], self.originals_with_prefix(f"{key}."), is_key=key == KEY_CONVERTER)

    def header_converter(self, default: HeaderConverter) -> HeaderConverter:
        """The same of headers. (``source_config_def`` has no such key, since 0.10.2's REST interface has none.)"""
        name = self.originals.get(HEADER_CONVERTER)
        return default if name is None else new_header_converter(name, self.originals_with_prefix("header.converter."))


def new_header_converter(name: str, configs: Mapping[str, object]) -> HeaderConverter:
    """A new converter of headers, configured. Raises ConnectError, ConfigError."""
    converter: HeaderConverter = new_plugin(load_class(name), HeaderConverter)
    converter.configure(configs)
    return converter


def new_converter(name: str, configs: Mapping[str, object], *, is_key: bool) -> Converter:
    """A new converter, configured. Raises ConnectError, ConfigError."""
    converter: Converter = new_plugin(load_class(name), Converter)
    converter.configure(configs, is_key)
    return converter
