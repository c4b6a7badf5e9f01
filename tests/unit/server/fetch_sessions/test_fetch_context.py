"""What each kind of fetch request reads, and what its response contains."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.clients.fetch_metadata import FetchMetadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.fetch_sessions.fetch_context import (
    Asked,
    FullFetchContext,
    IncrementalFetchContext,
    Results,
    SessionErrorContext,
    SessionlessFetchContext,
)
from kafka_lite.server.fetch_sessions.fetch_session import FetchSession
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache

A, B, C = (TopicPartition("t", number) for number in range(3))
ID = 77
LAST_EPOCH = (1 << 31) - 1


def asked(*partitions: TopicPartition) -> Asked:
    return [(each, FetchPartition(5, 100)) for each in partitions]


def results(*partitions: TopicPartition, high_watermark: int = 10, records: bytes = b"") -> Results:
    return [(each, LogReadResult(Errors.NONE, high_watermark, 2, None, records)) for each in partitions]


def session(*partitions: TopicPartition, epoch: int = 2) -> FetchSession:
    """One whose client knows the bounds of its partitions, in the middle of the request before ``epoch``."""
    cached = {each: CachedPartition(parameters, 10, 2) for each, parameters in asked(*partitions)}
    made = FetchSession(ID, False, cached, 0.0)
    made.epoch = epoch
    return made


@pytest.fixture
def cache() -> FetchSessionCache:
    return FetchSessionCache(1, MetricsRegistry(), MockTime())


def test_without_a_session_everything_is_returned() -> None:
    context = SessionlessFetchContext(asked(A, B))
    read = results(A, B)
    assert context.update_and_select(read) is read
    assert (context.session_id, context.error_code) == (0, 0)


def test_a_request_of_no_valid_session_reads_nothing() -> None:
    context = SessionErrorContext(Errors.FETCH_SESSION_ID_NOT_FOUND)
    assert context.partitions == []
    assert context.update_and_select([]) == []
    assert (context.session_id, context.error_code) == (0, Errors.FETCH_SESSION_ID_NOT_FOUND.code)


def test_a_full_request_gets_its_session_with_the_response(cache: FetchSessionCache) -> None:
    context = FullFetchContext(asked(A, B), False, cache, MockTime())
    assert (context.session_id, cache.size) == (0, 0)
    read = results(A, B)
    assert context.update_and_select(read) is read
    made = cache.get(context.session_id)
    assert made is not None
    assert (made.epoch, made.privileged, list(made.partitions)) == (1, False, [A, B])
    assert [(each, parameters.fetch_offset) for each, parameters in made.asked()] == [(A, 5), (B, 5)]


def test_a_session_begins_with_what_the_first_response_said(cache: FetchSessionCache) -> None:
    """So the next response needs to contain only what has changed since."""
    context = FullFetchContext(asked(A, B), False, cache, MockTime())
    context.update_and_select(results(A, B))
    made = cache.get(context.session_id)
    assert made is not None
    following = IncrementalFetchContext(FetchMetadata(made.id, 1), made)
    made.epoch = following.expected_epoch
    changed = results(B, high_watermark=11)
    assert following.update_and_select(results(A) + changed) == changed


@pytest.mark.parametrize(("from_follower", "has_room"), [(True, True), (False, False)])
def test_a_full_cache_makes_room_for_a_follower_only(
    cache: FetchSessionCache, from_follower: bool, has_room: bool
) -> None:
    FullFetchContext(asked(A), False, cache, MockTime()).update_and_select(results(A))
    context = FullFetchContext(asked(B), from_follower, cache, MockTime())
    assert context.update_and_select(results(B)) != []
    assert (context.session_id > 0, context.error_code) == (has_room, 0)
    assert cache.size == 1


@pytest.mark.parametrize(("epoch", "expected"), [(1, 2), (LAST_EPOCH - 1, LAST_EPOCH), (LAST_EPOCH, 1)])
def test_the_next_request_is_in_the_next_epoch(epoch: int, expected: int) -> None:
    context = IncrementalFetchContext(FetchMetadata(ID, epoch), session(A))
    assert (context.expected_epoch, context.session_id) == (expected, ID)


def test_an_incremental_request_reads_the_whole_session_and_returns_what_has_changed() -> None:
    context = IncrementalFetchContext(FetchMetadata(ID, 1), session(A, B, C))
    assert [each for each, _ in context.partitions] == [A, B, C]
    read = results(A) + results(B, high_watermark=11) + results(C, records=b"records")
    assert context.update_and_select(read) == read[1:]
    assert context.error_code == 0


def test_a_request_that_was_sent_again_gets_an_error_and_leaves_the_news_to_the_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    following = session(A, epoch=3)
    context = IncrementalFetchContext(FetchMetadata(ID, 1), following)
    news = results(A, high_watermark=11)
    with caplog.at_level(logging.INFO):
        assert context.update_and_select(news) == []
    assert context.error_code == Errors.INVALID_FETCH_SESSION_EPOCH.code
    [record] = caplog.records
    assert record.getMessage() == (
        "Incremental fetch session 77 expected epoch 2, but got 3.  Possible duplicate request."
    )
    assert IncrementalFetchContext(FetchMetadata(ID, 2), following).update_and_select(news) == news


def test_a_look_at_what_has_changed_changes_nothing() -> None:
    context = IncrementalFetchContext(FetchMetadata(ID, 1), session(A, B))
    read = results(A) + results(B, high_watermark=11)
    assert context.peek(read) == context.peek(read) == read[1:]
    context.select_nothing()
    assert context.error_code == 0
    assert context.update_and_select(read) == read[1:]
    assert context.peek(read) == []


def test_a_throttled_duplicate_gets_the_error_of_its_epoch() -> None:
    context = IncrementalFetchContext(FetchMetadata(ID, 1), session(A, epoch=3))
    assert context.peek(results(A, records=b"x")) == []
    context.select_nothing()
    assert context.error_code == Errors.INVALID_FETCH_SESSION_EPOCH.code


def test_a_throttled_full_request_gets_no_session(cache: FetchSessionCache) -> None:
    context = FullFetchContext(asked(A), False, cache, MockTime())
    read = results(A)
    assert context.peek(read) is read
    context.select_nothing()
    assert (context.session_id, cache.size) == (0, 0)
