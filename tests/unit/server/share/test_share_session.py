"""Sessions of members with a broker: epochs, partitions, and how they end."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.share_session import (
    FINAL_EPOCH,
    MAX_EPOCH,
    ShareSessionCache,
    ShareSessionKey,
    next_epoch,
)

T = UUID(int=1)
P0, P1, P2 = (TopicIdPartition(T, number) for number in range(3))
KEY, OTHER = ShareSessionKey("g", UUID(int=5)), ShareSessionKey("g", UUID(int=6))


@pytest.fixture
def cache() -> ShareSessionCache:
    return ShareSessionCache(1, MetricsRegistry(), MockTime())


def error_of(cache: ShareSessionCache, key: ShareSessionKey, epoch: int) -> Errors:
    with pytest.raises(ApiError) as failure:
        cache.fetch(key, epoch, [], [], "c")
    return failure.value.error


def test_epochs_begin_again_at_one() -> None:
    assert [next_epoch(epoch) for epoch in (0, 1, MAX_EPOCH, FINAL_EPOCH)] == [1, 2, 1, FINAL_EPOCH]


def test_a_session_remembers_its_partitions(cache: ShareSessionCache) -> None:
    assert cache.fetch(KEY, 0, [P0, P1], [], "c") == [P0, P1]
    assert cache.fetch(KEY, 1, [P2], [P0], "c") == [P1, P2]
    assert cache.fetch(KEY, 2, [P1], [], "c") == [P1, P2]
    assert cache.partitions_of(KEY) == [P1, P2]
    assert cache.fetch(KEY, 0, [P0], [], "c") == [P0], "a new one in its place"
    assert cache.fetch(KEY, FINAL_EPOCH, [], [], "c") == []
    assert cache.remove(KEY) == [P0]
    assert cache.remove(KEY) is None
    assert cache.partitions_of(KEY) == []


def test_wrong_epochs_change_nothing(cache: ShareSessionCache) -> None:
    assert error_of(cache, KEY, 1) is Errors.SHARE_SESSION_NOT_FOUND
    assert error_of(cache, KEY, FINAL_EPOCH) is Errors.SHARE_SESSION_NOT_FOUND
    cache.fetch(KEY, 0, [P0], [], "c")
    assert error_of(cache, KEY, 2) is Errors.INVALID_SHARE_SESSION_EPOCH
    assert cache.fetch(KEY, 1, [], [], "c") == [P0]


def test_there_is_room_for_so_many_sessions(cache: ShareSessionCache) -> None:
    cache.fetch(KEY, 0, [P0], [], "c")
    assert error_of(cache, OTHER, 0) is Errors.SHARE_SESSION_LIMIT_REACHED
    cache.fetch(KEY, 0, [P0], [], "c")
    cache.remove(KEY)
    cache.fetch(OTHER, 0, [P0], [], "d")
    assert len(cache) == 1
    assert cache.has_members_of("g")
    assert not cache.has_members_of("h")


def test_acknowledgements_count_epochs_too(cache: ShareSessionCache) -> None:
    for epoch, error in ((0, Errors.INVALID_SHARE_SESSION_EPOCH), (1, Errors.SHARE_SESSION_NOT_FOUND)):
        with pytest.raises(ApiError) as failure:
            cache.acknowledge(KEY, epoch)
        assert failure.value.error is error
    cache.fetch(KEY, 0, [P0], [], "c")
    cache.acknowledge(KEY, 1)
    cache.acknowledge(KEY, FINAL_EPOCH)
    assert cache.fetch(KEY, 2, [], [], "c") == [P0]


def test_a_response_has_what_is_news(cache: ShareSessionCache) -> None:
    cache.fetch(KEY, 0, [P0, P1], [], "c")
    assert cache.select(KEY, 0, [(P0, False, False), (P1, False, False)]) == [P0, P1], "all of the first one"
    cache.fetch(KEY, 1, [P2], [], "c")
    nothing = [(each, False, False) for each in (P0, P1, P2)]
    assert cache.select(KEY, 1, nothing) == [P2], "it is new"
    cache.fetch(KEY, 2, [], [], "c")
    assert cache.select(KEY, 2, [(P0, True, False), (P1, False, True)]) == [P0, P1]
    assert cache.fetch(KEY, 3, [], [], "c") == [P1, P2, P0], "those with records come last"
    assert cache.select(KEY, 3, nothing) == [P1], "its error is over"
    with pytest.raises(ApiError):
        cache.select(KEY, 2, nothing)
    assert cache.select(KEY, 3, [(TopicIdPartition(T, 9), True, False)]) == [TopicIdPartition(T, 9)]


def test_a_session_ends_with_its_connection(cache: ShareSessionCache) -> None:
    ended: list[ShareSessionKey] = []
    cache.fetch(KEY, 0, [P0], [], "c")
    cache.connection_ended("d", ended.append)
    cache.connection_ended("c", lambda key: ended.append(key) or cache.remove(key))  # type: ignore[func-returns-value]
    cache.connection_ended("c", ended.append)
    assert ended == [KEY]
