"""A client's side of a fetch session: which partitions the next request must name.

Kafka 1.1: clients/.../clients/FetchSessionHandler.java; 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Generic, NamedTuple, TypeVar

from kafka_lite.clients.fetch_metadata import INITIAL, INVALID_SESSION_ID, FetchMetadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse, ForgottenTopic

logger = logging.getLogger(__name__)

D = TypeVar("D")


class FetchRequestData(NamedTuple, Generic[D]):
    """The content of one fetch request."""

    to_send: Mapping[TopicPartition, D]
    """The partitions that the request names: those that are new or have changed, or all of them."""
    to_forget: list[TopicPartition]
    """The partitions that leave the session."""
    session_partitions: Mapping[TopicPartition, D]
    """All partitions that the broker reads for the request. Valid until the next request is built."""
    metadata: FetchMetadata

    def forgotten_topics(self) -> list[ForgottenTopic]:
        """``to_forget`` as it is sent."""
        topics: dict[str, ForgottenTopic] = {}
        for topic, partition in self.to_forget:
            topics.setdefault(topic, ForgottenTopic(topic=topic, partitions=[])).partitions.append(partition)
        return list(topics.values())


class FetchSessionHandler(Generic[D]):
    """The session with one broker; ``D`` is what the client sends of a partition, compared with ``==``.

    ::

                      build                                    handle_response
        next request ───────▶ session (0, 0): all partitions ──────────────────▶ id s: next request is (s, 1)
             ▲                                                                   id 0: next request is (0, 0)
             │                session (s, n): the changes    ──────────────────▶ id s: next request is (s, n + 1)
             │                                                                   id 0, or not found: (0, 0)
             └── another error, a lost connection, partitions that were not asked for: (s, 0), which ends session s

    A broker that knows no sessions returns id 0, so every request names all partitions. One request is in flight at a
    time. Not thread-safe.
    """

    def __init__(self, node: int) -> None:
        """``node`` is the broker's id, for log lines."""
        self._node = node
        self._next_metadata = INITIAL
        self._session_partitions: dict[TopicPartition, D] = {}

    @property
    def session_id(self) -> int:
        """The session's id; 0 without a session."""
        return self._next_metadata.session_id

    def build(self, partitions: Mapping[TopicPartition, D]) -> FetchRequestData[D]:
        """The next request, to fetch these partitions."""
        session, metadata = self._session_partitions, self._next_metadata
        if metadata.is_full:
            session = self._session_partitions = dict(partitions)
            return FetchRequestData(partitions, [], session, metadata)
        removed = [each for each in session if each not in partitions]
        for each in removed:
            del session[each]
        altered = {each: partitions[each] for each, known in session.items() if partitions[each] != known}
        added = {each: data for each, data in partitions.items() if each not in session}
        to_send = added | altered
        session.update(to_send)
        return FetchRequestData(to_send, removed, session, metadata)

    def handle_response(self, response: FetchResponse, partitions: Collection[TopicPartition]) -> bool:
        """Note what a response means for the session; false if its ``partitions`` must not be used."""
        metadata = self._next_metadata
        error = Errors.for_code(response.error_code)
        if error is not Errors.NONE:
            logger.info(
                "Node %s was unable to process the fetch request with %s: %s.", self._node, metadata, error.name
            )
            forgotten = error is Errors.FETCH_SESSION_ID_NOT_FOUND
            self._next_metadata = INITIAL if forgotten else metadata.next_close_existing_attempt_new()
            return False
        problem = self._problem_with(partitions, response.throttle_time_ms)
        if problem is not None:
            logger.info("Node %s sent an invalid fetch response for %s: %s", self._node, metadata, problem)
            self._next_metadata = INITIAL if metadata.is_full else metadata.next_close_existing_attempt_new()
            return False
        if response.session_id == INVALID_SESSION_ID:
            self._next_metadata = INITIAL
        elif metadata.is_full:
            self._next_metadata = FetchMetadata.new_incremental(response.session_id)
        else:
            self._next_metadata = metadata.next_incremental()
        return True

    def _problem_with(self, partitions: Collection[TopicPartition], throttle_time_ms: int) -> str | None:
        """Why a response with these partitions cannot be right; None if it can."""
        session = self._session_partitions
        extra = [str(each) for each in partitions if each not in session]
        if extra:
            return f"it has partitions that were not asked for: {', '.join(extra)}"
        if self._next_metadata.is_full and len(partitions) < len(session):
            if not partitions and throttle_time_ms > 0:
                return f"it is empty, to throttle this client for {throttle_time_ms} ms"
            return f"it lacks {', '.join(str(each) for each in session if each not in partitions)}"
        return None

    def notify_close(self) -> None:
        """Let the next request end the session."""
        self._next_metadata = self._next_metadata.next_close_existing()

    def handle_error(self, error: BaseException) -> None:
        """Note that a request has failed: the next one ends the session and asks for another."""
        logger.info("Error sending fetch request %s to node %s: %s", self._next_metadata, self._node, error)
        self._next_metadata = self._next_metadata.next_close_existing_attempt_new()
