"""A client's side of a fetch session: which partitions the next request must name.

Kafka 1.1: clients/.../clients/FetchSessionHandler.java (topic ids: since 3.1, KIP-516); 0.10 has no fetch sessions
· book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar
from uuid import UUID

from kafka_lite.clients.fetch_metadata import INITIAL, INVALID_SESSION_ID, FetchMetadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_01_fetch import FetchResponse, ForgottenTopic, PartitionData

logger = logging.getLogger(__name__)

D = TypeVar("D")

FIRST_VERSION_BY_TOPIC_ID = 13
LAST_VERSION_BY_NAME = 12
NO_TOPIC_IDS: Final[Mapping[str, UUID]] = MappingProxyType({})


class FetchRequestData(NamedTuple, Generic[D]):
    """The content of one fetch request."""

    to_send: Mapping[TopicPartition, D]
    """The partitions that the request names: those that are new or have changed, or all of them."""
    to_forget: list[TopicPartition]
    """The partitions that leave the session."""
    session_partitions: Mapping[TopicPartition, D]
    """All partitions that the broker reads for the request. Valid until the next request is built."""
    metadata: FetchMetadata
    topic_ids: Mapping[TopicPartition, UUID]
    """The ids of the topics of all these partitions."""
    replaced: Mapping[TopicPartition, UUID]
    """Partitions whose topic was made again, with the ids that they had before."""

    @property
    def uses_topic_ids(self) -> bool:
        """Whether the request may give ids in place of names: those of all topics are known."""
        return ZERO_UUID not in self.topic_ids.values()

    def forgotten_topics(self, version: int = LAST_VERSION_BY_NAME) -> list[ForgottenTopic]:
        """``to_forget`` as it is sent; by ids also the partitions of the topics that others have replaced."""
        forgotten = [(each, self.topic_ids[each]) for each in self.to_forget]
        if version >= FIRST_VERSION_BY_TOPIC_ID:
            forgotten += self.replaced.items()
        topics: dict[tuple[str, UUID], ForgottenTopic] = {}
        for (topic, partition), topic_id in forgotten:
            known = topics.setdefault((topic, topic_id), ForgottenTopic(topic=topic, topic_id=topic_id, partitions=[]))
            known.partitions.append(partition)
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

    A topic that was made again is another topic: its partitions are named with the new id, and forgotten with the old
    one. If ids of some topics become known or unknown, the broker refuses the next request, and the session ends.

    A broker that knows no sessions returns id 0, so every request names all partitions. One request is in flight at a
    time. Not thread-safe.
    """

    def __init__(self, node: int) -> None:
        """``node`` is the broker's id, for log lines."""
        self._node = node
        self._next_metadata = INITIAL
        self._session_partitions: dict[TopicPartition, D] = {}
        self._topic_ids: dict[TopicPartition, UUID] = {}

    @property
    def session_id(self) -> int:
        """The session's id; 0 without a session."""
        return self._next_metadata.session_id

    def build(
        self, partitions: Mapping[TopicPartition, D], topic_ids: Mapping[str, UUID] = NO_TOPIC_IDS
    ) -> FetchRequestData[D]:
        """The next request, to fetch these partitions. ``topic_ids``: those that are known, by topic."""
        session, metadata, ids_before = self._session_partitions, self._next_metadata, self._topic_ids
        ids = self._topic_ids = {each: topic_ids.get(each.topic, ZERO_UUID) for each in partitions}
        if metadata.is_full:
            session = self._session_partitions = dict(partitions)
            return FetchRequestData(partitions, [], session, metadata, ids, {})
        removed = [each for each in session if each not in partitions]
        for each in removed:
            del session[each]
        replaced = {each: ids_before[each] for each in session if ids_before[each] not in (ZERO_UUID, ids[each])}
        altered = {
            each: partitions[each] for each, known in session.items() if partitions[each] != known or each in replaced
        }
        added = {each: data for each, data in partitions.items() if each not in session}
        to_send = added | altered
        session.update(to_send)
        all_ids = ids | {each: ids_before[each] for each in removed}
        return FetchRequestData(to_send, removed, session, metadata, all_ids, replaced)

    def partitions_of(self, response: FetchResponse, version: int) -> dict[TopicPartition, PartitionData]:
        """The partitions of a response; those of an id that was not asked for have the id as the topic's name."""
        if version < FIRST_VERSION_BY_TOPIC_ID:
            named = ((topic.topic, topic.partitions) for topic in response.responses)
        else:
            names = {topic_id: each.topic for each, topic_id in self._topic_ids.items()}
            named = ((names.get(topic.topic_id, str(topic.topic_id)), topic.partitions) for topic in response.responses)
        return {TopicPartition(name, data.partition_index): data for name, partitions in named for data in partitions}

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
