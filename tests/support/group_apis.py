"""Handlers of requests about groups and offsets, over a coordinator in memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages import api_08_offset_commit as offset_commit
from kafka_lite.protocol.schema import Response
from kafka_lite.server.apis.group_apis import GroupApis
from kafka_lite.server.apis.offset_apis import OffsetApis
from kafka_lite.zookeeper.zk_errors import ZkError
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from tests.support.groups import GROUP, Groups

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
