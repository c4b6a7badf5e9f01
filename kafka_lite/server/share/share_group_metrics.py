"""The beans about share groups on the leaders of partitions.

Kafka 4.1: server/.../server/share/metrics/ShareGroupMetrics.java, core/.../server/share/DelayedShareFetch.java
· book 5.4.1
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.record_state import ACCEPT, REJECT, RELEASE
from kafka_lite.server.share.share_partition_metrics import SharePartitionMetrics

ACK_TYPES = {ACCEPT: "Accept", RELEASE: "Release", REJECT: "Reject"}
"""Gaps are not counted, as in Kafka."""
FETCH_RATIO, ACQUIRE_TIME = "RequestTopicPartitionsFetchRatio", "TopicPartitionsAcquireTimeMs"


class ShareGroupMetrics:
    """Counts acknowledged records by what members say of them, and measures loads and fetches."""

    def __init__(self, registry: MetricsRegistry, time: Time) -> None:
        self._registry, self._time = registry, time
        self._beans = group = KafkaMetricsGroup(registry, time, "kafka.server", "ShareGroupMetrics")
        self._acknowledgements = {
            kind: group.new_meter("RecordAcknowledgementsPerSec", "records", {"ackType": name})
            for kind, name in ACK_TYPES.items()
        }
        self._load_times = group.new_histogram("PartitionLoadTimeMs")
        fetches = KafkaMetricsGroup(registry, time, "kafka.server", "DelayedShareFetchMetrics")
        self._expired = fetches.new_meter("ExpiresPerSec", "requests")
        self._lock = threading.Lock()
        self._of_groups: dict[str, FetchesOfGroup] = {}

    def acknowledged(self, batches: Sequence[ShareAcknowledgementBatch]) -> None:
        """The persister has these acknowledgements."""
        for first, last, types in batches:
            each = last - first + 1 if len(types) == 1 else 1
            for kind in types:
                if kind in self._acknowledgements:
                    self._acknowledgements[kind].mark(each)

    def partition_loaded(self, started_ms: float) -> None:
        """The persister has returned the state of a partition, or an error."""
        self._load_times.update(self._time.hi_res_ms() - started_ms)

    def of_partition(self, group_id: str, log: TopicPartition) -> SharePartitionMetrics:
        """The beans of a share partition."""
        return SharePartitionMetrics(self._registry, self._time, group_id, log)

    def fetch_begins(self, group_id: str) -> ShareFetchMetrics:
        """Measure one fetch."""
        with self._lock:
            of_group = self._of_groups.get(group_id)
            if of_group is None:
                of_group = self._of_groups[group_id] = FetchesOfGroup(self._beans, group_id)
        return ShareFetchMetrics(of_group, self)

    def group_has_left(self, group_id: str) -> None:
        """No partition of the group is left: remove its beans. (Kafka keeps them.)"""
        with self._lock:
            if self._of_groups.pop(group_id, None) is not None:
                for name in (FETCH_RATIO, ACQUIRE_TIME):
                    self._beans.remove_metric(name, {"group": group_id})

    def fetch_expired(self) -> None:
        """A fetch has waited as long as its client wants to."""
        self._expired.mark()

    def now_ms(self) -> float:
        """The time with which loads and fetches are measured."""
        return self._time.hi_res_ms()


class FetchesOfGroup:
    """The histograms of a group's fetches."""

    def __init__(self, beans: KafkaMetricsGroup, group_id: str) -> None:
        tags = {"group": group_id}
        self.ratios = beans.new_histogram(FETCH_RATIO, tags)
        self.acquire_times = beans.new_histogram(ACQUIRE_TIME, tags)


class ShareFetchMetrics:
    """Measures one fetch."""

    def __init__(self, of_group: FetchesOfGroup, metrics: ShareGroupMetrics) -> None:
        self._of_group = of_group
        self._metrics = metrics
        self._started_ms = metrics.now_ms()

    def locked(self) -> None:
        """It has fetch locks: how long it had to wait for them, since it began or had some before."""
        now_ms = self._metrics.now_ms()
        self._of_group.acquire_times.update(now_ms - self._started_ms)
        self._started_ms = now_ms

    def completed(self, locked: int, asked: int) -> None:
        """It completes with the locks of so many of the partitions that it has asked for."""
        self._of_group.ratios.update(100 * locked // asked)

    def expired(self) -> None:
        """It has waited as long as its client wants to."""
        self._metrics.fetch_expired()
