"""Reads the source offsets of a connector from a store.

Kafka 0.10.2: connect/runtime/.../connect/storage/OffsetStorageReaderImpl.java · book 8.3.6
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.offset_storage_reader import OffsetStorageReader
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_format import serialize_partition, validate_format

logger = logging.getLogger(__name__)

_CONSEQUENCE = "No value for this data will be returned, which may break the task or cause it to skip some data."


class OffsetStorageReaderImpl(OffsetStorageReader):
    """A partition or an offset that cannot be converted is logged, and has no offset."""

    def __init__(
        self, store: OffsetBackingStore, namespace: str, key_converter: Converter, value_converter: Converter
    ) -> None:
        """``namespace`` is the connector's name. The converters are the worker's internal ones."""
        self._store = store
        self._namespace = namespace
        self._key_converter = key_converter
        self._value_converter = value_converter

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """The offset of a source partition, None if there is none. Raises ConnectError."""
        return self.offsets([partition])[0]

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """The offsets of several source partitions, in the same order. Raises ConnectError."""
        keys = [self._key_of(partition) for partition in partitions]
        try:
            values = self._store.get({key for key in keys if key is not None}).result()
        except Exception as error:
            logger.exception("Failed to fetch offsets from namespace %s", self._namespace)
            raise ConnectError("Failed to fetch offsets.") from error
        return [None if key is None else self._offset_of(values.get(key)) for key in keys]

    def _key_of(self, partition: Mapping[str, Any]) -> bytes | None:
        try:
            return serialize_partition(self._key_converter, self._namespace, partition)
        except Exception:
            logger.exception(
                "CRITICAL: Failed to serialize partition key when getting offsets for task with namespace %s. %s",
                self._namespace, _CONSEQUENCE,
            )  # fmt: skip
            return None

    def _offset_of(self, value: bytes | None) -> dict[str, Any] | None:
        try:
            offset = self._value_converter.to_connect_data(self._namespace, value).value
            validate_format(offset)
        except Exception:
            logger.exception(
                "CRITICAL: Failed to deserialize offset data when getting offsets for task with namespace %s. %s",
                self._namespace, _CONSEQUENCE,
            )  # fmt: skip
            return None
        return None if offset is None else dict(offset)
