"""Which session a full cache evicts, and for which."""

from __future__ import annotations

import random

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.fetch_params import FetchPartition
from kafka_lite.server.fetch_sessions import fetch_session_cache
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.fetch_sessions.fetch_session import FetchSession
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache

EVICTION_MS = 1000
OLD_MS = EVICTION_MS + 1


def partitions(count: int) -> dict[TopicPartition, CachedPartition]:
    return {TopicPartition("t", number): CachedPartition(FetchPartition(0, 100)) for number in range(count)}


class Cache(FetchSessionCache):
    """A cache with a clock that stands."""

    def __init__(self, slots: int) -> None:
        self.registry = MetricsRegistry()
        super().__init__(slots, self.registry, MockTime(), EVICTION_MS)
        self.now_ms = 0.0

    def create(self, size: int, *, follower: bool = False) -> int:
        """The new session's id; 0 if there is no room."""
        return self.maybe_create_session(self.now_ms, follower, partitions(size))

    def use(self, session_id: int) -> None:
        self.touch(self.session(session_id), self.now_ms)

    def session(self, session_id: int) -> FetchSession:
        session = self.get(session_id)
        assert session is not None
        return session


def test_ids_are_positive_and_distinct() -> None:
    cache = Cache(100)
    ids = {cache.create(1) for _ in range(100)}
    assert len(ids) == 100
    assert all(0 < each < 1 << 31 for each in ids)


def test_an_id_that_is_taken_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([5, 5, 7])
    bounds = []

    def draw(lowest: int, highest: int) -> int:
        bounds.append((lowest, highest))
        return next(drawn)

    monkeypatch.setattr(random, "randint", draw)
    cache = Cache(2)
    assert [cache.create(1), cache.create(2)] == [5, 7]
    assert set(bounds) == {(1, (1 << 31) - 1)}, "0 stands for no session"


def test_gauges_count_sessions_and_their_partitions() -> None:
    cache = Cache(3)
    cache.create(3)
    cache.create(4)
    values = {name.name: bean.get("Value") for name, bean in cache.registry.beans().items()}
    assert values["NumIncrementalFetchSessions"] == 2
    assert values["NumIncrementalFetchPartitionsCached"] == 7


def test_the_size_of_a_session_is_known_by_its_id() -> None:
    cache = Cache(3)
    first, second = cache.create(3), cache.create(4)
    assert [cache.size_of(each) for each in (first, second, 0, -7)] == [3, 4, 0, 0]


def test_without_slots_there_are_no_sessions() -> None:
    assert Cache(0).create(1) == 0


def test_a_full_cache_of_young_sessions_admits_no_consumer() -> None:
    cache = Cache(2)
    assert cache.create(1)
    assert cache.create(1)
    assert cache.create(100) == 0
    assert cache.evictions_meter.count == 0


def test_the_session_that_was_unused_for_longest_is_evicted_first_once_it_is_stale() -> None:
    cache = Cache(2)
    first, second = cache.create(5, follower=True), cache.create(5)
    cache.now_ms = 10
    cache.use(first)
    cache.now_ms = OLD_MS + 5
    assert (third := cache.create(1))
    assert cache.get(second) is None
    assert cache.get(first)
    assert cache.get(third)
    assert cache.evictions_meter.count == 1


@pytest.mark.parametrize(
    ("size", "follower", "new_size", "new_follower", "age_ms", "evicted"),
    [
        # a follower's session evicts any consumer's, however young
        (10, False, 1, True, 0, True),
        # a follower's session only evicts one of another follower if that is old and has fewer partitions
        (10, True, 11, True, 0, False),
        (10, True, 11, True, EVICTION_MS, False),
        (10, True, 11, True, OLD_MS, True),
        (10, True, 10, True, OLD_MS, False),
        # a consumer's session evicts an old one of another consumer with fewer partitions
        (10, False, 11, False, 0, False),
        (10, False, 11, False, EVICTION_MS, False),
        (10, False, 11, False, OLD_MS, True),
        (10, False, 10, False, OLD_MS, False),
        # a consumer's session never evicts a follower's that is in use
        (10, True, 11, False, OLD_MS, False),
    ],
)
def test_who_may_evict_whom(
    size: int, follower: bool, new_size: int, new_follower: bool, age_ms: int, evicted: bool
) -> None:
    cache = Cache(1)
    session = cache.create(size, follower=follower)
    cache.now_ms = age_ms
    cache.use(session)  # it is in use, so it is not stale
    created = cache.create(new_size, follower=new_follower)
    assert bool(created) is evicted
    assert (cache.get(session) is None) is evicted
    assert cache.evictions_meter.count == evicted
    assert cache.size == 1


def test_a_sessions_age_counts_from_its_creation() -> None:
    cache = Cache(1)
    cache.now_ms = 10 * OLD_MS
    cache.create(1)
    cache.now_ms += EVICTION_MS
    assert cache.create(9) == 0
    cache.now_ms += 1
    assert cache.create(9)


def test_of_several_evictable_sessions_the_least_valuable_goes() -> None:
    cache = Cache(4)
    large, small = cache.create(7), cache.create(3)
    follower, small_follower = cache.create(9, follower=True), cache.create(1, follower=True)
    cache.now_ms = OLD_MS
    for each in (large, small, follower, small_follower):
        cache.use(each)
    for victim in (small, large, small_follower):
        assert cache.create(20, follower=True)
        assert cache.get(victim) is None
    assert cache.get(follower)


def test_the_size_of_a_session_follows_its_partitions() -> None:
    cache = Cache(2)
    session, other = cache.create(3), cache.create(4)
    assert cache.total_partitions == 7
    cache.session(session).partitions.update(partitions(10))
    cache.use(session)
    assert cache.total_partitions == 14
    assert cache.create(1, follower=True)
    assert cache.get(other) is None, "it has fewer partitions by now"
    assert cache.total_partitions == 11


def test_a_removed_session_leaves_room() -> None:
    cache = Cache(1)
    session = cache.session(cache.create(3))
    cache.remove(session)
    cache.remove(session)
    assert (cache.size, cache.total_partitions) == (0, 0)
    assert cache.create(1)
    assert cache.evictions_meter.count == 0


# -- the bound of all partitions


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setattr(fetch_session_cache, "MAX_CACHED_PARTITIONS", 10)
    return Cache(100)


def test_sessions_may_not_have_more_partitions_together_than_the_bound(small: Cache) -> None:
    assert small.create(11) == 0
    assert small.create(6)
    assert small.create(4)
    assert small.create(1) == 0
    assert (small.size, small.total_partitions) == (2, 10)


def test_a_session_that_was_not_used_for_long_makes_room(small: Cache) -> None:
    old, other = small.create(8), small.create(2)
    small.now_ms = OLD_MS
    small.use(other)
    new = small.create(8)
    assert new
    assert small.get(old) is None
    assert (small.size, small.total_partitions) == (2, 10)


def test_a_session_that_grows_over_the_bound_is_removed(small: Cache) -> None:
    growing, other = small.create(5), small.create(5)
    small.session(growing).partitions.update(partitions(6))
    small.use(growing)
    assert small.get(growing) is None
    assert (small.size, small.total_partitions) == (1, 5)
    small.use(other)
    assert small.create(5)
