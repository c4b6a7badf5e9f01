"""Collects the results of a request's partitions.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorService.java (CompletableFuture.allOf) · book 10.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Generic, TypeVar

from kafka_lite.common.ids.topic_id_partition import TopicIdPartition

R = TypeVar("R")


class AllResults(Generic[R]):
    """The results arrive in any thread; the last one sends all of them, in the order of the request."""

    def __init__(
        self, partitions: Collection[TopicIdPartition], respond: Callable[[Mapping[TopicIdPartition, R]], None]
    ) -> None:
        """Responds at once if there are no partitions."""
        self._partitions = tuple(dict.fromkeys(partitions))
        self._respond = respond
        self._lock = threading.Lock()
        self._results: dict[TopicIdPartition, R] = {}
        if not self._partitions:
            respond({})

    def sender(self, partition: TopicIdPartition) -> Callable[[R], None]:
        """Takes the result of a partition, once."""
        return partial(self._add, partition)

    def _add(self, partition: TopicIdPartition, result: R) -> None:
        with self._lock:
            self._results[partition] = result
            is_complete = len(self._results) == len(self._partitions)
        if is_complete:
            self._respond({each: self._results[each] for each in self._partitions})
