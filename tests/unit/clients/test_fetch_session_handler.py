"""What a client sends in the requests of a session, and what the responses mean for it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import pytest

from kafka_lite.clients.fetch_metadata import FetchMetadata
from kafka_lite.clients.fetch_session_handler import FetchSessionHandler
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchResponse, PartitionData

A, B, C = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
SESSION = 123


@pytest.fixture
def handler() -> FetchSessionHandler[int]:
    return FetchSessionHandler(1)


def respond(
    handler: FetchSessionHandler[int],
    partitions: Iterable[TopicPartition] = (),
    session_id: int = SESSION,
    error: Errors = Errors.NONE,
    throttle_time_ms: int = 0,
) -> bool:
    response = FetchResponse(error_code=error.code, session_id=session_id, throttle_time_ms=throttle_time_ms)
    return handler.handle_response(response, set(partitions))


def opened(handler: FetchSessionHandler[int]) -> FetchSessionHandler[int]:
    """With a session for A at 1 and B at 2."""
    handler.build({A: 1, B: 2})
    assert respond(handler, [A, B])
    return handler


def metadata(handler: FetchSessionHandler[int]) -> FetchMetadata:
    return handler.build({A: 1, B: 2}).metadata


def test_the_first_request_names_everything(handler: FetchSessionHandler[int]) -> None:
    data = handler.build({A: 1, B: 2})
    assert data.metadata == FetchMetadata(0, 0)
    assert data.to_send == data.session_partitions == {A: 1, B: 2}
    assert data.to_forget == []


def test_later_requests_name_what_has_changed(handler: FetchSessionHandler[int]) -> None:
    opened(handler)
    data = handler.build({A: 1, B: 2})
    assert (data.metadata, dict(data.to_send), data.to_forget) == (FetchMetadata(SESSION, 1), {}, [])
    assert data.session_partitions == {A: 1, B: 2}
    assert respond(handler)
    data = handler.build({C: 9, B: 3})
    assert (data.metadata, dict(data.to_send), data.to_forget) == (FetchMetadata(SESSION, 2), {C: 9, B: 3}, [A])
    assert list(data.session_partitions.items()) == [(B, 3), (C, 9)]
    assert [(each.topic, each.partitions) for each in data.forgotten_topics()] == [("t", [0])]


def test_forgotten_partitions_are_sent_by_topic(handler: FetchSessionHandler[int]) -> None:
    handler.build({A: 1, C: 3, B: 2})
    respond(handler, [A, B, C])
    forgotten = handler.build({}).forgotten_topics()
    assert [(each.topic, each.partitions) for each in forgotten] == [("t", [0, 1]), ("u", [0])]


def test_a_broker_without_sessions_gets_everything_each_time(handler: FetchSessionHandler[int]) -> None:
    for _ in range(3):
        data = handler.build({A: 1, B: 2})
        assert (data.metadata, data.to_send) == (FetchMetadata(0, 0), {A: 1, B: 2})
        assert respond(handler, [A, B], session_id=0)


def test_a_session_that_the_broker_closes_is_followed_by_another(handler: FetchSessionHandler[int]) -> None:
    opened(handler)
    metadata(handler)
    assert respond(handler, session_id=0)
    assert metadata(handler) == FetchMetadata(0, 0)


@pytest.mark.parametrize(
    ("error", "following"),
    [
        (Errors.FETCH_SESSION_ID_NOT_FOUND, FetchMetadata(0, 0)),
        (Errors.INVALID_FETCH_SESSION_EPOCH, FetchMetadata(SESSION, 0)),
        (Errors.UNKNOWN_SERVER_ERROR, FetchMetadata(SESSION, 0)),
    ],
)
def test_after_an_error_everything_is_named_again(
    handler: FetchSessionHandler[int], error: Errors, following: FetchMetadata
) -> None:
    opened(handler)
    metadata(handler)
    assert not respond(handler, session_id=0, error=error)
    data = handler.build({A: 1, B: 2})
    assert (data.metadata, data.to_send) == (following, {A: 1, B: 2})


def test_after_a_lost_connection_the_session_is_replaced(handler: FetchSessionHandler[int]) -> None:
    opened(handler)
    metadata(handler)
    handler.handle_error(ConnectionError("lost"))
    assert metadata(handler) == FetchMetadata(SESSION, 0)
    assert not respond(handler, [A])
    assert metadata(handler) == FetchMetadata(0, 0), "the broker has ended the session before it responded"


def test_the_session_has_its_own_copy_of_the_partitions(handler: FetchSessionHandler[int]) -> None:
    positions = {A: 1, B: 2}
    handler.build(positions)
    respond(handler, [A, B])
    positions[A] = 5
    assert handler.build(positions).to_send == {A: 5}


def test_the_session_can_be_ended(handler: FetchSessionHandler[int]) -> None:
    opened(handler)
    handler.notify_close()
    data = handler.build({})
    assert (data.metadata, dict(data.to_send), data.to_forget) == (FetchMetadata(SESSION, -1), {}, [])


@pytest.mark.parametrize("partitions", [[A], [A, B, C], []])
def test_a_full_response_must_have_exactly_the_partitions_of_the_request(
    handler: FetchSessionHandler[int], partitions: list[TopicPartition]
) -> None:
    handler.build({A: 1, B: 2})
    assert not respond(handler, partitions)
    assert metadata(handler) == FetchMetadata(0, 0)


def test_an_empty_full_response_of_a_throttling_broker_is_not_used(handler: FetchSessionHandler[int]) -> None:
    handler.build({A: 1, B: 2})
    assert not respond(handler, session_id=0, throttle_time_ms=100)
    assert metadata(handler) == FetchMetadata(0, 0)


def test_an_incremental_response_may_only_have_partitions_of_the_session(handler: FetchSessionHandler[int]) -> None:
    opened(handler)
    metadata(handler)
    assert respond(handler, [B])
    assert metadata(handler) == FetchMetadata(SESSION, 2)
    assert not respond(handler, [B, C])
    assert metadata(handler) == FetchMetadata(SESSION, 0)


class TestTopicIds:
    """KIP-516: the id of a topic stands for its name."""

    FIRST, SECOND, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)

    def opened(self, handler: FetchSessionHandler[int]) -> None:
        handler.build({A: 1, B: 2}, {"t": self.FIRST})
        assert respond(handler, [A, B])

    def test_ids_are_used_if_those_of_all_topics_are_known(self, handler: FetchSessionHandler[int]) -> None:
        assert handler.build({A: 1, C: 1}, {"t": self.FIRST, "u": self.OTHER}).uses_topic_ids
        assert not handler.build({A: 1, C: 1}, {"t": self.FIRST}).uses_topic_ids
        assert not handler.build({A: 1}).uses_topic_ids

    def test_a_topic_that_was_made_again_is_forgotten_by_its_old_id(self, handler: FetchSessionHandler[int]) -> None:
        self.opened(handler)
        data = handler.build({A: 1, B: 2}, {"t": self.SECOND})
        assert (dict(data.to_send), data.to_forget) == ({A: 1, B: 2}, [])
        [forgotten] = data.forgotten_topics(version=13)
        assert (forgotten.topic_id, forgotten.partitions) == (self.FIRST, [0, 1])
        assert data.forgotten_topics(version=12) == [], "by name it is the same partition, which is fetched"
        assert respond(handler)
        assert handler.build({A: 1, B: 2}, {"t": self.SECOND}).forgotten_topics(version=13) == []

    def test_a_removed_partition_is_forgotten_by_the_id_that_it_had(self, handler: FetchSessionHandler[int]) -> None:
        self.opened(handler)
        [forgotten] = handler.build({A: 1}, {"t": self.FIRST}).forgotten_topics(version=13)
        assert (forgotten.topic, forgotten.topic_id, forgotten.partitions) == ("t", self.FIRST, [1])

    def test_a_session_without_ids_cannot_forget_by_id(self, handler: FetchSessionHandler[int]) -> None:
        opened(handler)
        assert not handler.build({A: 1}, {"t": self.FIRST}).uses_topic_ids

    def test_a_response_has_ids_since_version_13(self, handler: FetchSessionHandler[int]) -> None:
        self.opened(handler)
        rows = [PartitionData(partition_index=1)]
        response = FetchResponse(responses=[FetchableTopicResponse(topic="t", topic_id=self.FIRST, partitions=rows)])
        assert list(handler.partitions_of(response, 13)) == list(handler.partitions_of(response, 12)) == [B]

    def test_a_response_with_another_id_is_not_used(self, handler: FetchSessionHandler[int]) -> None:
        self.opened(handler)
        rows = [PartitionData(partition_index=1)]
        response = FetchResponse(responses=[FetchableTopicResponse(topic_id=self.OTHER, partitions=rows)])
        assert not handler.handle_response(response, handler.partitions_of(response, 13))

    def test_a_broker_that_does_not_agree_about_ids_gets_another_session(
        self, handler: FetchSessionHandler[int]
    ) -> None:
        self.opened(handler)
        assert not respond(handler, error=Errors.FETCH_SESSION_TOPIC_ID_ERROR)
        assert metadata(handler) == FetchMetadata(SESSION, 0)
