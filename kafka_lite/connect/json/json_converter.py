"""Converts Connect's data to JSON and back.

With ``schemas.enable`` (the default) a value is in an envelope, ``{"schema": ..., "payload": ...}``. Without it, the
payload is alone, and is read as what JSON can tell apart.

Kafka 0.10.2: connect/json/.../connect/json/JsonConverter.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import NULL, SchemaAndValue
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.json.json_converter_config import JSON_CONVERTER_CONFIG, JsonConverterConfig
from kafka_lite.connect.json.json_reader import value_of
from kafka_lite.connect.json.json_schema import schema_json, schema_of
from kafka_lite.connect.json.json_text import parse_json
from kafka_lite.connect.json.json_writer import json_of


class JsonConverter(Converter):
    """The bytes are those of Java's JsonConverter. The texts of schemas, and schemas by their texts, are cached."""

    def __init__(self) -> None:
        self._configure(JsonConverterConfig())

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:  # noqa: ARG002  either is the same
        """Take the configuration. Raises ConfigError."""
        self._configure(JsonConverterConfig.of(configs))

    def _configure(self, config: JsonConverterConfig) -> None:
        self._config = config
        self._texts = LRUCache[Schema, str](config.schema_cache_size)
        self._schemas = LRUCache[str, Schema](config.schema_cache_size)

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return JSON_CONVERTER_CONFIG

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The JSON in UTF-8. Raises DataError.

        Without a schema, None is a tombstone if schemas are not enabled; else there is an envelope, which a worker of
        0.10.2 needs. (Kafka's since 2.0 writes a tombstone, which it cannot read.)
        """
        if not self._config.schemas_enabled and schema is None and value is None:
            return None
        try:
            return self._text(schema, value).encode()
        except (UnicodeEncodeError, RecursionError) as error:
            message = "Converting Kafka Connect data to byte[] failed due to serialization error: "
            raise DataError(f"{message}{error}") from error

    def _text(self, schema: Schema | None, value: Any) -> str:
        payload = json_of(schema, value, self._config)
        if not self._config.schemas_enabled:
            return payload
        known = "null" if schema is None else self._texts.get(schema, lambda: schema_json(schema, self._config))
        return f'{{"schema":{known},"payload":{payload}}}'

    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The value of JSON in UTF-8. Raises DataError."""
        if value is None:
            return NULL
        try:
            return self._data(parse_json(value))
        except (ValueError, RecursionError) as error:  # the text may be nested more deeply than Python's stack
            message = "Converting byte[] to Kafka Connect data failed due to serialization error: "
            raise DataError(f"{message}{error}") from error

    def _data(self, node: Any) -> SchemaAndValue:
        if not self._config.schemas_enabled:
            return SchemaAndValue(None, value_of(None, node, self._config))
        if not isinstance(node, dict) or node.keys() != {"schema", "payload"}:
            raise DataError(
                'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
                "additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false in "
                "your converter configuration."
            )
        schema = self._schema(node["schema"])
        return SchemaAndValue(schema, value_of(schema, node["payload"], self._config))

    def _schema(self, node: Any) -> Schema | None:
        if node is None:
            return None
        return self._schemas.get(repr(node), lambda: schema_of(node, self._config))  # a dict cannot be a key
