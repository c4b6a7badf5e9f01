"""Converts any value to its text, and bytes to a text.

Kafka 0.10.2: connect/api/.../connect/storage/StringConverter.java · book 8.3.3
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type
from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue

STRING_CONVERTER_CONFIG = ConfigDef().define(
    "converter.encoding",
    Type.STRING,
    "UTF8",
    Importance.HIGH,
    "The name of the Java character set to use for encoding strings as byte arrays.",
)

_OPTIONAL_STRING = Schema.OPTIONAL_STRING_SCHEMA


class StringConverter(Converter, HeaderConverter):
    """The text is that of Java's ``toString``. What is read is an optional STRING."""

    def __init__(self) -> None:
        self._encoding = "utf-8"

    def configure(self, configs: Mapping[str, object], is_key: bool = False) -> None:  # noqa: ARG002  either is the same
        """Take the configuration. Raises ConfigError for an unknown encoding."""
        name = STRING_CONVERTER_CONFIG.parse(configs)["converter.encoding"]
        try:
            self._encoding = codecs.lookup(name).name
        except LookupError:
            raise ConfigError("converter.encoding", name, "there is no such encoding") from None

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return STRING_CONVERTER_CONFIG

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The text of a value; None stays None. A character that the encoding lacks is a question mark, as in Java."""
        return None if value is None else java_text(value).encode(self._encoding, "replace")

    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The text of bytes. What is not text becomes the replacement character, as in Java."""
        text = None if value is None else value.decode(self._encoding, "replace")
        return SchemaAndValue(_OPTIONAL_STRING, text)

    def from_connect_header(self, topic: str, header_key: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The text of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str, header_key: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The text of a header's bytes."""
        return self.to_connect_data(topic, value)
