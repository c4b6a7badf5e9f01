"""The fetch sessions of a broker, at most ``max.incremental.fetch.session.cache.slots``.

Kafka 1.1: core/.../server/FetchSession.scala (FetchSessionCache); 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

import bisect
import logging
import random
import threading
from collections import OrderedDict

from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID
from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.fetch_sessions.fetch_session import NOT_CACHED, EvictableKey, FetchKey, FetchSession

logger = logging.getLogger(__name__)

MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS = 120_000
"""How long a session is safe from sessions of greater value, and how long it may be unused, in ms."""
MAX_CACHED_PARTITIONS = 100_000
"""How many partitions all sessions may have together. A slot says nothing about memory: a partition takes half a
kilobyte, and a request of 7 MB can name two hundred thousand of them."""
MAX_SESSION_ID = 0x7FFF_FFFF


class FetchSessionCache:
    """Finds sessions by id. A full cache evicts a session of less value, or creates none.

    ::

        session in the cache                      evicted for a follower        evicted for a consumer
        ───────────────────────────────────────   ──────────────────────────    ───────────────────────────────────
        unused for longer than ``eviction_ms``    yes, the longest unused one   yes, the longest unused one
        of a consumer, younger than that          yes                           no
        of a consumer, older                      yes                           if it has fewer partitions
        of a follower, younger                    no                            no
        of a follower, older                      if it has fewer partitions    no

    Kafka splits the cache into eight parts, each with a lock and an eighth of the slots, since 3.9. Here the GIL makes
    that useless, so all sessions share all slots.

    Their partitions have a bound, too (Kafka's have none): beyond it a new session has to evict another one, and one
    that grows over it is removed. Its client gets FETCH_SESSION_ID_NOT_FOUND and continues with full requests, as all
    clients did before there were sessions.

    Thread-safe; take a session's lock inside the cache's, never around
    it.
    """

    def __init__(
        self,
        max_entries: int,
        registry: MetricsRegistry,
        time: Time,
        eviction_ms: float = MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS,
    ) -> None:
        self.lock = threading.RLock()
        """Held for every access. A caller that looks a session up and changes it holds it for both."""
        self._max_entries = max_entries
        self._eviction_ms = eviction_ms
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()  # the longest unused one first
        self._evictable_by_all: list[EvictableKey] = []  # sorted, like the next one
        self._evictable_by_privileged: list[EvictableKey] = []
        self._num_partitions = 0
        group = KafkaMetricsGroup(registry, time, "kafka.server", "FetchSessionCache")
        group.new_gauge("NumIncrementalFetchSessions", lambda: len(self._sessions))
        group.new_gauge("NumIncrementalFetchPartitionsCached", lambda: self._num_partitions)
        self.evictions_meter = group.new_meter("IncrementalFetchSessionEvictionsPerSec", "evictions")

    def get(self, session_id: int) -> FetchSession | None:
        """The session, if it is in the cache."""
        return self._sessions.get(session_id)

    def size_of(self, session_id: int) -> int:
        """How many partitions a session remembers; 0 if it is not in the cache."""
        session = self._sessions.get(session_id)
        return 0 if session is None else len(session.partitions)

    @property
    def size(self) -> int:
        """The number of sessions."""
        return len(self._sessions)

    @property
    def total_partitions(self) -> int:
        """The number of partitions in all sessions."""
        return self._num_partitions

    def maybe_create_session(
        self,
        now_ms: float,
        privileged: bool,
        partitions: dict[FetchKey, CachedPartition],
        uses_topic_ids: bool = False,
    ) -> int:
        """Create a session; returns its id, or 0 if the cache is full of sessions that are worth more."""
        with self.lock:
            newcomer = EvictableKey(privileged, len(partitions), INVALID_SESSION_ID)
            fits = self._has_room(len(partitions))
            if not fits and len(partitions) <= MAX_CACHED_PARTITIONS and self._try_evict(newcomer, now_ms):
                fits = self._has_room(len(partitions))
            if not fits:
                logger.debug("No fetch session created for privileged=%s, size=%d.", privileged, len(partitions))
                return INVALID_SESSION_ID
            session = FetchSession(self._new_session_id(), privileged, partitions, now_ms, uses_topic_ids)
            self._sessions[session.id] = session
            self.touch(session, now_ms)
            logger.debug("Created fetch session %d with %d partition(s)", session.id, len(partitions))
            return session.id

    def _has_room(self, partitions: int) -> bool:
        return len(self._sessions) < self._max_entries and self._num_partitions + partitions <= MAX_CACHED_PARTITIONS

    def _new_session_id(self) -> int:
        while (session_id := random.randint(1, MAX_SESSION_ID)) in self._sessions:
            pass
        return session_id

    def _try_evict(self, newcomer: EvictableKey, now_ms: float) -> bool:
        """Make room for a session; false if every other one is worth more."""
        if not self._sessions:
            return False
        victim = next(iter(self._sessions.values()))
        if now_ms - victim.last_used_ms <= self._eviction_ms:
            candidates = self._evictable_by_privileged if newcomer.privileged else self._evictable_by_all
            if not candidates or newcomer < candidates[0]:
                return False
            victim = self._sessions[candidates[0].session_id]
        logger.debug("Evicting fetch session %d", victim.id)
        self.remove(victim)
        self.evictions_meter.mark()
        return True

    def remove(self, session: FetchSession) -> None:
        """Remove a session, if it is in the cache."""
        with self.lock:
            if self._sessions.pop(session.id, None) is not None:
                self._remove_evictable(session.evictable_key)
                self._num_partitions -= session.cached_size

    def touch(self, session: FetchSession, now_ms: float) -> None:
        """Note that a session is being used, and how many partitions it has by now."""
        with self.lock:
            session.last_used_ms = now_ms
            self._sessions.move_to_end(session.id)
            is_old = now_ms - session.created_ms > self._eviction_ms
            size = len(session.partitions)
            if size == session.cached_size and is_old == session.is_old:
                return
            if session.cached_size != NOT_CACHED:
                self._remove_evictable(session.evictable_key)
                self._num_partitions -= session.cached_size
            session.cached_size, session.is_old = size, is_old
            self._num_partitions += size
            if is_old:
                bisect.insort(self._evictable_by_all, session.evictable_key)
            if is_old or not session.privileged:
                bisect.insort(self._evictable_by_privileged, session.evictable_key)
            if self._num_partitions > MAX_CACHED_PARTITIONS:
                logger.debug("Removing fetch session %d, which has grown to %d partitions", session.id, size)
                self.remove(session)

    def _remove_evictable(self, key: EvictableKey) -> None:
        for keys in (self._evictable_by_all, self._evictable_by_privileged):
            place = bisect.bisect_left(keys, key)
            if place < len(keys) and keys[place] == key:
                del keys[place]
