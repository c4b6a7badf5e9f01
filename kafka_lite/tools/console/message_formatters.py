"""The formatters with which the console consumer prints records.

Kafka 0.10.2: core/.../tools/ConsoleConsumer.scala (the formatters, LoggingMessageFormatter, NoOpMessageFormatter,
ChecksumMessageFormatter), common/MessageFormatter.scala; properties also as in Kafka 4.0:
tools/.../consumer/DefaultMessageFormatter.java · book 1.4.1
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, BinaryIO

from kafka_lite.common import serialization
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serialization import Deserializer
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.message_set import encode_message
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, TimestampType

logger = logging.getLogger(__name__)

_CRC_BEGINS, _CRC_ENDS = 12, 16
_TIMESTAMP_NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}
KAFKA_CLASS = re.compile(r"(?:kafka\.|org\.apache\.kafka\.).*[.$](\w+)|(\w+)")
"""A Kafka class by its full name or by its simple name."""


class MessageFormatter(ABC):
    """Base class of formatters; ``--formatter package.module.Class`` selects a subclass."""

    def configure(self, properties: Mapping[str, str]) -> None:  # noqa: B027 - some need none
        """Called first, with the properties of ``--property`` and ``--formatter-config``. Raises KafkaError."""

    @abstractmethod
    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write a record, whose key and value are bytes. Raises OSError, and KafkaError if it cannot be formatted."""

    def close(self) -> None:  # noqa: B027 - most need none
        """Called last."""


class DefaultMessageFormatter(MessageFormatter):
    r"""Writes the value of each record on a line, preceded by the fields that the properties enable, in this order::

        --property print.timestamp=true --property print.key=true …

        CreateTime:1500000000000 ⇥ Partition:0 ⇥ Offset:7 ⇥ Epoch:3 ⇥ h1:v1,h2:v2 ⇥ key ⇥ value
        print.timestamp            .partition    .offset    .epoch    .headers      .key  .value

    ``key.separator`` (a tab) separates the fields, ``line.separator`` ends the line, ``headers.separator`` (a comma)
    separates headers, and ``null.literal`` stands for null. ``key.deserializer``, ``value.deserializer`` and
    ``headers.deserializer`` name classes that convert bytes to text; without them, bytes are written unchanged.
    Properties prefixed with such a name and a dot are passed to that deserializer.
    """

    DEFAULTS: Mapping[str, str] = {
        "print.timestamp": "false",
        "print.partition": "false",
        "print.offset": "false",
        "print.epoch": "false",
        "print.headers": "false",
        "print.key": "false",
        "print.value": "true",
        "key.separator": "\t",
        "line.separator": "\n",
        "headers.separator": ",",
        "null.literal": "null",
    }

    def __init__(self) -> None:
        self._properties = dict(self.DEFAULTS)
        self._deserializers: dict[str, Deserializer[Any]] = {}

    def configure(self, properties: Mapping[str, str]) -> None:
        """Apply the properties. Raises ConfigError for a class that does not exist."""
        self._properties |= properties
        for part in ("key", "value", "headers"):
            name = f"{part}.deserializer"
            if name in properties:
                self._deserializers[part] = self._deserializer(name, properties, is_key=part == "key")

    @staticmethod
    def _deserializer(name: str, properties: Mapping[str, str], *, is_key: bool) -> Deserializer[Any]:
        match = KAFKA_CLASS.fullmatch(properties[name])
        class_name = f"{serialization.__name__}.{match[1] or match[2]}" if match else properties[name]
        found: Deserializer[Any] = new_instance(name, Deserializer, class_name)
        prefix = f"{name}."
        found.configure(
            {key.removeprefix(prefix): v for key, v in properties.items() if key.startswith(prefix)}, is_key
        )
        return found

    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write one line. Raises SerializationError."""
        columns = [column for name, column in self._columns(record) if self._is_wanted(name)]
        output.write(self._bytes_of("key.separator").join(columns) + self._bytes_of("line.separator"))

    def _columns(self, record: ConsumerRecord) -> list[tuple[str, bytes]]:
        """All columns; those that cost something are only computed if enabled."""
        epoch = record.leader_epoch if record.leader_epoch >= 0 else "NOT_PRESENT"
        return [
            ("timestamp", timestamp_text(record).encode() or b"NO_TIMESTAMP"),
            ("partition", f"Partition:{record.partition}".encode()),
            ("offset", f"Offset:{record.offset}".encode()),
            ("epoch", f"Epoch:{epoch}".encode()),
            ("headers", self._headers(record) if self._is_wanted("headers") else b""),
            ("key", self._text(record.topic, "key", record.key) if self._is_wanted("key") else b""),
            ("value", self._text(record.topic, "value", record.value) if self._is_wanted("value") else b""),
        ]

    def _headers(self, record: ConsumerRecord) -> bytes:
        headers = [
            header.key.encode() + b":" + self._text(record.topic, "headers", header.value) for header in record.headers
        ]
        return self._bytes_of("headers.separator").join(headers) or b"NO_HEADERS"

    def _text(self, topic: str, part: str, data: bytes | None) -> bytes:
        not_null = self._bytes_of("null.literal") if data is None else data
        deserializer = self._deserializers.get(part)
        if deserializer is None or data is None:
            return not_null
        value = deserializer.deserialize(topic, data)
        return value if isinstance(value, bytes) else str(value).encode()

    def _is_wanted(self, column: str) -> bool:
        return self._properties[f"print.{column}"].strip().lower() == "true"

    def _bytes_of(self, name: str) -> bytes:
        return self._properties[name].encode()


def timestamp_text(record: ConsumerRecord) -> str:
    """``CreateTime:1500000000000``; empty for a record without a timestamp."""
    name = _TIMESTAMP_NAMES.get(record.timestamp_type)
    return f"{name}:{record.timestamp}" if name else ""


class LoggingMessageFormatter(MessageFormatter):
    """Like DefaultMessageFormatter, and also logs each record with this module's logger at level INFO."""

    def __init__(self) -> None:
        self._default_writer = DefaultMessageFormatter()

    def configure(self, properties: Mapping[str, str]) -> None:
        """Accepts the properties of DefaultMessageFormatter."""
        self._default_writer.configure(properties)

    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write the record and log it."""
        self._default_writer.write_to(record, output)
        timestamp = timestamp_text(record)
        logger.info("%skey:%s, value:%s", timestamp and f"{timestamp}, ", _shown(record.key), _shown(record.value))


def _shown(data: bytes | None) -> str:
    return "null" if data is None else data.decode("utf-8", "replace")


class NoOpMessageFormatter(MessageFormatter):
    """Writes nothing; for measurements."""

    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write nothing."""


class ChecksumMessageFormatter(MessageFormatter):
    """Writes ``topic:checksum:CRC``, the CRC of the record as an uncompressed message of format v1 (v0 if it has no
    timestamp); the topic only if ``--property topic=…`` gives it."""

    def __init__(self) -> None:
        self._topic = ""

    def configure(self, properties: Mapping[str, str]) -> None:
        """Accepts ``topic``, the prefix of each line."""
        self._topic = f"{properties['topic']}:" if "topic" in properties else ""

    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write one line."""
        output.write(f"{self._topic}checksum:{checksum(record)}\n".encode())


def checksum(record: ConsumerRecord) -> int:
    """CRC-32 of the message, from the magic byte on."""
    has_time = record.timestamp_type is not TimestampType.NO_TIMESTAMP_TYPE
    attributes = (record.timestamp_type << 3) if has_time else 0
    magic = MAGIC_V1 if has_time else MAGIC_V0
    message = encode_message(magic, 0, attributes, record.timestamp, record.key, record.value)
    return int.from_bytes(message[_CRC_BEGINS:_CRC_ENDS], "big")
