"""The keys of each transformation are Kafka's: name, type, default, importance (Kafka 3.9)."""

from typing import Any

import pytest

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef
from kafka_lite.connect.api import Headers, SourceRecord
from kafka_lite.connect.java_names import PREDICATES, TRANSFORMATIONS, load

REQUIRED = NO_DEFAULT
KEYS: dict[str, dict[str, tuple[str, Any, str]]] = {
    "Cast": {"spec": ("LIST", REQUIRED, "HIGH")},
    "DropHeaders": {"headers": ("LIST", REQUIRED, "HIGH")},
    "ExtractField": {"field": ("STRING", REQUIRED, "MEDIUM")},
    "Filter": {},
    "Flatten": {"delimiter": ("STRING", ".", "MEDIUM")},
    "HasHeaderKey": {"name": ("STRING", REQUIRED, "MEDIUM")},
    "HeaderFrom": {
        "fields": ("LIST", REQUIRED, "HIGH"),
        "headers": ("LIST", REQUIRED, "HIGH"),
        "operation": ("STRING", REQUIRED, "HIGH"),
    },
    "HoistField": {"field": ("STRING", REQUIRED, "MEDIUM")},
    "InsertField": {
        "topic.field": ("STRING", None, "MEDIUM"),
        "partition.field": ("STRING", None, "MEDIUM"),
        "offset.field": ("STRING", None, "MEDIUM"),
        "timestamp.field": ("STRING", None, "MEDIUM"),
        "static.field": ("STRING", None, "MEDIUM"),
        "static.value": ("STRING", None, "MEDIUM"),
    },
    "InsertHeader": {"header": ("STRING", REQUIRED, "HIGH"), "value.literal": ("STRING", REQUIRED, "HIGH")},
    "MaskField": {"fields": ("LIST", REQUIRED, "HIGH"), "replacement": ("STRING", None, "LOW")},
    "RecordIsTombstone": {},
    "RegexRouter": {"regex": ("STRING", REQUIRED, "HIGH"), "replacement": ("STRING", REQUIRED, "HIGH")},
    "ReplaceField": {
        "exclude": ("LIST", [], "MEDIUM"),
        "blacklist": ("LIST", None, "LOW"),
        "include": ("LIST", [], "MEDIUM"),
        "whitelist": ("LIST", None, "LOW"),
        "renames": ("LIST", [], "MEDIUM"),
    },
    "SetSchemaMetadata": {"schema.name": ("STRING", None, "HIGH"), "schema.version": ("INT", None, "HIGH")},
    "TimestampConverter": {
        "field": ("STRING", "", "HIGH"),
        "target.type": ("STRING", REQUIRED, "HIGH"),
        "format": ("STRING", "", "MEDIUM"),
        "unix.precision": ("STRING", "milliseconds", "LOW"),
    },
    "TimestampRouter": {
        "topic.format": ("STRING", "${topic}-${timestamp}", "HIGH"),
        "timestamp.format": ("STRING", "yyyyMMdd", "HIGH"),
    },
    "TopicNameMatches": {"pattern": ("STRING", REQUIRED, "MEDIUM")},
    "ValueToKey": {"fields": ("LIST", REQUIRED, "HIGH")},
}
VALID: dict[str, dict[str, str]] = {
    "Cast": {"spec": "int8"},
    "DropHeaders": {"headers": "h"},
    "ExtractField": {"field": "f"},
    "HeaderFrom": {"fields": "f", "headers": "h", "operation": "copy"},
    "HoistField": {"field": "f"},
    "InsertField": {"topic.field": "f"},
    "InsertHeader": {"header": "h", "value.literal": "1"},
    "MaskField": {"fields": "f"},
    "RegexRouter": {"regex": ".", "replacement": "x"},
    "SetSchemaMetadata": {"schema.name": "n"},
    "TimestampConverter": {"target.type": "unix"},
    "ValueToKey": {"fields": "f"},
}


@pytest.mark.parametrize("name", [*TRANSFORMATIONS, *PREDICATES])
def test_keys_are_kafkas(name: str) -> None:
    config = load(name)().config()

    assert isinstance(config, ConfigDef)
    found = {key.name: (key.type.name, key.default, key.importance.name) for key in config}
    assert found == KEYS[name.partition("$")[0]]
    assert all(key.doc for key in config)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_a_form_finds_what_is_missing(name: str) -> None:
    config = load(name)().config()
    wrong = {value.name for value in config.validate({}) if value.error_messages}

    assert wrong == {key.name for key in config if not key.has_default}
    assert not [v for v in config.validate(VALID.get(name.partition("$")[0], {})) if v.error_messages]


@pytest.mark.parametrize("name", [name for name in TRANSFORMATIONS if name.endswith("$Key") and name[:3] != "Set"])
def test_the_two_forms_differ_in_what_they_change(name: str) -> None:
    on_key, on_value = load(name)(), load(name.replace("$Key", "$Value"))()
    config = VALID.get(name.partition("$")[0], {})
    data: Any = 1700000000 if name.startswith(("Cast", "Timestamp")) else {"f": {"g": 1}}
    schemaless = SourceRecord(topic="t", key=data, value=data, headers=Headers())
    for transformation in (on_key, on_value):
        transformation.configure(config)
    by_key, by_value = on_key.apply(schemaless), on_value.apply(schemaless)

    assert by_key is not None
    assert by_value is not None
    assert (by_key.value, by_value.key) == (data, data)
    assert (by_key.key, by_key.headers) == (by_value.value, by_value.headers)
    on_key.close()
