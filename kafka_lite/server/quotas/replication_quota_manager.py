"""A limit for the bytes per second that the throttled replicas of a broker are copied with.

Kafka 0.10.2: core/.../server/ReplicationQuotaManager.scala (ReplicationQuotaManager, ReplicaQuota), KIP-73
· book 10.1
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from enum import Enum
from typing import Protocol

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig, SimpleRate

UNLIMITED = (1 << 63) - 1
ALL_REPLICAS = "*"
"""The value of ``leader.replication.throttled.replicas`` that throttles every replica of a topic."""


class ReplicationType(Enum):
    """The kind of replication that a quota limits; the value is the type of its bean."""

    LEADER = "LeaderReplication"
    FOLLOWER = "FollowerReplication"
    ALTER_LOG_DIRS = "AlterLogDirsReplication"


class ReplicaQuota(Protocol):
    """A quota, as code that copies records sees it."""

    def is_throttled(self, topic_partition: TopicPartition) -> bool:
        """Whether the quota applies to a partition."""
        ...

    @property
    def is_quota_exceeded(self) -> bool:
        """Whether nothing more may be copied at the moment."""
        ...

    def record(self, size_bytes: int) -> None:
        """Count bytes that were copied."""
        ...


class ReplicationQuotaManager:
    """The rate of throttled replicas over the last seconds, and its upper bound.

    ::

        broker    leader.replication.throttled.rate=1000000             update_quota
        topic     leader.replication.throttled.replicas=0:101,1:102     mark_throttled, of the partitions on this broker

    A copy asks first and is counted afterwards, so a request that began below the bound may exceed it. Then nothing
    throttled is copied until the mean rate has sunk below the bound again.

    Safe to use from any thread.
    """

    def __init__(self, replication_type: ReplicationType, config: MetricConfig, time: Time) -> None:
        """``config`` has the number of windows and their length: the keys ``replication.quota.window.…``."""
        self.replication_type = replication_type
        self._config = config
        self._time = time
        self._lock = threading.Lock()
        self._rate = SimpleRate()
        self._throttled: dict[str, frozenset[int] | None] = {}
        self.upper_bound = UNLIMITED
        """Bytes per second."""

    def register(self, metrics: Metrics) -> None:
        """Show the rate as ``byte-rate``."""
        group = self.replication_type.value
        name = metrics.metric_name("byte-rate", group, f"Tracking byte-rate for {group}")
        metrics.add_metric(name, lambda _config, _now_ms: self.byte_rate)

    # ── configuration ─────────────────────────────────────────────────────────────────────────────────────────────────

    def update_quota(self, upper_bound: int) -> None:
        """Set the limit, in bytes per second."""
        self.upper_bound = upper_bound

    def mark_throttled(self, topic: str, partitions: Collection[int] | None = None) -> None:
        """Throttle these partitions of a topic and no others of it; None: all."""
        self._throttled[topic] = None if partitions is None else frozenset(partitions)

    def remove_throttle(self, topic: str) -> None:
        """Throttle no partition of a topic."""
        self._throttled.pop(topic, None)

    # ── copying ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def is_throttled(self, topic_partition: TopicPartition) -> bool:
        """Whether the quota applies to a partition."""
        topic, partition = topic_partition
        if topic not in self._throttled:
            return False
        partitions = self._throttled.get(topic, frozenset())
        return partitions is None or partition in partitions

    @property
    def is_quota_exceeded(self) -> bool:
        """Whether the rate is above its bound."""
        return self.upper_bound != UNLIMITED and self.byte_rate > self.upper_bound

    @property
    def byte_rate(self) -> float:
        """The mean bytes per second over the windows."""
        with self._lock:
            return self._rate.measure(self._config, self._time.hi_res_ms())

    def record(self, size_bytes: int) -> None:
        """Count bytes that were copied."""
        with self._lock:
            self._rate.record(self._config, size_bytes, 1, self._time.hi_res_ms())


def parse_throttled_partitions(entries: Collection[str], broker_id: int) -> list[int] | None:
    """The partitions of ``["0:101", "1:102"]`` (partition:broker) that are on this broker; None for ``["*"]``: all."""
    if list(entries) == [ALL_REPLICAS]:
        return None
    pairs = [entry.strip().split(":") for entry in entries]
    return [int(partition) for partition, broker in pairs if int(broker) == broker_id]
