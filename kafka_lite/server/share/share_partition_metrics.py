"""The beans of one share partition on its leader.

Kafka 4.1: server/.../server/share/metrics/SharePartitionMetrics.java · book 5.4.1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry

NAMES: Final = (
    "AcquisitionLockTimeoutPerSec",
    "InFlightMessageCount",
    "InFlightBatchCount",
    "InFlightBatchMessageCount",
    "FetchLockTimeMs",
    "FetchLockRatio",
)


class SharePartitionMetrics:
    """Shows what is in flight, which locks expire, and how long fetches have the fetch lock.

    ::

        fetch lock     │ held     │ idle            │ held │
                       └─ 5 ms ───┴──── 15 ms ──────┴ 5 ms ┘     time 5, ratio 5 / (15 + 5): 25 percent
    """

    def __init__(self, registry: MetricsRegistry, time: Time, group_id: str, log: TopicPartition) -> None:
        self._time = time
        self._tags = {"group": group_id, "topic": log.topic, "partition": str(log.partition)}
        self._beans = beans = KafkaMetricsGroup(registry, time, "kafka.server", "SharePartitionMetrics")
        self._timeouts = beans.new_meter("AcquisitionLockTimeoutPerSec", "acquisition lock timeout", self._tags)
        self._batch_sizes = beans.new_histogram("InFlightBatchMessageCount", self._tags)
        self._lock_times = beans.new_histogram("FetchLockTimeMs", self._tags)
        self._lock_ratios = beans.new_histogram("FetchLockRatio", self._tags)
        self._locked_ms = 0.0
        self._released_ms: float | None = None
        self._idle_ms = 0.0

    def watch(self, messages: Callable[[], int], batches: Callable[[], int]) -> None:
        """Show how many records and batches are in flight."""
        self._beans.new_gauge("InFlightMessageCount", messages, self._tags)
        self._beans.new_gauge("InFlightBatchCount", batches, self._tags)

    def close(self) -> None:
        """Remove the beans: this broker leads the partition no longer, or has let it go."""
        for name in NAMES:
            self._beans.remove_metric(name, self._tags)

    def locks_expired(self, records: int) -> None:
        """A member has not acknowledged its records in time."""
        self._timeouts.mark(records)

    def batch_in_flight(self, records: int) -> None:
        """A batch was acquired, or read from the persister."""
        self._batch_sizes.update(records)

    def fetch_lock_acquired(self) -> None:
        """A fetch begins to read."""
        self._locked_ms = self._time.hi_res_ms()
        self._idle_ms = 0.0 if self._released_ms is None else self._locked_ms - self._released_ms

    def fetch_lock_released(self) -> None:
        """The fetch has read: how long that took, in ms, and in percent of the time since the one before."""
        now_ms = self._time.hi_res_ms()
        held_ms = now_ms - self._locked_ms
        total_ms = held_ms + self._idle_ms
        self._lock_times.update(held_ms)
        self._lock_ratios.update(int(100 * held_ms / total_ms) if total_ms else 100)
        self._released_ms = now_ms
