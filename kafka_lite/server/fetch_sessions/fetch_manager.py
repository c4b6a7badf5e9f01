"""Decides what a fetch request means for its session.

Kafka 1.1: core/.../server/FetchSession.scala (FetchManager); 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from kafka_lite.clients.fetch_metadata import FINAL_EPOCH, FetchMetadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import Time
from kafka_lite.server.fetch_sessions.fetch_context import (
    Asked,
    FetchContext,
    FullFetchContext,
    IncrementalFetchContext,
    SessionErrorContext,
    SessionlessFetchContext,
)
from kafka_lite.server.fetch_sessions.fetch_session import FetchKey
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache

logger = logging.getLogger(__name__)


class FetchManager:
    """Makes the context of each fetch request.

    ::

        epoch   session                        context                     session afterwards
        ─────   ────────────────────────────   ─────────────────────────   ───────────────────────────────────
        -1      any or none                    SessionlessFetchContext     removed
        0       any or none                    FullFetchContext            removed; a new one with the response
        n ≥ 1   unknown                        SessionErrorContext         FETCH_SESSION_ID_NOT_FOUND
                at another epoch               SessionErrorContext         INVALID_FETCH_SESSION_EPOCH; unchanged
                has names, the request ids     SessionErrorContext         FETCH_SESSION_TOPIC_ID_ERROR; unchanged
                at epoch n                     IncrementalFetchContext     updated, at epoch n + 1
                … without partitions by now    SessionlessFetchContext     removed
    """

    def __init__(self, cache: FetchSessionCache, time: Time) -> None:
        self._cache = cache
        self._time = time

    def new_context(
        self,
        metadata: FetchMetadata,
        from_follower: bool,
        asked: Asked,
        to_forget: Collection[FetchKey],
        uses_topic_ids: bool = False,
    ) -> FetchContext:
        """The context of a request that names the partitions ``asked``. Updates or removes the request's session."""
        if not metadata.is_full:
            return self._incremental_context(metadata, asked, to_forget, uses_topic_ids)
        with self._cache.lock:
            replaced = self._cache.get(metadata.session_id)
            if replaced is not None:
                self._cache.remove(replaced)
        if metadata.epoch == FINAL_EPOCH:
            return SessionlessFetchContext(asked)
        return FullFetchContext(asked, from_follower, self._cache, self._time, uses_topic_ids)

    def _incremental_context(
        self, metadata: FetchMetadata, asked: Asked, to_forget: Collection[FetchKey], uses_topic_ids: bool
    ) -> FetchContext:
        session_id, epoch = metadata
        cache = self._cache
        with cache.lock:
            session = cache.get(session_id)
            if session is None:
                logger.debug("Session error for %d: no such session ID found.", session_id)
                return SessionErrorContext(Errors.FETCH_SESSION_ID_NOT_FOUND)
            with session.lock:
                if session.epoch != epoch:
                    message = "Session error for %d: expected epoch %d, but got %d instead."
                    logger.debug(message, session_id, session.epoch, epoch)
                    return SessionErrorContext(Errors.INVALID_FETCH_SESSION_EPOCH)
                if session.uses_topic_ids != uses_topic_ids:
                    message = "Session error for %d: the session %s topic ids, the request does not agree."
                    logger.debug(message, session_id, "uses" if session.uses_topic_ids else "does not use")
                    return SessionErrorContext(Errors.FETCH_SESSION_TOPIC_ID_ERROR)
                session.update(asked, to_forget)
                if not session.partitions:
                    cache.remove(session)
                    return SessionlessFetchContext(asked)
                cache.touch(session, self._time.hi_res_ms())
                context = IncrementalFetchContext(metadata, session)
                session.epoch = context.expected_epoch
                return context
