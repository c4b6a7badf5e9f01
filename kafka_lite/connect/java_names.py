"""The transformations, predicates, converters and config providers under the names of Java's classes.

Kafka 0.10.2: connect/runtime/.../connect/runtime/PluginDiscovery.java · book 8.3.3
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_TRANSFORMS: Final = "kafka_lite.connect.transforms"
_JAVA: Final = "org.apache.kafka.connect"
TRANSFORMATIONS_PACKAGE: Final = f"{_JAVA}.transforms"

_ON_KEY_OR_VALUE: Final = {
    "Cast": "cast",
    "ExtractField": "extract_field",
    "Flatten": "flatten",
    "HeaderFrom": "header_transformations",
    "HoistField": "hoist_field",
    "InsertField": "insert_field",
    "MaskField": "mask_field",
    "ReplaceField": "replace_field",
    "SetSchemaMetadata": "set_schema_metadata",
    "TimestampConverter": "timestamp_converter",
}
_ON_RECORDS: Final = {
    "DropHeaders": "header_transformations",
    "Filter": "filter",
    "InsertHeader": "header_transformations",
    "RegexRouter": "regex_router",
    "TimestampRouter": "timestamp_router",
    "ValueToKey": "value_to_key",
}

TRANSFORMATIONS: Final[dict[str, str]] = {
    **{
        f"{name}${part}": f"{_TRANSFORMS}.{module}.{name}{part}"
        for name, module in _ON_KEY_OR_VALUE.items()
        for part in ("Key", "Value")
    },
    **{name: f"{_TRANSFORMS}.{module}.{name}" for name, module in _ON_RECORDS.items()},
}
"""Java's name in ``TRANSFORMATIONS_PACKAGE`` -> the class here."""
PREDICATES: Final[dict[str, str]] = {
    name: f"{_TRANSFORMS}.predicates.{name}" for name in ("HasHeaderKey", "RecordIsTombstone", "TopicNameMatches")
}
"""The same of ``org.apache.kafka.connect.transforms.predicates``."""
CONVERTERS: Final[dict[str, str]] = {
    f"{_JAVA}.json.JsonConverter": "kafka_lite.connect.json.json_converter.JsonConverter",
    f"{_JAVA}.storage.StringConverter": "kafka_lite.connect.converters.string_converter.StringConverter",
    f"{_JAVA}.converters.ByteArrayConverter": "kafka_lite.connect.converters.byte_array_converter.ByteArrayConverter",
    f"{_JAVA}.storage.SimpleHeaderConverter": (
        "kafka_lite.connect.converters.simple_header_converter.SimpleHeaderConverter"
    ),
}
"""Java's full name -> the class here."""

CONFIG_PROVIDERS: Final[dict[str, str]] = {
    f"org.apache.kafka.common.config.provider.{name}": f"kafka_lite.common.config_providers.{module}.{name}"
    for name, module in (
        ("DirectoryConfigProvider", "directory_config_provider"),
        ("EnvVarConfigProvider", "env_var_config_provider"),
        ("FileConfigProvider", "file_config_provider"),
    )
}
"""Java's full name -> the class here."""

JAVA_NAMES: Final[dict[str, str]] = {
    **{f"{TRANSFORMATIONS_PACKAGE}.{name}": path for name, path in TRANSFORMATIONS.items()},
    **{f"{TRANSFORMATIONS_PACKAGE}.predicates.{name}": path for name, path in PREDICATES.items()},
    **CONVERTERS,
    **CONFIG_PROVIDERS,
}
"""Each full name of Java -> the class here, as ``package.module.Class``."""


def java_name(name: str) -> str | None:
    """Java's full name of a class that is given by it, by its simple name, or by ours; None if it is not known."""
    if name in JAVA_NAMES:
        return name
    matches = [java for java, path in JAVA_NAMES.items() if path == name or java.rpartition(".")[2] == name]
    return matches[0] if len(matches) == 1 else None


def load(name: str) -> Any:
    """The class of a name that ``java_name`` knows. Raises KeyError for any other."""
    java = java_name(name)
    if java is None:
        raise KeyError(name)
    module, _, class_name = JAVA_NAMES[java].rpartition(".")
    return getattr(importlib.import_module(module), class_name)
