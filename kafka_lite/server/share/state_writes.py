"""Writes the changes of a share partition to the persister, in their order.

Kafka 4.1: core/.../server/share/SharePartition.java (writeShareGroupState, fetchPersisterError) · book 5.4.1
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.persister import PartitionErrorData, PartitionStateBatchData, Persister

Done = Callable[[ApiError | None], None]
"""Called once with the outcome: None, or what went wrong."""

_AS_IT_IS: Final = frozenset({Errors.GROUP_ID_NOT_FOUND, Errors.UNKNOWN_TOPIC_OR_PARTITION})
_COORDINATOR: Final = frozenset(
    {Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS}
)
_FENCED: Final = frozenset({Errors.FENCED_LEADER_EPOCH, Errors.FENCED_STATE_EPOCH})


def persister_error(error: Errors, message: str | None) -> ApiError:
    """The error for clients after one of the persister."""
    text = message or error.message
    if error in _AS_IT_IS:
        return error.exception(text)
    if error in _COORDINATOR:
        return Errors.COORDINATOR_NOT_AVAILABLE.exception(text)
    if error in _FENCED:
        return Errors.NOT_LEADER_OR_FOLLOWER.exception(text)
    return Errors.UNKNOWN_SERVER_ERROR.exception(text)


class StateWrites:
    """A queue of changes, so that they reach the persister in the order in which they were made.

    ``add`` is called under the partition's lock, ``send`` without it: the persister may respond at once.
    """

    def __init__(self, persister: Persister, group_id: str, partition: TopicIdPartition) -> None:
        self._persister = persister
        self._group_id = group_id
        self._partition = partition
        self._lock = threading.Lock()
        self._waiting: deque[tuple[PartitionStateBatchData, Done]] = deque()
        self._is_sending = False

    def add(self, data: PartitionStateBatchData, done: Done) -> None:
        """Append a change."""
        with self._lock:
            self._waiting.append((data, done))

    def send(self) -> None:
        """Hand over what waits; if another thread does so by now, that one hands it over."""
        while True:
            with self._lock:
                if self._is_sending or not self._waiting:
                    return
                self._is_sending = True
                data, done = self._waiting.popleft()
            try:
                self._persister.write_state(self._group_id, {self._partition: data}, self._responder(done))
            finally:
                with self._lock:
                    self._is_sending = False

    def _responder(self, done: Done) -> Callable[[Mapping[TopicIdPartition, PartitionErrorData]], None]:
        def respond(results: Mapping[TopicIdPartition, PartitionErrorData]) -> None:
            result = results.get(self._partition, PartitionErrorData(Errors.UNKNOWN_SERVER_ERROR))
            done(None if result.error is Errors.NONE else persister_error(result.error, result.message))

        return respond
