"""Groups and offsets in the log: written, loaded, deleted."""

from __future__ import annotations

import logging
from unittest.mock import Mock

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.offsets_log import LOAD_RETRY_MS
from kafka_lite.protocol.messages.group_records import GroupMetadataKey, OffsetCommitKey
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.groups import GROUP, MINUTE_MS, Groups, MemoryLog

RETENTION_MS = 60 * MINUTE_MS


@pytest.fixture
def groups() -> Groups:
    return Groups()


def group_log(groups: Groups, group_id: str = GROUP) -> MemoryLog:
    return groups.offsets_log.log(groups.manager.topic_partition_for(group_id))


def kinds(groups: Groups) -> list[tuple[str, bool]]:
    """The records in the log: the kind of each, and whether it is a tombstone."""
    found = []
    for record in group_log(groups).records():
        key = group_records.read_key(record.key or b"")
        name = {OffsetCommitKey: "offset", GroupMetadataKey: "group"}[type(key)]  # type: ignore[index]
        found.append((name, record.value is None))
    return found


def test_expired_offsets_and_empty_groups_get_tombstones(groups: Groups) -> None:
    (member,) = groups.stable()
    member.commit(7)
    member.leave()
    groups.sleep(RETENTION_MS + 10 * MINUTE_MS)
    assert groups.state() is None
    assert kinds(groups)[-2:] == [("offset", True), ("group", True)]
    after = groups.restart()
    assert (after.state(), after.committed()) == (None, -1)


def test_a_group_that_only_had_offsets_gets_no_tombstone_of_its_own(groups: Groups) -> None:
    groups.commit(7)
    groups.sleep(RETENTION_MS + 10 * MINUTE_MS)
    assert kinds(groups) == [("offset", False), ("offset", True)]
    assert groups.state() is None


def test_a_commit_after_a_tombstone_counts(groups: Groups) -> None:
    groups.commit(7)
    groups.group().offsets.prepare_commit({})
    groups.manager.cleanup_group_metadata([groups.group()], lambda g: g.offsets.remove([TopicPartition("topic", 0)]))
    assert groups.commit(8) is Errors.NONE
    assert groups.committed() == groups.restart().committed() == 8


def test_offsets_of_deleted_topics_are_deleted(groups: Groups) -> None:
    groups.commit(7)
    groups.commit(8, topic="other")
    groups.offsets.handle_deleted_partitions([TopicPartition("topic", 0)])
    after = groups.restart()
    assert (after.committed(), after.committed("other")) == (-1, 8)


def test_tombstones_that_cannot_be_written_are_only_logged(groups: Groups, caplog: pytest.LogCaptureFixture) -> None:
    groups.commit(7)
    groups.offsets_log.error = Errors.NOT_LEADER_OR_FOLLOWER
    with caplog.at_level(logging.ERROR):
        groups.offsets.handle_deleted_partitions([TopicPartition("topic", 0)])
    assert "Failed to append tombstones of group group: NOT_LEADER_OR_FOLLOWER" in caplog.text


def append(groups: Groups, *records: tuple[bytes, bytes | None], **batch: object) -> None:
    builder = MemoryRecordsBuilder(base_offset=group_log(groups).log_end_offset, **batch)  # type: ignore[arg-type]
    for key, value in records:
        builder.append(0, key, value)
    group_log(groups).batches.append((builder.last_offset, builder.build()))
    group_log(groups).log_end_offset = builder.last_offset + 1


def offset_record(number: int) -> tuple[bytes, bytes]:
    source = Groups()
    source.commit(number)
    (record,) = group_log(source).records()
    return record.key or b"", record.value or b""


def test_a_partition_is_loaded_once_and_only_for_the_newest_epoch(groups: Groups) -> None:
    groups.commit(7)
    (partition,) = {groups.manager.partition_for(GROUP)}
    group = groups.group()
    groups.coordinator.on_election(partition, 0)
    groups.sleep(0)
    assert groups.group() is group, "read already"
    groups.coordinator.on_resignation(partition, 5)
    groups.sleep(0)
    assert not groups.manager.is_group_local(GROUP)
    groups.coordinator.on_election(partition, 4)
    groups.sleep(0)
    assert not groups.manager.is_group_local(GROUP), "an order of before"
    groups.coordinator.on_election(partition, 6)
    groups.sleep(0)
    assert groups.committed() == 7
    groups.coordinator.on_resignation(partition, 5)
    groups.sleep(0)
    assert groups.manager.is_group_local(GROUP)
    groups.coordinator.on_resignation(partition, None)
    groups.sleep(0)
    assert not groups.manager.is_group_local(GROUP), "the replica is gone, so the epoch does not matter"


def test_a_partition_is_loaded_once_the_replicas_in_sync_have_its_log(groups: Groups) -> None:
    log = groups.offsets_log
    partition = TopicPartition("__consumer_offsets", groups.manager.partition_for(GROUP))
    groups.commit(7)
    end, log.high_watermark = log.log(partition).log_end_offset, 0
    after = Groups(offsets_log=log)
    after.sleep(1000)
    assert after.manager.is_group_loading(GROUP)
    assert after.manager.get_group(GROUP) is None, "what is loaded might be lost with this broker"
    log.high_watermark = end
    append(groups, offset_record(8))  # as a marker, after the election: there is no need to wait for that
    after.sleep(1000)
    assert not after.manager.is_group_loading(GROUP)
    assert after.committed() == 8


def test_a_leader_whose_epoch_is_raised_goes_on_waiting_for_its_log(groups: Groups) -> None:
    log = groups.offsets_log
    groups.commit(7)
    log.high_watermark = 0
    after = Groups(offsets_log=log)
    after.coordinator.on_election(after.manager.partition_for(GROUP), 1)
    after.sleep(1000)
    assert after.manager.is_group_loading(GROUP)
    log.high_watermark = None
    after.sleep(1000)
    assert after.committed() == 7


def test_a_partition_that_leaves_before_its_log_is_committed_is_not_loaded(groups: Groups) -> None:
    log = groups.offsets_log
    groups.commit(7)
    log.high_watermark = 0
    after = Groups(offsets_log=log)
    partition = after.manager.partition_for(GROUP)
    after.coordinator.on_resignation(partition, 5)
    after.sleep(1000)
    log.high_watermark = None
    after.sleep(1000)
    assert not after.manager.is_loading
    assert not after.manager.is_group_local(GROUP)
    after.coordinator.on_election(partition, 6)
    after.sleep(0)
    assert after.committed() == 7


def test_a_failed_load_does_not_leave_the_partition_loading(
    groups: Groups, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups.offsets_log, "get_leader_log", Mock(side_effect=OSError("no disk")))
    with caplog.at_level(logging.ERROR):
        after = Groups(offsets_log=groups.offsets_log)
    assert "Error loading offsets from __consumer_offsets-0" in caplog.text
    assert not after.manager.is_loading


def test_offsets_that_there_was_no_memory_for_are_loaded_later(
    groups: Groups, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups.commit(7)
    with monkeypatch.context() as scarcity:
        scarcity.setattr(MemoryLog, "read", Mock(side_effect=MemoryError))
        after = Groups(offsets_log=groups.offsets_log)
    assert "No memory to load __consumer_offsets-1: trying again" in caplog.text
    after.sleep(LOAD_RETRY_MS - 100)
    assert after.manager.is_group_loading(GROUP), "nobody is told that there are no offsets"
    after.sleep(200)
    assert after.committed() == 7
    assert not after.manager.is_loading


def test_a_partition_that_leaves_while_there_is_no_memory_for_it_is_not_loaded(
    groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups.commit(7)
    with monkeypatch.context() as scarcity:
        scarcity.setattr(MemoryLog, "read", Mock(side_effect=MemoryError))
        after = Groups(offsets_log=groups.offsets_log)
    after.coordinator.on_resignation(after.manager.partition_for(GROUP), 5)
    after.sleep(LOAD_RETRY_MS + 100)
    assert not after.manager.is_group_local(GROUP)
    assert not after.manager.is_loading


def test_a_partition_lost_before_its_load_is_only_logged(groups: Groups, caplog: pytest.LogCaptureFixture) -> None:
    groups.offsets_log.leads = False
    after = Groups(offsets_log=groups.offsets_log)
    assert "No groups are loaded from __consumer_offsets-0: This broker is not the leader" in caplog.text
    assert not any(record.exc_info for record in caplog.records)
    assert not after.manager.is_loading
