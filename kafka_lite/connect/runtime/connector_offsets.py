"""How far a connector has read: the offsets of a source in the worker's store, those of a sink in its consumer group.

Kafka 3.6: connect/runtime/.../connect/runtime/Worker.java (connectorOffsets), KIP-875 · book 8.3.6
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore

READ_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class ConnectorOffset:
    """A partition of the other system, or of a topic, and how far it was read."""

    partition: Mapping[str, Any]
    offset: Mapping[str, Any]


def source_offsets(
    store: OffsetBackingStore, connector: str, key_converter: Converter, value_converter: Converter
) -> list[ConnectorOffset]:
    """The stored offsets of a source: ``{"filename": "/tmp/a"}`` and ``{"position": 14}``. Raises DataError."""
    found = []
    for key, value in store.all().result(READ_TIMEOUT_S).items():
        name_and_partition = key_converter.to_connect_data(connector, key).value
        is_own = isinstance(name_and_partition, list) and name_and_partition[:1] == [connector]
        offset = value_converter.to_connect_data(connector, value).value if is_own else None
        if offset is not None:
            found.append(ConnectorOffset(name_and_partition[1], offset))
    return _sorted(found)


def sink_offsets(admin: GroupAdmin, group: str) -> list[ConnectorOffset]:
    """The committed offsets of a sink's consumer group, those of topics that it has left, too.

    Raises ApiError, ConnectError.
    """
    return _sorted(
        ConnectorOffset({"kafka_topic": topic, "kafka_partition": number}, {"kafka_offset": offset})
        for (topic, number), offset in admin.committed(group).items()
    )


def _sorted(offsets: Iterable[ConnectorOffset]) -> list[ConnectorOffset]:
    return sorted(offsets, key=lambda each: json.dumps(each.partition, sort_keys=True, default=str))
