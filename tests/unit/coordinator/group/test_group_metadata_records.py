"""The records of groups and offsets, in the versions that every broker of the cluster can read."""

from __future__ import annotations

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.protocol.messages.group_records import GroupMetadataKey
from kafka_lite.protocol.version_prefixed import read_version
from kafka_lite.record.records import batches
from tests.support.groups import GROUP, Groups, MemoryLog
from tests.support.samples import hex_sample


@pytest.fixture
def groups() -> Groups:
    return Groups()


def group_log(groups: Groups, group_id: str = GROUP) -> MemoryLog:
    return groups.offsets_log.log(groups.manager.topic_partition_for(group_id))


@pytest.mark.parametrize(
    ("version", "offset_version", "group_version"),
    [
        (ApiVersion.KAFKA_0_10_0_IV1, 1, 0),
        (ApiVersion.KAFKA_0_10_2_IV0, 1, 1),
        (ApiVersion.KAFKA_2_0_IV1, 1, 1),
        (ApiVersion.KAFKA_2_1_IV0, 2, 2),
        (ApiVersion.KAFKA_2_1_IV1, 3, 2),
        (ApiVersion.KAFKA_2_3_IV0, 3, 3),
        (ApiVersion.KAFKA_3_9_IV0, 3, 3),
    ],
)
def test_value_versions_follow_the_inter_broker_protocol(
    version: ApiVersion, offset_version: int, group_version: int
) -> None:
    groups = Groups(inter_broker_protocol_version=version)
    (member,) = groups.stable()
    assert member.commit(7) is Errors.NONE
    group, offset = group_log(groups).records()
    assert (read_version(group.key or b""), read_version(group.value or b"")) == (2, group_version)
    assert (read_version(offset.key or b""), read_version(offset.value or b"")) == (1, offset_version)
    after = groups.restart()
    assert after.committed() == 7
    assert (after.state(), after.group().members[member.member_id].assignment) == (
        GroupState.STABLE,
        member.member_id.encode(),
    )
    restored = after.group().members[member.member_id]
    expected_ms = member.session_timeout_ms if group_version == 0 else member.rebalance_timeout_ms
    assert (restored.rebalance_timeout_ms, restored.client_host) == (expected_ms, "/127.0.0.1")


def test_an_expiration_time_is_stored_in_any_cluster(groups: Groups) -> None:
    expire_ms = groups.time.milliseconds() + 1000
    assert groups.commit(7, expire_timestamp_ms=expire_ms) is Errors.NONE
    (record,) = group_log(groups).records()
    assert read_version(record.value or b"") == 1
    assert group_records.read_offset_value(record.value or b"").expire_timestamp_ms == expire_ms


def test_the_leader_epoch_of_an_offset_is_kept(groups: Groups) -> None:
    groups.commit(7, leader_epoch=5)
    topic_partition = TopicPartition("topic", 0)
    fetched, _ = groups.restart().offsets.handle_fetch_offsets(GROUP, [topic_partition])[topic_partition]
    assert fetched.leader_epoch == 5


@pytest.mark.parametrize(
    ("sample", "version"),
    [
        ("consumer-offsets-7", ApiVersion.KAFKA_0_10_2_IV0),
        ("consumer-offsets-8", ApiVersion.KAFKA_0_10_2_IV0),
        ("v39-consumer-offsets-4", ApiVersion.KAFKA_3_9_IV0),
    ],
)
def test_logs_written_by_kafka_are_read_and_rewritten_identically(sample: str, version: ApiVersion) -> None:
    time = MockTime()
    written = 0
    for batch in batches(hex_sample(f"{sample}.log.hex")):
        for record in () if batch.is_control else batch.records():
            key = group_records.read_key(record.key or b"")
            assert key is not None
            if record.value is None:
                continue
            if isinstance(key, GroupMetadataKey):
                assert group_records.group_metadata_key(key.group) == record.key
                group = group_records.read_group_value(key.group, record.value, time)
                assignment = {member.member_id: member.assignment for member in group.members.values()}
                assert group_records.group_metadata_value(group, assignment, version) == record.value
            else:
                topic_partition = TopicPartition(key.topic, key.partition)
                assert group_records.offset_commit_key(key.group, topic_partition) == record.key
                offset = group_records.read_offset_value(record.value)
                assert group_records.offset_commit_value(offset, version) == record.value
            written += 1
    assert written > 0
