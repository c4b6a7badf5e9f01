"""The partitions that a fetch request reads, and the results that its response contains.

Kafka 1.1: core/.../server/FetchSession.scala (FetchContext, SessionErrorContext, SessionlessFetchContext,
FullFetchContext, IncrementalFetchContext); 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

import logging

from kafka_lite.clients.fetch_metadata import INVALID_SESSION_ID, FetchMetadata, next_epoch
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import Time
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.fetch_sessions.fetch_session import FetchKey, FetchSession
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache

logger = logging.getLogger(__name__)

Asked = list[tuple[FetchKey, FetchPartition]]
Results = list[tuple[FetchKey, LogReadResult]]


class FetchContext:
    """One fetch request: what it reads, and which of the results its response contains."""

    __slots__ = ("error_code", "partitions", "session_id")

    def __init__(self, partitions: Asked) -> None:
        self.partitions = partitions
        """The partitions to read, in order."""
        self.session_id = INVALID_SESSION_ID
        """The session id of the response, valid after ``update_and_select``."""
        self.error_code = 0
        """The error of the response as a whole, valid after ``update_and_select``."""

    def update_and_select(self, results: Results) -> Results:
        """The results that the response contains: all of them, unless a session says otherwise.

        Creates or updates the session. Called once, when the request completes, in any thread.
        """
        return results

    def peek(self, results: Results) -> Results:
        """The results that ``update_and_select`` would return now; changes nothing."""
        return results

    def select_nothing(self) -> None:
        """Called in place of ``update_and_select`` if the response is empty because its client is throttled.

        The results count as not sent: no session is created, and an existing one does not change.
        """


class SessionlessFetchContext(FetchContext):
    """A request without a session, or one that ended its session."""

    __slots__ = ()


class SessionErrorContext(FetchContext):
    """A request whose session is unknown, or at another epoch."""

    __slots__ = ()

    def __init__(self, error: Errors) -> None:
        super().__init__([])
        self.error_code = error.code


class FullFetchContext(FetchContext):
    """A request that names all its partitions and asks for a session."""

    __slots__ = ("_cache", "_from_follower", "_time", "_uses_topic_ids")

    def __init__(
        self,
        partitions: Asked,
        from_follower: bool,
        cache: FetchSessionCache,
        time: Time,
        uses_topic_ids: bool = False,
    ) -> None:
        super().__init__(partitions)
        self._uses_topic_ids = uses_topic_ids
        self._from_follower = from_follower
        self._cache = cache
        self._time = time

    def update_and_select(self, results: Results) -> Results:
        """All results; the session is created now, if there is room for it."""
        asked = dict(self.partitions)
        cached = {
            topic_partition: CachedPartition(asked[topic_partition], result.high_watermark, result.log_start_offset)
            for topic_partition, result in results
        }
        self.session_id = self._cache.maybe_create_session(
            self._time.hi_res_ms(), self._from_follower, cached, self._uses_topic_ids
        )
        return results


class IncrementalFetchContext(FetchContext):
    """A request that names the changes since the last one of its session."""

    __slots__ = ("_session", "expected_epoch")

    def __init__(self, metadata: FetchMetadata, session: FetchSession) -> None:
        """The session's lock must be held, and the session have been updated by the request."""
        super().__init__(session.asked())
        self.session_id = session.id
        self._session = session
        self.expected_epoch = next_epoch(metadata.epoch)
        """The epoch of the next request."""

    def update_and_select(self, results: Results) -> Results:
        """The results that have changed; none, and an error, if the client has sent its next request already."""
        session = self._session
        with session.lock:
            if session.epoch == self.expected_epoch:
                return session.select_changed(results)
            self._refuse()
            return []

    def peek(self, results: Results) -> Results:
        """The results that have changed; none if the client has sent its next request already."""
        session = self._session
        with session.lock:
            return session.peek_changed(results) if session.epoch == self.expected_epoch else []

    def select_nothing(self) -> None:
        """No results; an error if the client has sent its next request already."""
        with self._session.lock:
            if self._session.epoch != self.expected_epoch:
                self._refuse()

    def _refuse(self) -> None:
        message = "Incremental fetch session %d expected epoch %d, but got %d.  Possible duplicate request."
        logger.info(message, self._session.id, self.expected_epoch, self._session.epoch)
        self.error_code = Errors.INVALID_FETCH_SESSION_EPOCH.code
