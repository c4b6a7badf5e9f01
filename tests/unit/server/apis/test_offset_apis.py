"""Requests about committed offsets, between the wire and the coordinator."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.protocol.messages import api_28_txn_offset_commit as txn_offset_commit
from kafka_lite.protocol.messages import api_47_offset_delete as offset_delete
from tests.support.group_apis import FAILURES, OURS, Apis, commit_request, errors_of
from tests.support.groups import GROUP, MINUTE_MS


@pytest.fixture
def apis() -> Apis:
    return Apis()


@pytest.mark.parametrize("version", range(1, 10))
def test_every_version_of_commit(apis: Apis, version: int) -> None:
    answer = apis.ask(apis.offset_apis.handle_offset_commit, version, commit_request())
    assert errors_of(answer) == [0, Errors.UNKNOWN_TOPIC_OR_PARTITION.code]
    assert apis.groups.committed() == 7


@pytest.mark.parametrize(
    ("inter_broker", "fields", "expires_after_ms"),
    [
        (ApiVersion.KAFKA_3_9_IV0, {}, None),
        (ApiVersion.KAFKA_3_9_IV0, {"retention_time_ms": 5000}, 5000),
        (ApiVersion.KAFKA_0_10_2_IV0, {}, 60 * MINUTE_MS),
        (ApiVersion.KAFKA_0_10_2_IV0, {"retention_time_ms": 5000}, 5000),
        (ApiVersion.KAFKA_0_10_2_IV0, {"commit_timestamp": 1000}, None),
    ],
)
def test_expiration_of_a_committed_offset(
    inter_broker: ApiVersion, fields: dict[str, Any], expires_after_ms: int | None
) -> None:
    apis = Apis(inter_broker)
    apis.ask(apis.offset_apis.handle_offset_commit, 2, commit_request(**fields))
    offset = apis.groups.group().offsets.get(OURS)
    assert offset is not None
    now_ms = apis.groups.time.milliseconds()
    if "commit_timestamp" in fields:
        assert (offset.commit_timestamp_ms, offset.expire_timestamp_ms) == (1000, 1000 + 60 * MINUTE_MS)
    else:
        expected = None if expires_after_ms is None else now_ms + expires_after_ms
        assert (offset.commit_timestamp_ms, offset.expire_timestamp_ms) == (now_ms, expected)


def test_the_leader_epoch_of_a_committed_offset_is_kept(apis: Apis) -> None:
    apis.ask(apis.offset_apis.handle_offset_commit, 6, commit_request(leader_epoch=4))
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, 5, fetch_request())
    assert [p.committed_leader_epoch for p in answer.topics[0].partitions] == [4, -1]


def fetch_request(group_id: str = GROUP, **fields: Any) -> offset_fetch.OffsetFetchRequest:
    topic = offset_fetch.OffsetFetchRequestTopic(name="topic", partition_indexes=[0, 9])
    return offset_fetch.OffsetFetchRequest(group_id=group_id, **({"topics": [topic]} | fields))


@pytest.mark.parametrize("version", range(1, 8))
def test_every_version_of_fetch(apis: Apis, version: int) -> None:
    apis.groups.commit(7)
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, version, fetch_request())
    found = [(p.partition_index, p.committed_offset, p.error_code) for p in answer.topics[0].partitions]
    assert found == [(0, 7, 0), (9, -1, 0)]
    apis.groups.coordinator.shutdown()
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, version, fetch_request())
    gone = Errors.COORDINATOR_NOT_AVAILABLE.code
    assert errors_of(answer) == ([gone, gone] if version < 2 else [])
    assert answer.error_code == gone


def test_a_fetch_of_several_groups(apis: Apis) -> None:
    apis.groups.commit(7)
    groups = [
        offset_fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=None),
        offset_fetch.OffsetFetchRequestGroup(group_id="nobody", topics=None),
    ]
    body = offset_fetch.OffsetFetchRequest(groups=groups)
    ours, nobody = apis.ask(apis.offset_apis.handle_offset_fetch, 8, body).groups
    assert [(t.name, [p.committed_offset for p in t.partitions]) for t in ours.topics] == [("topic", [7])]
    assert (nobody.error_code, nobody.topics) == (0, [])
    apis.groups.coordinator.shutdown()
    for group in apis.ask(apis.offset_apis.handle_offset_fetch, 8, body).groups:
        assert group.error_code == Errors.COORDINATOR_NOT_AVAILABLE.code


def test_version_0_stores_offsets_in_zookeeper(apis: Apis) -> None:
    unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION.code
    assert errors_of(apis.ask(apis.offset_apis.handle_offset_fetch, 0, fetch_request())) == [unknown, unknown]
    answer = apis.ask(apis.offset_apis.handle_offset_commit, 0, commit_request(offset=5))
    assert errors_of(answer) == [0, unknown]
    assert apis.zk_client.offsets == {(GROUP, OURS): 5}
    assert apis.groups.committed() == -1
    fetched = apis.ask(apis.offset_apis.handle_offset_fetch, 0, fetch_request()).topics[0].partitions[0]
    assert (fetched.committed_offset, fetched.metadata, fetched.error_code) == (5, "", 0)
    for length, error in ((100, Errors.NONE), (101, Errors.OFFSET_METADATA_TOO_LARGE)):
        answer = apis.ask(apis.offset_apis.handle_offset_commit, 0, commit_request(metadata="x" * length))
        assert errors_of(answer)[0] == error.code


def test_who_asks_for_stable_offsets_waits_for_the_end_of_a_transaction(apis: Apis) -> None:
    apis.groups.commit(7)
    partition = txn_offset_commit.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=9)
    topic = txn_offset_commit.TxnOffsetCommitRequestTopic(name="topic", partitions=[partition])
    body = txn_offset_commit.TxnOffsetCommitRequest(
        transactional_id="t", group_id=GROUP, producer_id=1, producer_epoch=0, topics=[topic]
    )
    apis.ask(apis.offset_apis.handle_txn_offset_commit, 3, body)
    for stable, found in ((False, (7, 0)), (True, (-1, Errors.UNSTABLE_OFFSET_COMMIT.code))):
        one = apis.ask(apis.offset_apis.handle_offset_fetch, 7, fetch_request(require_stable=stable))
        many = offset_fetch.OffsetFetchRequest(
            groups=[offset_fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=None)], require_stable=stable
        )
        (group,) = apis.ask(apis.offset_apis.handle_offset_fetch, 8, many).groups
        for answer in (one, group):
            partition = answer.topics[0].partitions[0]
            assert (partition.committed_offset, partition.error_code) == found


@pytest.mark.parametrize("group", FAILURES)
def test_a_failure_of_zookeeper_is_an_unknown_server_error(
    apis: Apis, caplog: pytest.LogCaptureFixture, group: str
) -> None:
    failed = Errors.UNKNOWN_SERVER_ERROR.code
    assert errors_of(apis.ask(apis.offset_apis.handle_offset_commit, 0, commit_request(group)))[0] == failed
    assert errors_of(apis.ask(apis.offset_apis.handle_offset_fetch, 0, fetch_request(group)))[0] == failed
    assert [str(FAILURES[group]) in record.message and not record.exc_info for record in caplog.records] == [True] * 3


def test_offsets_are_deleted(apis: Apis) -> None:
    partitions = [offset_delete.OffsetDeleteRequestPartition(partition_index=index) for index in (0, 9)]
    topics = [offset_delete.OffsetDeleteRequestTopic(name="topic", partitions=partitions)]
    body = offset_delete.OffsetDeleteRequest(group_id=GROUP, topics=topics)
    answer = apis.ask(apis.offset_apis.handle_offset_delete, 0, body)
    assert answer.error_code == Errors.GROUP_ID_NOT_FOUND.code
    apis.groups.commit(7)
    answer = apis.ask(apis.offset_apis.handle_offset_delete, 0, body)
    assert errors_of(answer) == [0, Errors.UNKNOWN_TOPIC_OR_PARTITION.code]
    assert apis.groups.committed() == -1


def test_a_member_of_a_group_that_the_coordinator_assigns_says_its_epoch(apis: Apis) -> None:
    group = apis.groups.manager.get_or_create_group(GROUP)
    group.modern = ConsumerGroup(GROUP)
    group.modern.replay(group_records.member_subscription(GROUP, ConsumerGroupMember("m")))
    group.modern.replay(group_records.current_assignment(GROUP, ConsumerGroupMember("m", member_epoch=3)))

    def commit(version: int, epoch: int) -> int:
        request = commit_request(member_id="m", generation_id_or_member_epoch=epoch)
        return errors_of(apis.ask(apis.offset_apis.handle_offset_commit, version, request))[0]

    assert (commit(9, 3), commit(9, 2)) == (0, Errors.STALE_MEMBER_EPOCH.code)
    assert (commit(8, 3), commit(8, 2)) == (Errors.UNSUPPORTED_VERSION.code,) * 2

    def fetch(member_id: str | None, epoch: int) -> int:
        asked = offset_fetch.OffsetFetchRequestGroup(
            group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None
        )
        request = offset_fetch.OffsetFetchRequest(groups=[asked])
        return int(apis.ask(apis.offset_apis.handle_offset_fetch, 9, request).groups[0].error_code)

    assert (fetch("m", 3), fetch(None, -1)) == (0, 0)
    assert fetch("m", 2) == Errors.STALE_MEMBER_EPOCH.code
    assert fetch("other", 3) == Errors.UNKNOWN_MEMBER_ID.code
