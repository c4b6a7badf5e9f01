"""The share partitions of a broker.

Kafka 4.1: core/.../server/share/SharePartitionCache.java · book 5.4.1
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.server.share.share_partition import SharePartition

K = TypeVar("K", bound=Hashable)


class SharePartitionCache:
    """Share partitions by key, by group, and by the partition that they consume. Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._partitions: dict[SharePartitionKey, SharePartition] = {}
        self._of_groups: dict[str, set[SharePartitionKey]] = {}
        self._of_logs: dict[TopicPartition, set[SharePartitionKey]] = {}
        self._logs: dict[SharePartitionKey, TopicPartition] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def get(self, key: SharePartitionKey) -> SharePartition | None:
        """The share partition, if there is one."""
        return self._partitions.get(key)

    def get_or_create(
        self, key: SharePartitionKey, log: TopicPartition, create: Callable[[], SharePartition]
    ) -> SharePartition:
        """The share partition; ``create`` makes it under the lock, and may raise ApiError."""
        with self._lock:
            found = self._partitions.get(key)
            if found is None:
                found = self._partitions[key] = create()
                self._of_groups.setdefault(key.group_id, set()).add(key)
                self._of_logs.setdefault(log, set()).add(key)
                self._logs[key] = log
            return found

    def remove(self, key: SharePartitionKey, only: SharePartition | None = None) -> SharePartition | None:
        """Let a share partition go, and fence it; with ``only``, if it is that one."""
        with self._lock:
            found = self._partitions.get(key)
            if found is None or only not in (None, found):
                return None
            del self._partitions[key]
            _discard(self._of_groups, key.group_id, key)
            _discard(self._of_logs, self._logs.pop(key), key)
            found.metrics.close()  # under the lock: the next object of this key has beans of the same names
        found.mark_fenced()
        return found

    def keys_of_group(self, group_id: str) -> list[SharePartitionKey]:
        """The share partitions of a group."""
        with self._lock:
            return sorted(self._of_groups.get(group_id, ()))

    def keys_of_log(self, log: TopicPartition) -> list[SharePartitionKey]:
        """The share partitions that consume a partition."""
        if log not in self._of_logs:  # asked after each append
            return []
        with self._lock:
            return sorted(self._of_logs.get(log, ()))

    def all_keys(self) -> list[SharePartitionKey]:
        """All share partitions."""
        with self._lock:
            return list(self._partitions)


def _discard(index: dict[K, set[SharePartitionKey]], name: K, key: SharePartitionKey) -> None:
    keys = index[name]
    keys.discard(key)
    if not keys:
        del index[name]
