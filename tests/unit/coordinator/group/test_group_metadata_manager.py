"""Groups and offsets in the log: written, loaded, deleted."""

from __future__ import annotations

import logging
from unittest.mock import Mock

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.offsets_log import LOAD_RETRY_MS
from kafka_lite.protocol.messages.group_records import GroupMetadataKey, OffsetCommitKey
from kafka_lite.protocol.version_prefixed import read_version
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from tests.support.groups import GROUP, MINUTE_MS, Groups, MemoryLog
from tests.support.samples import hex_sample

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


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    ("refusal", "answer"),
    [
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
        (Errors.KAFKA_STORAGE_ERROR, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE),
        (Errors.RECORD_LIST_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE),
        (Errors.REQUEST_TIMED_OUT, Errors.REQUEST_TIMED_OUT),
    ],
)
def test_errors_of_a_failed_append_are_translated_for_commits(groups: Groups, refusal: Errors, answer: Errors) -> None:
    groups.commit(1)
    groups.offsets_log.error = refusal
    assert groups.commit(2) is answer
    assert groups.committed() == 1
    assert not groups.group().offsets.is_pending(TopicPartition("topic", 0))


def test_too_long_metadata_is_refused_for_its_partition_only(groups: Groups) -> None:
    assert groups.commit(1, metadata="x" * 100) is Errors.NONE
    assert groups.commit(2, metadata="x" * 101) is Errors.OFFSET_METADATA_TOO_LARGE
    assert groups.committed() == 1


def test_a_commit_gets_its_response_once_it_is_in_the_log(groups: Groups) -> None:
    groups.commit(1)
    groups.offsets_log.held = []
    assert groups.commit(2) is None
    assert groups.committed() == 1
    topic_partition = TopicPartition("topic", 0)
    unstable = groups.offsets.handle_fetch_offsets(GROUP, [topic_partition], require_stable=True)
    assert unstable[topic_partition][1] is Errors.UNSTABLE_OFFSET_COMMIT
    groups.offsets_log.release()
    assert groups.committed() == 2


def test_a_commit_in_progress_is_not_lost_when_the_group_moves(groups: Groups) -> None:
    groups.offsets_log.held = []
    groups.commit(2)
    for partition in range(2):
        groups.coordinator.on_resignation(partition, 1)
    groups.sleep(0)
    groups.offsets_log.release()
    assert groups.restart().committed() == 2


# ── forgetting ────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def marker(kind: ControlRecordType) -> tuple[bytes, bytes]:
    end = EndTransactionMarker(kind, 0)
    return end.key, end.value


@pytest.mark.parametrize(("end", "expected"), [(ControlRecordType.COMMIT, 2), (ControlRecordType.ABORT, 1), (None, 1)])
def test_offsets_of_a_transaction_count_once_it_commits(
    groups: Groups, end: ControlRecordType | None, expected: int
) -> None:
    append(groups, offset_record(1))
    append(groups, offset_record(2), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    if end is not None:
        append(groups, marker(end), producer_id=9, producer_epoch=0, is_transactional=True, is_control=True)
    assert groups.restart().committed() == expected


def test_a_commit_between_a_transaction_and_its_marker_is_the_newer_one(groups: Groups) -> None:
    append(groups, offset_record(2), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    append(groups, offset_record(3))
    append(
        groups,
        marker(ControlRecordType.COMMIT),
        producer_id=9,
        producer_epoch=0,
        is_transactional=True,
        is_control=True,
    )
    assert groups.restart().committed() == 3


def test_undecodable_records_are_skipped(groups: Groups, caplog: pytest.LogCaptureFixture) -> None:
    key, value = offset_record(5)
    append(groups, (key, value))
    append(groups, (b"\x00\x63from the future", b""), (b"\x00", b""), (key, b"\x00\x09"), (b"\x00\x02\x00\x01x", b"?"))
    with caplog.at_level(logging.WARNING):
        after = groups.restart()
    assert after.committed() == 5
    assert "Ignoring the record with an unknown key at offset 1" in caplog.text
    assert caplog.text.count("Skipping the record") == 3


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


# ── administrators ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_groups_are_listed_by_state_and_type(groups: Groups) -> None:
    groups.stable(group_id="stable")
    groups.commit(1, group_id="offsets only")
    groups.member(group_id="rebalancing").join()

    def listed(states: list[str], types: list[str]) -> set[tuple[str, str, str]]:
        response = groups.admin.handle_list_groups(states, types)
        assert response.error_code == 0
        return {(g.group_id, g.protocol_type, g.group_state) for g in response.groups}

    stable, simple = ("stable", "consumer", "Stable"), ("offsets only", "", "Empty")
    rebalancing = ("rebalancing", "consumer", "CompletingRebalance")
    assert listed([], []) == {stable, simple, rebalancing}
    assert listed(["STABLE", "empty"], []) == {stable, simple}
    assert listed(["Unheard of"], []) == set()
    assert listed([], ["Classic"]) == {stable, simple, rebalancing}
    assert listed([], ["share"]) == set()


def test_a_group_is_described_with_its_members(groups: Groups) -> None:
    assert groups.admin.handle_describe_group(GROUP).group_state == "Dead"
    (member,) = groups.stable(instance_id="name")
    described = groups.admin.handle_describe_group(GROUP)
    assert (described.group_state, described.protocol_type, described.protocol_data) == ("Stable", "consumer", "range")
    (found,) = described.members
    assert (found.member_id, found.group_instance_id, found.client_id) == (member.member_id, "name", "client")
    assert (found.client_host, found.member_metadata) == ("/127.0.0.1", member.protocols[0][1])
    assert found.member_assignment == member.member_id.encode()
    groups.member().join()
    described = groups.admin.handle_describe_group(GROUP)
    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert {m.member_metadata for m in described.members} == {b""}


def test_only_groups_without_members_are_deleted(groups: Groups) -> None:
    (member,) = groups.stable()
    member.commit(7)
    assert groups.admin.handle_delete_groups([GROUP, "nobody"]) == {
        GROUP: Errors.NON_EMPTY_GROUP,
        "nobody": Errors.GROUP_ID_NOT_FOUND,
    }
    member.leave()
    assert groups.admin.handle_delete_groups([GROUP]) == {GROUP: Errors.NONE}
    assert groups.state() is None
    assert groups.restart().manager.current_groups == []


def test_offsets_are_deleted_only_for_topics_without_subscribers(groups: Groups) -> None:
    (member,) = groups.stable()
    committer = Committer(member.member_id, member.generation)
    for topic in ("topic", "other"):
        groups.commit(7, topic=topic, committer=committer)
    ours, other = TopicPartition("topic", 0), TopicPartition("other", 0)
    assert groups.offsets.handle_delete_offsets(GROUP, [ours, other]) == {
        ours: Errors.GROUP_SUBSCRIBED_TO_TOPIC,
        other: Errors.NONE,
    }
    assert (groups.committed(), groups.committed("other")) == (7, -1)
    member.leave()
    assert groups.offsets.handle_delete_offsets(GROUP, [ours]) == {ours: Errors.NONE}
    assert groups.state() is None, "the group is gone, too"


@pytest.mark.parametrize(
    ("prepare", "error"),
    [
        (lambda _groups: None, Errors.GROUP_ID_NOT_FOUND),
        (lambda groups: groups.stable(protocol_type="connect"), Errors.NON_EMPTY_GROUP),
        (lambda groups: groups.coordinator.shutdown(), Errors.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_groups_whose_offsets_cannot_be_deleted(groups: Groups, prepare: object, error: Errors) -> None:
    prepare(groups)  # type: ignore[operator]
    with pytest.raises(ApiError) as failure:
        groups.offsets.handle_delete_offsets(GROUP, [TopicPartition("topic", 0)])
    assert failure.value.error is error


def test_all_offsets_of_a_group_are_fetched_at_once(groups: Groups) -> None:
    assert groups.offsets.handle_fetch_offsets(GROUP, None) == {}
    for partition in range(3):
        groups.commit(partition, partition=partition)
    fetched = groups.offsets.handle_fetch_offsets(GROUP, None)
    assert {tp.partition: offset.offset for tp, (offset, _) in fetched.items()} == {0: 0, 1: 1, 2: 2}


# ── logs of real brokers ──────────────────────────────────────────────────────────────────────────────────────────────


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
