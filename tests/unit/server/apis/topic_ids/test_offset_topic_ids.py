"""OffsetCommit and OffsetFetch by topic ids: version 10."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_08_offset_commit as offset_commit
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.protocol.schema import Request
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.server.apis.topic_ids.offset_topic_ids import by_topic_ids
from kafka_lite.server.auth.authorizing_handlers import authorizing
from tests.support.authorizing import Broker
from tests.support.group_apis import Apis
from tests.support.groups import GROUP

A, B, GONE = UUID(int=1), UUID(int=2), UUID(int=9)
NAMES = {A: "a", B: "b"}
UNKNOWN = Errors.UNKNOWN_TOPIC_ID.code


class Topics:
    """Two topics."""

    def topic_name(self, topic_id: UUID) -> str | None:
        return NAMES.get(topic_id)

    def topic_id(self, topic: str) -> UUID | None:
        return next((topic_id for topic_id, name in NAMES.items() if name == topic), None)

    def contains(self, topic: str) -> bool:
        return self.topic_id(topic) is not None

    def get_all_topics(self) -> list[str]:
        return list(NAMES.values())


@pytest.fixture
def apis() -> Apis:
    """A coordinator; all partitions of both topics exist."""
    apis = Apis()
    topics = Topics()
    cache = SimpleNamespace(
        contains=topics.contains,
        topic_name=topics.topic_name,
        topic_id=topics.topic_id,
        get_partition_info=lambda partition: "there" if topics.contains(partition.topic) else None,
    )
    apis.offset_apis._metadata_cache = cast(Any, cache)
    return apis


def commit(*topic_ids: UUID) -> offset_commit.OffsetCommitRequest:
    partition = offset_commit.OffsetCommitRequestPartition(
        partition_index=1, committed_offset=7, committed_metadata=None
    )
    topics = [offset_commit.OffsetCommitRequestTopic(topic_id=each, partitions=[partition]) for each in topic_ids]
    return offset_commit.OffsetCommitRequest(group_id=GROUP, topics=topics)


def fetch(*topic_ids: UUID, everything: bool = False) -> offset_fetch.OffsetFetchRequest:
    topics = [offset_fetch.OffsetFetchRequestTopics(topic_id=each, partition_indexes=[1]) for each in topic_ids]
    group = offset_fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=None if everything else topics)
    return offset_fetch.OffsetFetchRequest(groups=[group])


def on_the_wire(message: Any, version: int = 10) -> Any:
    """The message as the other side reads it."""
    return type(message).decode_from(message.encode(version), 0, version)[0]


def committed(response: Any) -> list[tuple[UUID, int]]:
    return [(topic.topic_id, topic.partitions[0].error_code) for topic in on_the_wire(response).topics]


def fetched(response: Any) -> list[tuple[UUID, int, int]]:
    (group,) = on_the_wire(response).groups
    assert group.error_code == 0
    return [(t.topic_id, t.partitions[0].committed_offset, t.partitions[0].error_code) for t in group.topics]


def test_offsets_are_committed_and_fetched_by_ids(apis: Apis) -> None:
    answer = apis.ask(apis.offset_apis.handle_offset_commit, 10, on_the_wire(commit(B, GONE, A)))
    assert committed(answer) == [(B, 0), (A, 0), (GONE, UNKNOWN)]
    assert (apis.groups.committed("a", 1), apis.groups.committed("b", 1)) == (7, 7)
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, 10, on_the_wire(fetch(A, GONE)))
    assert fetched(answer) == [(A, 7, 0), (GONE, -1, UNKNOWN)]


def test_of_all_offsets_those_of_topics_without_id_are_left_out(apis: Apis) -> None:
    apis.groups.commit(3, "a", 1)
    apis.groups.commit(4, "old", 1)
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, 10, on_the_wire(fetch(everything=True)))
    assert fetched(answer) == [(A, 3, 0)]


def test_a_commit_of_unknown_topics_only_asks_nobody(apis: Apis) -> None:
    answer = apis.ask(apis.offset_apis.handle_offset_commit, 10, on_the_wire(commit(GONE)))
    assert committed(answer) == [(GONE, UNKNOWN)]
    assert apis.groups.manager.get_group(GROUP) is None


def test_a_group_in_error_has_no_topics(apis: Apis) -> None:
    apis.groups.coordinator.shutdown()
    answer = apis.ask(apis.offset_apis.handle_offset_fetch, 10, on_the_wire(fetch(A, GONE)))
    (group,) = on_the_wire(answer).groups
    assert (group.error_code, group.topics) == (Errors.COORDINATOR_NOT_AVAILABLE.code, [])


def test_names_of_older_versions_are_left_alone() -> None:
    seen: list[Any] = []
    handler = by_topic_ids(Topics(), lambda _request, body, _respond: seen.append(body))
    body = commit(A)
    handler(cast(Any, SimpleNamespace(header=SimpleNamespace(api_version=9))), body, lambda _: None)
    assert seen == [body]
    assert seen[0] is body


@pytest.mark.parametrize(
    ("body", "right", "refused"),
    [(commit(A, B, GONE), AclOperation.READ, "topics"), (fetch(A, B, GONE), AclOperation.DESCRIBE, "groups")],
)
def test_rights_are_those_of_the_names(apis: Apis, body: Request, right: AclOperation, refused: str) -> None:
    broker = Broker(f"{right.name} GROUP {GROUP}", f"{right.name} TOPIC a")
    handlers = {"topics": apis.offset_apis.handle_offset_commit, "groups": apis.offset_apis.handle_offset_fetch}
    handler = authorizing(broker.auth, False, Topics())(body.API_KEY, handlers[refused])
    answers: list[Any] = []
    handler(broker.request(body.API_KEY, 10, body), on_the_wire(body), answers.append)
    errors = {each[0]: each[-1] for each in (committed(answers[0]) if refused == "topics" else fetched(answers[0]))}
    assert errors == {A: 0, B: Errors.TOPIC_AUTHORIZATION_FAILED.code, GONE: UNKNOWN}
