"""Encodes and decodes the records of ``__share_group_state``.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorRecordHelpers.java, ShareCoordinatorRecordSerde.java
· book 10.3
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_lite.coordinator.share.persister import PersisterStateBatch, SharePartitionKey
from kafka_lite.coordinator.share.share_group_offset import ShareGroupOffset
from kafka_lite.protocol.messages.share_state import StateBatch
from kafka_lite.protocol.messages.share_state_records import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version

VALUE_VERSION = 0


class ShareSnapshot(NamedTuple):
    """All of a partition's state; None: it is forgotten."""

    key: SharePartitionKey
    offset: ShareGroupOffset | None


class ShareUpdate(NamedTuple):
    """A change of a partition's state."""

    key: SharePartitionKey
    offset: ShareGroupOffset


ShareRecord = ShareSnapshot | ShareUpdate


def encode(record: ShareRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    group_id, topic_id, partition = record.key
    offset = record.offset
    if isinstance(record, ShareUpdate):
        update_key = ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=partition)
        return encode_with_version(update_key, ShareUpdateKey.VERSIONS.highest), _update_value(record.offset)
    key = ShareSnapshotKey(group_id=group_id, topic_id=topic_id, partition=partition)
    value = None if offset is None else _snapshot_value(offset)
    return encode_with_version(key, ShareSnapshotKey.VERSIONS.highest), value


def _snapshot_value(offset: ShareGroupOffset) -> bytes:
    value = ShareSnapshotValue(
        snapshot_epoch=offset.snapshot_epoch,
        state_epoch=offset.state_epoch,
        leader_epoch=offset.leader_epoch,
        start_offset=offset.start_offset,
        create_timestamp=offset.create_timestamp,
        write_timestamp=offset.write_timestamp,
        state_batches=to_messages(offset.state_batches),
    )
    return encode_with_version(value, VALUE_VERSION)


def _update_value(offset: ShareGroupOffset) -> bytes:
    value = ShareUpdateValue(
        snapshot_epoch=offset.snapshot_epoch,
        leader_epoch=offset.leader_epoch,
        start_offset=offset.start_offset,
        state_batches=to_messages(offset.state_batches),
    )
    return encode_with_version(value, VALUE_VERSION)


def decode(key: bytes, value: bytes | None) -> ShareRecord | None:
    """The record; None for a kind that is not known, as a later version may write. Raises SchemaError."""
    match read_version(key):
        case ShareSnapshotKey.VERSIONS.highest:
            return ShareSnapshot(_key(decode_with_version(ShareSnapshotKey, key)), _read_snapshot(value))
        case ShareUpdateKey.VERSIONS.highest:
            if value is None:
                raise SchemaError("an update has no value")
            return ShareUpdate(_key(decode_with_version(ShareUpdateKey, key)), _read_update(value))
        case _:
            return None


def _key(key: ShareSnapshotKey | ShareUpdateKey) -> SharePartitionKey:
    return SharePartitionKey(key.group_id, key.topic_id, key.partition)


def _read_snapshot(data: bytes | None) -> ShareGroupOffset | None:
    if data is None:
        return None
    value = decode_with_version(ShareSnapshotValue, data)
    return ShareGroupOffset(
        value.snapshot_epoch,
        value.leader_epoch,
        value.start_offset,
        from_messages(value.state_batches),
        value.state_epoch,
        value.create_timestamp,
        value.write_timestamp,
    )


def _read_update(data: bytes) -> ShareGroupOffset:
    value = decode_with_version(ShareUpdateValue, data)
    batches = from_messages(value.state_batches)
    return ShareGroupOffset(value.snapshot_epoch, value.leader_epoch, value.start_offset, batches)


def to_messages(batches: Iterable[PersisterStateBatch]) -> list[StateBatch]:
    """Batches as records and requests have them."""
    return [
        StateBatch(first_offset=first, last_offset=last, delivery_state=state, delivery_count=count)
        for first, last, state, count in batches
    ]


def from_messages(batches: Iterable[StateBatch]) -> tuple[PersisterStateBatch, ...]:
    """The other way round."""
    return tuple(
        PersisterStateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in batches
    )
