"""What the requests of a session read, and what their responses contain."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

from kafka_lite.clients.fetch_metadata import FetchMetadata, next_epoch
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.fetch_context import (
    FetchContext,
    FullFetchContext,
    IncrementalFetchContext,
    SessionErrorContext,
    SessionlessFetchContext,
)
from kafka_lite.server.fetch_sessions.fetch_manager import FetchManager
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache

A, B, C = (TopicPartition("t", number) for number in range(3))
EMPTY = LogReadResult(Errors.NONE, 10, 0)
FINAL = -1


class Broker:
    """A FetchManager with a cache, and the outcome of reading each partition."""

    def __init__(self, slots: int = 10) -> None:
        self.time = MockTime()
        self.cache = FetchSessionCache(slots, MetricsRegistry(), self.time)
        self.manager = FetchManager(self.cache, self.time)
        self.logs: dict[TopicPartition, LogReadResult] = {}

    def request(
        self,
        session_id: int,
        epoch: int,
        asked: Sequence[TopicPartition] = (),
        forget: Sequence[TopicPartition] = (),
        offset: int = 0,
        from_follower: bool = False,
    ) -> FetchContext:
        parameters = [(each, FetchPartition(offset, 100)) for each in asked]
        return self.manager.new_context(FetchMetadata(session_id, epoch), from_follower, parameters, list(forget))

    def complete(self, context: FetchContext) -> list[TopicPartition]:
        """The partitions in the response."""
        read = [(each, self.logs.get(each, EMPTY)) for each, _ in context.partitions]
        return [each for each, _ in context.update_and_select(read)]

    def fetch(
        self, session_id: int, epoch: int, *asked: TopicPartition, forget: Sequence[TopicPartition] = ()
    ) -> list[TopicPartition]:
        context = self.request(session_id, epoch, asked, forget)
        returned = self.complete(context)
        assert (context.error_code, context.session_id) == (0, session_id)
        return returned

    def open(self, *partitions: TopicPartition) -> int:
        context = self.request(0, 0, partitions)
        assert self.complete(context) == list(partitions)
        assert context.session_id
        return context.session_id


@pytest.fixture
def broker() -> Broker:
    return Broker()


def error_of(context: FetchContext) -> Errors:
    return Errors.for_code(context.error_code)


# ── the kinds of requests


def test_the_first_request_gets_everything_and_a_session(broker: Broker) -> None:
    context = broker.request(0, 0, [A, B])
    assert isinstance(context, FullFetchContext)
    assert broker.cache.size == 0, "until the response"
    assert broker.complete(context) == [A, B]
    assert context.session_id > 0
    assert (broker.cache.size, broker.cache.total_partitions) == (1, 2)


def test_without_room_the_first_request_gets_everything_and_no_session() -> None:
    broker = Broker(slots=0)
    context = broker.request(0, 0, [A])
    assert broker.complete(context) == [A]
    assert (context.session_id, context.error_code) == (0, 0)


def test_the_session_of_a_follower_is_worth_more_than_that_of_a_consumer() -> None:
    broker = Broker(slots=1)
    consumers = broker.open(A, B)
    followers = broker.request(0, 0, [A], from_follower=True)
    broker.complete(followers)
    assert broker.cache.get(consumers) is None
    late = broker.request(0, 0, [A, B, C])
    broker.complete(late)
    assert late.session_id == 0
    assert broker.fetch(followers.session_id, 1) == []


def test_a_session_is_kept_for_two_minutes_after_its_last_request() -> None:
    broker = Broker(slots=1)
    session = broker.open(A, B)
    broker.time.sleep(60_000)
    assert broker.fetch(session, 1) == []
    broker.time.sleep(120_000)
    early = broker.request(0, 0, [C])
    broker.complete(early)
    assert early.session_id == 0
    broker.time.sleep(1)
    assert broker.open(C)
    assert error_of(broker.request(session, 2)) is Errors.FETCH_SESSION_ID_NOT_FOUND


def test_the_final_epoch_asks_for_no_session(broker: Broker) -> None:
    context = broker.request(0, FINAL, [A])
    assert isinstance(context, SessionlessFetchContext)
    assert broker.complete(context) == [A]
    assert context.session_id == 0
    assert broker.cache.size == 0


@pytest.mark.parametrize(("epoch", "sessions"), [(0, 1), (FINAL, 0)])
def test_a_full_request_ends_its_session(broker: Broker, epoch: int, sessions: int) -> None:
    session = broker.open(A, B)
    context = broker.request(session, epoch, [C])
    assert broker.cache.get(session) is None
    assert broker.complete(context) == [C]
    assert broker.cache.size == sessions
    assert broker.cache.total_partitions == sessions
    assert context.session_id != session


def test_an_empty_full_request_gets_a_session_that_can_be_filled(broker: Broker) -> None:
    session = broker.open()
    assert broker.fetch(session, 1, A) == [A]


# ── errors


@pytest.mark.parametrize("session_id", [0, 7, -7, (1 << 31) - 1])
def test_an_unknown_session(broker: Broker, session_id: int) -> None:
    context = broker.request(session_id, 1, [A])
    assert isinstance(context, SessionErrorContext)
    assert broker.complete(context) == []
    assert (error_of(context), context.session_id) == (Errors.FETCH_SESSION_ID_NOT_FOUND, 0)


@pytest.mark.parametrize("epoch", [2, 5, -2, (1 << 31) - 1])
def test_another_epoch_than_the_sessions(broker: Broker, epoch: int) -> None:
    session = broker.open(A)
    context = broker.request(session, epoch, [B], [A])
    assert isinstance(context, SessionErrorContext)
    assert broker.complete(context) == []
    assert (error_of(context), context.session_id) == (Errors.INVALID_FETCH_SESSION_EPOCH, 0)
    assert broker.fetch(session, 1) == [], "the session has not changed"


@pytest.mark.parametrize(("epoch", "next_one"), [(1, 2), ((1 << 31) - 2, (1 << 31) - 1), ((1 << 31) - 1, 1)])
def test_a_request_that_was_overtaken_by_the_next_one(broker: Broker, epoch: int, next_one: int) -> None:
    session = broker.open(A)
    cached = broker.cache.get(session)
    assert cached is not None
    cached.epoch = epoch
    waiting = broker.request(session, epoch)
    following = broker.request(session, next_one, [B])
    broker.logs[A] = LogReadResult(Errors.NONE, 11, 0)
    assert broker.complete(waiting) == []
    assert (error_of(waiting), waiting.session_id) == (Errors.INVALID_FETCH_SESSION_EPOCH, session)
    assert broker.complete(following) == [A, B], "the news was not lost with the first response"


# ── incremental requests


def test_nothing_is_returned_while_nothing_changes(broker: Broker) -> None:
    session = broker.open(A, B)
    for epoch in range(1, 4):
        context = broker.request(session, epoch)
        assert isinstance(context, IncrementalFetchContext)
        assert [each for each, _ in context.partitions] == [A, B], "all of them are read"
        assert broker.complete(context) == []
        assert context.session_id == session


@pytest.mark.parametrize(
    ("result", "repeated"),
    [
        (LogReadResult(Errors.NONE, 10, 0, None, b"records"), True),
        (LogReadResult(Errors.NONE, 11, 0), False),
        (LogReadResult(Errors.NONE, 9, 0), False),
        (LogReadResult(Errors.NONE, 10, 1), False),
        (LogReadResult(Errors.NOT_LEADER_OR_FOLLOWER), True),
        (LogReadResult(Errors.NONE, 10, 0, diverging_epoch=EpochEntry(3, 7)), True),
    ],
)
def test_what_counts_as_a_change(broker: Broker, result: LogReadResult, repeated: bool) -> None:
    session = broker.open(A, B)
    broker.logs[B] = result
    assert broker.fetch(session, 1) == [B]
    assert broker.fetch(session, 2) == ([B] if repeated else [])


def test_a_partition_is_returned_once_more_when_its_error_is_gone(broker: Broker) -> None:
    session = broker.open(A)
    broker.logs[A] = LogReadResult(Errors.KAFKA_STORAGE_ERROR, 10, 0)
    assert broker.fetch(session, 1) == [A]
    del broker.logs[A]
    assert broker.fetch(session, 2) == [A]
    assert broker.fetch(session, 3) == []


def test_new_partitions_are_returned_and_forgotten_ones_are_not_read(broker: Broker) -> None:
    session = broker.open(A, B)
    assert broker.fetch(session, 1, C, forget=[A]) == [C]
    assert [each for each, _ in broker.request(session, 2).partitions] == [B, C]
    assert broker.cache.total_partitions == 2
    broker.request(session, 3, [A])
    assert broker.cache.total_partitions == 3


def test_an_unknown_partition_may_be_forgotten(broker: Broker) -> None:
    session = broker.open(A)
    assert broker.fetch(session, 1, forget=[C]) == []


def test_a_partition_that_is_both_named_and_forgotten_is_forgotten(broker: Broker) -> None:
    session = broker.open(A)
    assert broker.fetch(session, 1, B, forget=[B]) == []


def test_a_named_partition_is_read_at_its_new_offset(broker: Broker) -> None:
    session = broker.open(A, B)
    context = broker.request(session, 1, [A], offset=5)
    assert [(each, asked.fetch_offset) for each, asked in context.partitions] == [(A, 5), (B, 0)]
    assert broker.complete(context) == [], "the client knows the bounds of the log still"


def test_a_partition_whose_log_starts_lower_is_returned(broker: Broker) -> None:
    broker.logs[A] = LogReadResult(Errors.NONE, 10, 5)
    session = broker.open(A)
    broker.logs[A] = LogReadResult(Errors.NONE, 10, 4)
    assert broker.fetch(session, 1) == [A]
    assert broker.fetch(session, 2) == []


def test_partitions_with_records_go_to_the_end(broker: Broker) -> None:
    session = broker.open(A, B, C)
    broker.logs[A] = LogReadResult(Errors.NONE, 11, 0, None, b"records")
    broker.logs[B] = LogReadResult(Errors.NONE, 11, 0)
    assert broker.fetch(session, 1) == [A, B]
    assert [each for each, _ in broker.request(session, 2).partitions] == [B, C, A]


def test_a_session_without_partitions_ends(broker: Broker) -> None:
    session = broker.open(A)
    context = broker.request(session, 1, forget=[A])
    assert isinstance(context, SessionlessFetchContext)
    assert broker.complete(context) == []
    assert (context.session_id, context.error_code) == (0, 0)
    assert broker.cache.size == 0


def test_the_epoch_wraps_to_one(broker: Broker) -> None:
    session = broker.open(A)
    last = (1 << 31) - 1
    cached = broker.cache.get(session)
    assert cached is not None
    cached.epoch = last
    assert broker.fetch(session, last) == []
    assert broker.fetch(session, 1) == []
    assert next_epoch(FINAL) == FINAL


@pytest.mark.parametrize("by_id", [False, True])
def test_a_session_with_names_takes_no_ids_and_the_other_way_round(broker: Broker, by_id: bool) -> None:
    key = TopicIdPartition(UUID(int=7), 0) if by_id else A
    first = broker.manager.new_context(FetchMetadata(0, 0), False, [(key, FetchPartition(0, 100))], [], by_id)
    first.update_and_select([(key, EMPTY)])
    other = broker.manager.new_context(FetchMetadata(first.session_id, 1), False, [], [], not by_id)
    assert isinstance(other, SessionErrorContext)
    assert other.error_code == Errors.FETCH_SESSION_TOPIC_ID_ERROR.code
    again = broker.manager.new_context(FetchMetadata(first.session_id, 1), False, [], [], by_id)
    assert [each for each, _ in again.partitions] == [key], "the session is as it was"
    gone = broker.manager.new_context(FetchMetadata(first.session_id, 2), False, [], [key], by_id)
    assert isinstance(gone, SessionlessFetchContext)
