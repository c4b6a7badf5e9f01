"""The coordinator's metrics: rebalances, and offsets that are committed, deleted or expired.

Kafka 3.9: core/.../coordinator/group/GroupMetadataManager.scala, GroupCoordinator.scala (metrics);
4.1: group-coordinator/.../group/metrics/GroupCoordinatorMetrics.java · book 5.2.1
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable

from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group_state import ConsumerGroupState
from kafka_lite.coordinator.group.modern.share.share_group_state import ShareGroupState
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.metrics.stats import Avg, CumulativeSum, Max, Rate

PACKAGE = "kafka.coordinator.group"
PACKAGE_OF_0_10 = "kafka.coordinator"
"""The package of two gauges since 0.9. They are registered under both names."""
SENSOR_GROUP = "group-coordinator-metrics"

DESCRIPTIONS = {
    "offset-commit": "offset commits",
    "offset-expiration": "offsets that have expired",
    "offset-deletion": "offsets deleted on request",
    "group-completed-rebalance": "rebalances whose leader has assigned",
    "consumer-group-rebalance": "epochs of groups that the coordinator assigns",
    "share-group-rebalance": "epochs of share groups",
}


class GroupCoordinatorMetrics:
    """Counters, updated while requests are served. ``GroupBeans`` turns them into rates when they are read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._load_times_ms: list[float] = []

    def committed(self) -> None:
        """A commit was appended."""
        self._count("offset-commit", 1)

    def expired(self, offsets: int) -> None:
        """This many offsets have expired."""
        self._count("offset-expiration", offsets)

    def deleted(self, offsets: int) -> None:
        """This many offsets were deleted by OffsetDelete."""
        self._count("offset-deletion", offsets)

    def rebalanced(self) -> None:
        """A leader has sent its assignment."""
        self._count("group-completed-rebalance", 1)

    def raised_epoch(self) -> None:
        """A group of KIP-848 has another epoch."""
        self._count("consumer-group-rebalance", 1)

    def raised_share_epoch(self) -> None:
        """A share group has another epoch."""
        self._count("share-group-rebalance", 1)

    def _count(self, what: str, number: int) -> None:
        with self._lock:
            self._counts[what] += number

    def loaded(self, time_ms: float) -> None:
        """A partition was loaded, in this time."""
        with self._lock:
            self._load_times_ms.append(time_ms)

    def take(self) -> tuple[Counter[str], list[float]]:
        """The counts and load times (ms) since the last call."""
        with self._lock:
            taken = self._counts, self._load_times_ms
            self._counts, self._load_times_ms = Counter(), []
        return taken


class GroupBeans:
    """The beans of groups: the number of groups by state and of offsets, and the rates of what was counted."""

    def __init__(
        self,
        registry: MetricsRegistry,
        metrics: Metrics,
        time: Time,
        counted: GroupCoordinatorMetrics,
        groups: Callable[[], Iterable[GroupMetadata]],
    ) -> None:
        self._metrics = metrics
        self._counted = counted
        for package in (PACKAGE, PACKAGE_OF_0_10):
            beans = KafkaMetricsGroup(registry, time, package, "GroupMetadataManager")
            beans.new_gauge("NumGroups", lambda: sum(1 for _ in groups()))
            beans.new_gauge("NumOffsets", lambda: sum(len(group.offsets) for group in groups()))
        beans = KafkaMetricsGroup(registry, time, PACKAGE, "GroupMetadataManager")
        for state in GroupState:
            beans.new_gauge(
                f"NumGroups{state.value}",
                lambda s=state: sum(_is_classic(g) and g.is_in(s) for g in groups()),  # type: ignore[misc]
            )
        self._count_modern_groups(groups)
        self._meters = {what: self._meter(what, description) for what, description in DESCRIPTIONS.items()}
        self._loads = metrics.sensor("GroupPartitionLoadTime")
        for name, stat in (("partition-load-time-max", Max()), ("partition-load-time-avg", Avg())):
            self._loads.add(metrics.metric_name(name, SENSOR_GROUP, "time to load a partition, ms"), stat)
        metrics.add_collector(self.collect)
        registry.add_collector(self.collect)

    def _count_modern_groups(self, groups: Callable[[], Iterable[GroupMetadata]]) -> None:
        """The gauges that came with KIP-848 and KIP-932: groups by protocol, and those of the new ones by state."""

        def gauge(name: str, count: Callable[[GroupMetadata], bool], **tags: str) -> None:
            metric = self._metrics.metric_name(name, SENSOR_GROUP, "the number of groups", tags)
            self._metrics.add_metric(metric, lambda _config, _now: float(sum(map(count, groups()))))

        gauge("group-count", _is_classic, protocol="classic")
        gauge("group-count", lambda group: group.modern is not None, protocol="consumer")
        gauge("group-count", lambda group: group.share is not None, protocol="share")
        for share_state in (ShareGroupState.EMPTY, ShareGroupState.STABLE, ShareGroupState.DEAD):
            gauge("share-group-count", lambda group, s=share_state: _is_share_in(group, s), state=share_state.value)  # type: ignore[misc]
        for state in ConsumerGroupState:
            gauge("consumer-group-count", lambda group, s=state: _is_in(group, s), state=state.value)  # type: ignore[misc]

    def _meter(self, what: str, description: str) -> Sensor:
        sensor = self._metrics.sensor(f"group-coordinator-{what}")
        for name, stat in ((f"{what}-rate", Rate()), (f"{what}-count", CumulativeSum())):
            sensor.add(self._metrics.metric_name(name, SENSOR_GROUP, description), stat)
        return sensor

    def collect(self) -> None:
        """Record what was counted since the last call."""
        counts, load_times_ms = self._counted.take()
        for what, number in counts.items():
            self._meters[what].record(number)
        for time_ms in load_times_ms:
            self._loads.record(time_ms)


def _is_in(group: GroupMetadata, state: ConsumerGroupState) -> bool:
    return group.modern is not None and group.modern.is_in(state)


def _is_share_in(group: GroupMetadata, state: ShareGroupState) -> bool:
    return group.share is not None and group.share.is_in(state)


def _is_classic(group: GroupMetadata) -> bool:
    return group.modern is None and group.share is None
