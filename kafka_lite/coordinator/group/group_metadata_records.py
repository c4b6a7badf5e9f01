"""Encodes and decodes the keys and values of the records in ``__consumer_offsets``.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala (object GroupMetadataManager) · book 3.5.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.messages import group_records as records
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version

OFFSET_COMMIT_KEY_VERSION = 1
GROUP_METADATA_KEY_VERSION = 2
NO_TIMESTAMP = -1

Key = records.OffsetCommitKey | records.GroupMetadataKey


def offset_commit_value_version(inter_broker: ApiVersion, offset: OffsetAndMetadata) -> int:
    """The value version that every broker of the cluster can read. Version 1 also keeps an expiration time."""
    if inter_broker < ApiVersion.KAFKA_2_1_IV0 or offset.expire_timestamp_ms is not None:
        return 1
    return 2 if inter_broker < ApiVersion.KAFKA_2_1_IV1 else 3


def group_metadata_value_version(inter_broker: ApiVersion) -> int:
    """The version of group values that every broker of the cluster can read."""
    if inter_broker < ApiVersion.KAFKA_0_10_1_IV0:
        return 0
    if inter_broker < ApiVersion.KAFKA_2_1_IV0:
        return 1
    return 2 if inter_broker < ApiVersion.KAFKA_2_3_IV0 else 3


def offset_commit_key(group_id: str, topic_partition: TopicPartition) -> bytes:
    """The key of a committed offset."""
    topic, partition = topic_partition
    key = records.OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    return encode_with_version(key, OFFSET_COMMIT_KEY_VERSION)


def group_metadata_key(group_id: str) -> bytes:
    """The key of a group."""
    return encode_with_version(records.GroupMetadataKey(group=group_id), GROUP_METADATA_KEY_VERSION)


def group_keys(group: GroupMetadata) -> list[bytes]:
    """The keys of all records that may be in the log for the group itself, which has no members."""
    classic = [group_metadata_key(group.group_id)] if group.generation_id > 0 else []
    modern = group.modern.tombstones() if group.modern is not None else []
    share = group.share.tombstones() if group.share is not None else []
    return [*classic, *(encode(record)[0] for record in (*modern, *share))]


def offset_commit_value(offset: OffsetAndMetadata, inter_broker: ApiVersion) -> bytes:
    """The value of a committed offset."""
    expire_ms = offset.expire_timestamp_ms
    value = records.OffsetCommitValue(
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp_ms,
        expire_timestamp=NO_TIMESTAMP if expire_ms is None else expire_ms,
    )
    return encode_with_version(value, offset_commit_value_version(inter_broker, offset))


def group_metadata_value(group: GroupMetadata, assignment: Mapping[str, bytes], inter_broker: ApiVersion) -> bytes:
    """The value of a group: its current generation with every member's assignment."""
    value = records.GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=NO_TIMESTAMP if group.state_timestamp_ms is None else group.state_timestamp_ms,
        members=[_member_record(member, group.protocol_name or "", assignment) for member in group.members.values()],
    )
    return encode_with_version(value, group_metadata_value_version(inter_broker))


def _member_record(member: MemberMetadata, protocol: str, assignment: Mapping[str, bytes]) -> records.MemberMetadata:
    return records.MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol),
        assignment=assignment.get(member.member_id, b""),
    )


def read_key(key: bytes) -> Key | None:
    """The decoded key of a record; None for a version from the future. Raises SchemaError if the bytes are no key."""
    version = read_version(key)
    if version in records.OffsetCommitKey.VERSIONS:
        return decode_with_version(records.OffsetCommitKey, key)
    if version in records.GroupMetadataKey.VERSIONS:
        return decode_with_version(records.GroupMetadataKey, key)
    return None


def read_offset_value(value: bytes) -> OffsetAndMetadata:
    """A committed offset. Raises SchemaError if the bytes are none."""
    record = decode_with_version(records.OffsetCommitValue, value)
    expire = record.expire_timestamp
    return OffsetAndMetadata(
        record.offset,
        record.metadata,
        record.commit_timestamp,
        None if expire == NO_TIMESTAMP else expire,
        record.leader_epoch,
    )


def read_group_value(group_id: str, value: bytes, time: Time) -> GroupMetadata:
    """A group in its last generation: STABLE with its members, or EMPTY. Raises SchemaError."""
    record = decode_with_version(records.GroupMetadataValue, value)
    if record.members and record.protocol is None:
        raise SchemaError(f"group {group_id} has members, but no protocol")
    group = GroupMetadata(group_id, time)
    group.restore(
        [_restored_member(member, record) for member in record.members],
        generation_id=record.generation,
        protocol_type=record.protocol_type,
        protocol_name=record.protocol,
        leader_id=record.leader,
        state_timestamp_ms=None if record.current_state_timestamp == NO_TIMESTAMP else record.current_state_timestamp,
    )
    return group


def _restored_member(member: records.MemberMetadata, group: records.GroupMetadataValue) -> MemberMetadata:
    # Version 0 has one timeout for both.
    rebalance_timeout_ms = member.session_timeout if member.rebalance_timeout < 0 else member.rebalance_timeout
    return MemberMetadata(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        rebalance_timeout_ms,
        member.session_timeout,
        group.protocol_type,
        [(group.protocol or "", member.subscription)],
        member.assignment,
    )
