"""Requests about groups and their offsets, between the wire and the coordinator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages import api_08_offset_commit as offset_commit
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.protocol.messages import api_11_join_group as join_group
from kafka_lite.protocol.messages import api_12_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_13_leave_group as leave_group
from kafka_lite.protocol.messages import api_14_sync_group as sync_group
from kafka_lite.protocol.messages import api_15_describe_groups as describe_groups
from kafka_lite.protocol.messages import api_28_txn_offset_commit as txn_offset_commit
from kafka_lite.protocol.messages import api_42_delete_groups as delete_groups
from kafka_lite.protocol.messages import api_47_offset_delete as offset_delete
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.group_apis import GROUP_OPERATIONS, GroupApis
from kafka_lite.server.apis.metadata_apis import NO_AUTHORIZED_OPERATIONS
from kafka_lite.server.apis.offset_apis import OffsetApis
from kafka_lite.zookeeper.zk_errors import ZkError
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.groups import GROUP, MINUTE_MS, Groups

OURS, UNKNOWN = TopicPartition("topic", 0), TopicPartition("topic", 9)


FAILURES: dict[str, Exception] = {
    "broken": ZkError("no ZooKeeper"),
    "\x01": ZkError("BadArgumentsError (/consumers/\x01)"),
    "a/../b": ValueError("relative paths not allowed"),
    "written by hand": ZnodeDataError("/consumers/.../0: not a number: b'soon'"),
}
"""What becomes of requests for these groups."""


class FakeZkClient:
    """Offsets of old consumers."""

    def __init__(self) -> None:
        self.offsets: dict[tuple[str, TopicPartition], int] = {}

    def set_consumer_offset(self, group: str, partition: TopicPartition, offset: int) -> None:
        if group in FAILURES:
            raise FAILURES[group]
        self.offsets[group, partition] = offset

    def get_consumer_offset(self, group: str, partition: TopicPartition) -> int | None:
        if group in FAILURES:
            raise FAILURES[group]
        return self.offsets.get((group, partition))


class TrustingVerification:
    """Takes every partition for a part of the transaction."""

    def verify_offsets(self, *arguments: Any) -> None:
        *_, respond = arguments
        respond(Errors.NONE, None)


class Apis:
    """Both kinds of handlers over a coordinator in memory; every response must fit into its version."""

    def __init__(self, version: ApiVersion = ApiVersion.KAFKA_3_9_IV0) -> None:
        self.groups = Groups(inter_broker_protocol_version=version)
        self.zk_client = FakeZkClient()
        cache = SimpleNamespace(
            contains=lambda topic: topic == "topic",
            get_partition_info=lambda partition: "there" if partition == OURS else None,
        )
        self.group_apis = GroupApis(self.groups.coordinator, self.groups.admin, version)
        self.offset_apis = OffsetApis(
            self.groups.offsets,
            self.groups.config,
            cast(Any, cache),
            cast(Any, self.zk_client),
            self.groups.time,
            cast(Any, TrustingVerification()),
        )

    def ask(self, handler: Any, version: int, body: Any) -> Any:
        answers: list[Response | None] = []
        header = SimpleNamespace(api_version=version, client_id="client")
        handler(SimpleNamespace(header=header, client_address="127.0.0.1"), body, answers.append)
        (answer,) = answers
        assert answer is not None
        answer.encode(version)
        return answer


@pytest.fixture
def apis() -> Apis:
    return Apis()


def join_request(**fields: Any) -> join_group.JoinGroupRequest:
    protocols = [join_group.JoinGroupRequestProtocol(name="range", metadata=b"")]
    return join_group.JoinGroupRequest(
        group_id=GROUP, session_timeout_ms=10_000, protocol_type="consumer", protocols=protocols, **fields
    )


def commit_request(group_id: str = GROUP, offset: int = 7, **fields: Any) -> offset_commit.OffsetCommitRequest:
    note = fields.pop("metadata", None)
    commit_timestamp = fields.pop("commit_timestamp", -1)
    leader_epoch = fields.pop("leader_epoch", -1)
    partitions = [
        offset_commit.OffsetCommitRequestPartition(
            partition_index=tp.partition,
            committed_offset=offset,
            committed_metadata=note,
            committed_leader_epoch=leader_epoch,
            commit_timestamp=commit_timestamp,
        )
        for tp in (OURS, UNKNOWN)
    ]
    topics = [offset_commit.OffsetCommitRequestTopic(name="topic", partitions=partitions)]
    return offset_commit.OffsetCommitRequest(group_id=group_id, topics=topics, **fields)


def errors_of(answer: Any) -> list[int]:
    return [partition.error_code for topic in answer.topics for partition in topic.partitions]


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join(apis: Apis, version: int) -> None:
    answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(rebalance_timeout_ms=20_000))
    if version >= 4:
        assert answer.error_code == Errors.MEMBER_ID_REQUIRED.code
        answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(member_id=answer.member_id))
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, answer.member_id)
    assert answer.member_id.startswith("client-")


def test_join_v0_uses_the_session_timeout_for_the_rebalance_too(apis: Apis) -> None:
    apis.ask(apis.group_apis.handle_join_group, 0, join_request())
    assert apis.groups.group().rebalance_timeout_ms == 10_000


@pytest.mark.parametrize("version", [0, 7])
def test_an_error_response_to_join_fits_into_every_version(apis: Apis, version: int) -> None:
    answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(member_id="nobody"))
    assert answer.error_code == Errors.UNKNOWN_MEMBER_ID.code
    assert answer.protocol_name == ("" if version < 7 else None)


def test_sync_returns_its_protocol_since_version_5(apis: Apis) -> None:
    body = sync_group.SyncGroupRequest(group_id=GROUP, member_id="nobody")
    assert apis.ask(apis.group_apis.handle_sync_group, 4, body).error_code == Errors.UNKNOWN_MEMBER_ID.code
    answer = apis.ask(apis.group_apis.handle_sync_group, 5, body)
    assert answer.error_code == Errors.INCONSISTENT_GROUP_PROTOCOL.code


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_leave(apis: Apis, version: int) -> None:
    (member,) = apis.groups.stable()
    body = leave_group.LeaveGroupRequest(group_id=GROUP, member_id=member.member_id)
    if version >= 3:
        body = leave_group.LeaveGroupRequest(
            group_id=GROUP, members=[leave_group.MemberIdentity(member_id=member.member_id)]
        )
    assert apis.ask(apis.group_apis.handle_leave_group, version, body).error_code == 0
    again = apis.ask(apis.group_apis.handle_leave_group, version, body)
    code = again.members[0].error_code if version >= 3 else again.error_code
    assert code == Errors.UNKNOWN_MEMBER_ID.code


def test_authorized_operations_are_returned_on_request(apis: Apis) -> None:
    for wanted, told in ((True, GROUP_OPERATIONS), (False, NO_AUTHORIZED_OPERATIONS)):
        body = describe_groups.DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=wanted)
        (group,) = apis.ask(apis.group_apis.handle_describe_groups, 5, body).groups
        assert (group.group_state, group.authorized_operations) == ("Dead", told)


def test_a_group_that_is_listed_twice_is_deleted_once(apis: Apis) -> None:
    apis.groups.commit(1)
    body = delete_groups.DeleteGroupsRequest(groups_names=[GROUP, GROUP, "nobody"])
    results = apis.ask(apis.group_apis.handle_delete_groups, 2, body).results
    assert [(r.group_id, r.error_code) for r in results] == [(GROUP, 0), ("nobody", Errors.GROUP_ID_NOT_FOUND.code)]


def test_static_members_are_rejected_with_an_old_inter_broker_protocol() -> None:
    apis = Apis(ApiVersion.KAFKA_0_10_2_IV0)
    refused = Errors.UNSUPPORTED_VERSION.code
    static: dict[str, Any] = {"group_instance_id": "name"}
    bodies = [
        (apis.group_apis.handle_join_group, 5, join_request(**static)),
        (apis.group_apis.handle_sync_group, 3, sync_group.SyncGroupRequest(group_id=GROUP, **static)),
        (apis.group_apis.handle_heartbeat, 3, heartbeat.HeartbeatRequest(group_id=GROUP, **static)),
    ]
    assert {apis.ask(*asked).error_code for asked in bodies} == {refused}
    answer = apis.ask(apis.offset_apis.handle_offset_commit, 7, commit_request(**static))
    assert errors_of(answer) == [refused, refused]


@pytest.mark.parametrize("version", range(1, 9))
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
