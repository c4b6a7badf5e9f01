"""The partitions that a fetch request reads, by the names of their topics, though it may give ids.

Kafka 3.1: core/.../server/KafkaApis.scala (handleFetchRequest: erroneous, interesting), KIP-516; before, requests have
names only · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import cast
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.fetch_context import Asked, Results
from kafka_lite.server.fetch_sessions.fetch_session import FetchKey

ReadResults = list[tuple[TopicPartition, LogReadResult]]
_new_topic_response = FetchableTopicResponse.maker("topic", "partitions")


class FetchedTopics:
    """The partitions of one request, if its session and response have names, as before version 13::

    context.partitions ─▶ readable ─▶ logs ─▶ results ─┐
                      └─▶ failed ──────────────────────┴─▶ as_asked ─▶ context.update_and_select
    """

    __slots__ = ("failed", "readable")

    def __init__(self, asked: Asked) -> None:
        self.readable = cast(list[tuple[TopicPartition, FetchPartition]], asked)
        """The partitions that may be read."""
        self.failed: Results = []
        """The errors of the others."""

    def refuse(self, topics: Collection[str]) -> None:
        """The user may not read these topics."""
        error = LogReadResult(Errors.TOPIC_AUTHORIZATION_FAILED, aborted_transactions=[])  # not null, as in Kafka
        self.failed += [(self.key_of(tp), error) for tp, _ in self.readable if tp.topic in topics]
        self.readable = [each for each in self.readable if each[0].topic not in topics]

    def as_asked(self, results: ReadResults) -> Results:
        """All results, under the keys of the request."""
        return [*self.failed, *results]

    def key_of(self, partition: TopicPartition) -> FetchKey:
        """The partition as the request names it."""
        return partition

    def name_of(self, key: FetchKey) -> TopicPartition:
        """The partition of a key."""
        assert isinstance(key, TopicPartition)
        return key

    def new_response(self, key: FetchKey) -> FetchableTopicResponse:
        """The empty response about a key's topic."""
        return _new_topic_response(key[0], [])


class FetchedTopicIds(FetchedTopics):
    """The partitions of one request, if its session and response have ids. Names are looked up once."""

    __slots__ = ("_keys", "_log_topic_id", "_names")

    def __init__(
        self,
        asked: Asked,
        topic_name: Callable[[UUID], str | None],
        log_topic_id: Callable[[TopicPartition], UUID | None],
    ) -> None:
        """``topic_name``: that of an id; ``log_topic_id``: the id of the topic of a partition's log, if it has one."""
        super().__init__([])
        self._log_topic_id = log_topic_id
        self._keys: dict[TopicPartition, TopicIdPartition] = {}
        self._names: dict[FetchKey, TopicPartition] = {}
        for key, wanted in asked:
            assert isinstance(key, TopicIdPartition)
            name = topic_name(key.topic_id)
            if name is None:
                self.failed.append((key, LogReadResult(Errors.UNKNOWN_TOPIC_ID, aborted_transactions=[])))
                continue
            partition = known_topic_partition(name, key.partition)
            self._keys[partition], self._names[key] = key, partition
            if self._is_of_another_topic(partition):
                self.failed.append((key, LogReadResult(Errors.INCONSISTENT_TOPIC_ID)))
            else:
                self.readable.append((partition, wanted))

    def _is_of_another_topic(self, partition: TopicPartition) -> bool:
        return self._log_topic_id(partition) not in (None, self._keys[partition].topic_id)

    def as_asked(self, results: ReadResults) -> Results:
        """All results. A topic that was made again while the request waited was not asked for."""
        answered: Results = list(self.failed)
        for partition, result in results:
            if self._is_of_another_topic(partition):
                result = LogReadResult(Errors.INCONSISTENT_TOPIC_ID)
            answered.append((self._keys[partition], result))
        return answered

    def key_of(self, partition: TopicPartition) -> FetchKey:
        """The partition as the request names it."""
        return self._keys[partition]

    def name_of(self, key: FetchKey) -> TopicPartition:
        """The partition of a key; one without a topic if the id is unknown."""
        return self._names.get(key) or TopicPartition("", key.partition)

    def new_response(self, key: FetchKey) -> FetchableTopicResponse:
        """The empty response about a key's topic."""
        assert isinstance(key, TopicIdPartition)
        return FetchableTopicResponse(topic_id=key.topic_id, partitions=[])
