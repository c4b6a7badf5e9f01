"""Translates between Connect's data and the bytes of records.

Kafka 0.10.2: connect/api/.../connect/storage/Converter.java; HeaderConverter.java: Kafka 1.1 · book 8.3.3
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue


class Converter(ABC):
    """Converts keys, or values. The same one is used by several threads."""

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:  # noqa: B027  a hook
        """Take the configuration: the keys after ``key.converter.`` or ``value.converter.``. Raises ConfigError."""

    def config(self) -> ConfigDef:
        """The keys of the converter's configuration."""
        return ConfigDef()

    @abstractmethod
    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        """The bytes of a value; None for a tombstone. Raises DataError."""

    @abstractmethod
    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:
        """The value of these bytes, None for a tombstone. Raises DataError."""


class HeaderConverter(ABC):
    """Converts the values of headers. The same one is used by several threads."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  a hook
        """Take the configuration: the keys after ``header.converter.``. Raises ConfigError."""

    def config(self) -> ConfigDef:
        """The keys of the converter's configuration."""
        return ConfigDef()

    @abstractmethod
    def from_connect_header(self, topic: str, header_key: str, schema: Schema | None, value: Any) -> bytes | None:
        """The bytes of a header's value. Raises DataError."""

    @abstractmethod
    def to_connect_header(self, topic: str, header_key: str, value: bytes | None) -> SchemaAndValue:
        """The value of these bytes. Raises DataError."""
