"""Changes how far a stopped connector has read.

Kafka 3.6: connect/runtime/.../connect/runtime/Worker.java (modifyConnectorOffsets), connect/util/SinkUtils.java
(parseSinkConnectorOffsets), KIP-875 · book 8.3.6
"""

from __future__ import annotations

import concurrent.futures
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.runtime.connector_offsets import source_offsets
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.storage.cluster_config_state import Config
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_format import validate_format
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter

WRITE_TIMEOUT_S = 30.0
TOPIC, PARTITION, OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
Entry = Mapping[str, Any] | None
Offsets = Sequence[tuple[Entry, Entry]]
"""Partitions, and their new offsets; None deletes one."""
T = TypeVar("T")


# ── sources ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def modify_source_offsets(
    store: OffsetBackingStore,
    name: str,
    converters: tuple[Converter, Converter],
    connector: SourceConnector,
    config: Config,
    offsets: Offsets | None,
) -> str:
    """Store offsets, or with None delete all of them. Returns a message for the user.

    The store compares partitions as bytes, so one that is stored keeps the order of its keys. Raises ConnectError.
    """
    stored = [dict(each.partition) for each in source_offsets(store, name, *converters)]
    wanted: list[tuple[dict[str, Any], dict[str, Any] | None]] = [(partition, None) for partition in stored]
    if offsets is not None:
        wanted = [_source_entry(partition, offset, stored) for partition, offset in offsets]
    is_checked = _checked(name, lambda: connector.alter_offsets(config, wanted))
    writer = OffsetStorageWriter(store, name, *converters)
    for partition, offset in wanted:
        writer.offset(partition, offset)
    if writer.begin_flush():
        _flush(writer, name)
    return _message("altered" if offsets is not None else "reset", is_checked)


def _source_entry(
    partition: Entry, offset: Entry, stored: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    if partition is None:
        raise BadRequestError("The partition for a source connector offset cannot be null or missing")
    validate_format(partition)
    validate_format(offset)
    known = next((each for each in stored if each == partition), dict(partition))
    return known, None if offset is None else dict(offset)


def _flush(writer: OffsetStorageWriter, name: str) -> None:
    errors: list[BaseException | None] = []
    stored = writer.do_flush(errors.append)
    problem = f"Failed to modify offsets for source connector {name}"
    if stored is None:
        raise ConnectError(problem) from errors[0]
    try:
        stored.result(WRITE_TIMEOUT_S)
    except concurrent.futures.TimeoutError:
        raise ConnectError(f"Timed out while attempting to modify offsets for source connector {name}") from None
    except Exception as error:
        raise ConnectError(problem) from error


# ── sinks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def modify_sink_offsets(
    admin: GroupAdmin, group: str, name: str, connector: SinkConnector, config: Config, offsets: Offsets | None
) -> str:
    """Commit and delete offsets of a sink's consumer group, or with None delete the group.

    Returns a message for the user. Raises ConnectError. A group that has members refuses: its tasks still run.
    """
    wanted: dict[TopicPartition, int | None] = {}
    if offsets is None:
        wanted.update(dict.fromkeys(admin.committed(group)))
    else:
        wanted.update(parse_sink_offsets(offsets))
    is_checked = _checked(name, lambda: connector.alter_offsets(config, wanted))
    modified = "altered" if offsets is not None else "reset"
    try:
        if offsets is None:
            admin.delete_group(group)
        else:
            _alter(admin, group, wanted)
    except ApiError as error:
        if offsets is not None or error.error is not Errors.GROUP_ID_NOT_FOUND:  # it was reset before
            raise ConnectError(_refusal(error.error, name, "alter" if offsets is not None else "reset")) from error
    return _message(modified, is_checked)


def _alter(admin: GroupAdmin, group: str, wanted: Mapping[TopicPartition, int | None]) -> None:
    new = {partition: offset for partition, offset in wanted.items() if offset is not None}
    if new:
        admin.commit(group, new)
    deleted = [partition for partition, offset in wanted.items() if offset is None]
    if deleted:
        admin.delete_offsets(group, deleted)


def _refusal(error: Errors, name: str, verb: str) -> str:
    problem = f"Failed to {verb} consumer group offsets for connector {name}"
    if error not in (Errors.UNKNOWN_MEMBER_ID, Errors.GROUP_SUBSCRIBED_TO_TOPIC, Errors.NON_EMPTY_GROUP):
        return f"{problem}: {error.name}"
    return (
        f"{problem} either because its tasks haven't stopped completely yet or the connector was resumed before the "
        f"request to {verb} its offsets could be successfully completed. If the connector is in a stopped state, this "
        "operation can be safely retried. If it doesn't eventually succeed, the Connect cluster may need to be "
        "restarted to get rid of the zombie sink tasks."
    )


def parse_sink_offsets(offsets: Offsets) -> dict[TopicPartition, int | None]:
    """``{"kafka_topic": "t", "kafka_partition": 3}`` and ``{"kafka_offset": 1000}`` or None. Numbers may be texts.

    Raises BadRequestError.
    """
    return {_sink_partition(partition): _sink_offset(offset) for partition, offset in offsets}


def _sink_partition(partition: Entry) -> TopicPartition:
    if partition is None:
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    if not {TOPIC, PARTITION} <= partition.keys():
        raise BadRequestError(
            f"The partition for a sink connector offset must contain the keys '{TOPIC}' and '{PARTITION}'"
        )
    topic, number = partition[TOPIC], partition[PARTITION]
    if topic is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if number is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    return TopicPartition(str(topic), _number(number, 32, "partition", "Partition"))


def _sink_offset(offset: Entry) -> int | None:
    if offset is None:
        return None
    if OFFSET not in offset:
        raise BadRequestError(f"The offset for a sink connector should either be null or contain the key '{OFFSET}'")
    return _number(offset[OFFSET], 64, "offset", "Offset")


def _number(value: object, bits: int, kind: str, title: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,19}", str(value)) and -(1 << bits - 1) <= int(str(value)) < 1 << bits - 1:
        return int(str(value))
    raise BadRequestError(
        f"Failed to parse the following Kafka {kind} value in the provided offsets: '{value}'. "
        f"{title} values for sink connectors need to be integers."
    )


# ── both ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(name: str, alter_offsets: Callable[[], bool]) -> bool:
    """Whether the connector says that it is all right. Raises ConnectError if it cannot let offsets be changed."""
    try:
        return alter_offsets()
    except NotImplementedError as error:
        raise ConnectError(
            f"Failed to modify offsets for connector {name} because it doesn't support external modification of offsets"
        ) from error


def _message(modified: str, is_checked: bool) -> str:
    if is_checked:
        return f"The offsets for this connector have been {modified} successfully"
    return (
        f"The Connect framework-managed offsets for this connector have been {modified} successfully. However, if this "
        f"connector manages offsets externally, they will need to be manually {modified} in the system that the "
        "connector uses."
    )
