"""Topic operations that respond once the metadata cache shows their effect.

Kafka 0.10.2: core/.../server/DelayedCreateTopics.scala, DelayedDeleteTopics.scala · book 6.3.1
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.zookeeper.data import NO_LEADER


class TopicResult(Protocol):
    """The fields that results of creation, deletion and enlargement have in common."""

    error_code: int
    error_message: str | None


class DelayedTopicOperation(DelayedOperation):
    """Waits until the operation on every topic without an error has taken effect.

    Every update of the metadata cache checks it again. A topic whose operation has not taken effect in time gets
    REQUEST_TIMED_OUT, although the operation continues.
    """

    def __init__(
        self,
        delay_ms: float,
        results: Mapping[str, TopicResult],
        metadata_cache: MetadataCache,
        callback: Callable[[], None],
    ) -> None:
        """``results``: topic -> its result. The operation sets their error codes and then calls ``callback``."""
        super().__init__(delay_ms)
        self._results = results
        self._cache = metadata_cache
        self._callback = callback
        self._looks_for_effects = True
        # Without those that were found done: every update of the metadata asks, for each of thousands of topics.
        self._not_done = [topic for topic, result in results.items() if result.error_code == Errors.NONE.code]

    def complete_without_waiting(self) -> None:
        """Respond at once, for a timeout of 0 or less: REQUEST_TIMED_OUT, even if the effect is already there."""
        self._looks_for_effects = False
        self.force_complete()

    @abstractmethod
    def is_done(self, topic: str) -> bool:
        """Whether the cache shows the effect on this topic."""

    def _pending(self) -> list[str]:
        return [
            topic
            for topic, result in self._results.items()
            if result.error_code == Errors.NONE.code and not (self._looks_for_effects and self.is_done(topic))
        ]

    def try_complete(self) -> bool:
        """Complete if no topic is pending any more."""
        while self._not_done and self.is_done(self._not_done[-1]):
            self._not_done.pop()
        return not self._not_done and not self._pending() and self.force_complete()

    def on_complete(self) -> None:
        """Mark the pending topics as timed out, and respond."""
        for topic in self._pending():
            self._results[topic].error_code = Errors.REQUEST_TIMED_OUT.code
        self._callback()

    def on_expiration(self) -> None:
        """No-op: ``on_complete`` does everything."""


class DelayedCreatePartitions(DelayedTopicOperation):
    """Waits until all partitions of new or enlarged topics have leaders.

    A topic whose leaders have no disk space for its logs gets KAFKA_STORAGE_ERROR. (Kafka reports success, and clients
    get the error when they produce.)
    """

    def __init__(
        self,
        delay_ms: float,
        results: Mapping[str, TopicResult],
        partitions: Mapping[str, int],
        metadata_cache: MetadataCache,
        storage_failure: Callable[[str], str | None],
        callback: Callable[[], None],
    ) -> None:
        """``partitions``: topic -> its wanted number. ``storage_failure``: topic -> why logs are missing."""
        super().__init__(delay_ms, results, metadata_cache, callback)
        self._partitions = partitions
        self._storage_failure = storage_failure

    def is_done(self, topic: str) -> bool:
        """Whether all wanted partitions have a leader."""
        infos = self._cache.get_partitions(topic).values()
        return sum(info.leader != NO_LEADER for info in infos) >= self._partitions.get(topic, 0)

    def on_complete(self) -> None:
        """Mark the topics without logs as well."""
        for topic, result in self._results.items():
            if result.error_code == Errors.NONE.code and (failure := self._storage_failure(topic)) is not None:
                result.error_code, result.error_message = Errors.KAFKA_STORAGE_ERROR.code, failure
        super().on_complete()


class DelayedDeleteTopics(DelayedTopicOperation):
    """Waits until the topics have left every broker's metadata and can be created again.

    Kafka waits only for the metadata, so a client that deletes a topic and creates it again at once may get the error
    that it is still marked for deletion.
    """

    def __init__(
        self,
        delay_ms: float,
        results: Mapping[str, TopicResult],
        metadata_cache: MetadataCache,
        is_queued_up_for_deletion: Callable[[str], bool],
        callback: Callable[[], None],
    ) -> None:
        super().__init__(delay_ms, results, metadata_cache, callback)
        self._is_queued_up_for_deletion = is_queued_up_for_deletion

    def is_done(self, topic: str) -> bool:
        """Whether the topic has been removed from the cache and from ZooKeeper."""
        return not self._cache.contains(topic) and not self._is_queued_up_for_deletion(topic)
