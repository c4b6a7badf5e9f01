"""The partitions of a session: in which order they are read, and which of them a response contains."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.fetch_sessions.fetch_session import NOT_CACHED, EvictableKey, FetchSession

A, B, C = (TopicPartition("t", number) for number in range(3))
EMPTY = LogReadResult(Errors.NONE, 10, 0)
RECORDS = LogReadResult(Errors.NONE, 10, 0, records=b"records")


@pytest.fixture
def session() -> FetchSession:
    cached = {each: CachedPartition(FetchPartition(0, 100), 10, 0) for each in (A, B)}
    return FetchSession(7, True, cached, 0.0)


def test_a_new_session_expects_its_second_request(session: FetchSession) -> None:
    assert (session.epoch, session.uses_topic_ids) == (1, False)
    assert session.evictable_key == EvictableKey(True, NOT_CACHED, 7)


def test_a_request_adds_changes_and_forgets_partitions(session: FetchSession) -> None:
    moved = FetchPartition(5, 100)
    session.update([(C, moved), (A, moved)], [B])
    assert [(each, asked.fetch_offset) for each, asked in session.asked()] == [(A, 5), (C, 5)]
    session.update([], [B, A, C])
    assert session.asked() == []


def test_a_partition_that_had_records_is_read_last_the_next_time(session: FetchSession) -> None:
    results = [(A, RECORDS), (B, EMPTY)]
    assert session.peek_changed(results) == [(A, RECORDS)]
    assert [each for each, _ in session.asked()] == [A, B], "a look changes nothing"
    assert session.select_changed(results) == [(A, RECORDS)]
    assert [each for each, _ in session.asked()] == [B, A]
