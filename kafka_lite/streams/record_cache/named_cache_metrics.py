"""How often a record cache has what it is asked for: the group ``stream-record-cache-metrics``, at the level DEBUG.

Kafka 0.10.2: streams/.../state/internals/NamedCache.java (NamedCacheMetrics) · book 9.1.4
"""

from __future__ import annotations

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import Avg, Max, Min
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry, NamedCache

GROUP = "stream-record-cache-metrics"


class NamedCacheMetrics:
    """The sensor ``NAME-hitRatio`` with its ``-avg``, ``-min`` and ``-max``; the tag ``record-cache-id`` is the name.

    At each hit it records the part of all reads so far that were hits, from 0 to 1.
    """

    def __init__(self, metrics: StreamsMetricsImpl, name: str) -> None:
        self._metrics = metrics
        self.hit_ratio = metrics.add_sensor(f"{name}-hitRatio", RecordingLevel.DEBUG)
        for what, stat in (("avg", Avg()), ("min", Min()), ("max", Max())):
            description = f"The {what} of the part of all reads of {name} that were hits."
            metric = metrics.registry.metric_name(
                f"{name}-hitRatio-{what}", GROUP, description, {"record-cache-id": name}
            )
            if metrics.registry.metric(metric) is None:
                self.hit_ratio.add(metric, stat)

    def remove_all_sensors(self) -> None:
        """The store is closed: its metrics end with it."""
        self._metrics.remove_sensor(self.hit_ratio)


class MeasuredNamedCache(NamedCache):
    """Records its hits. Only with the level DEBUG: a cache is read for almost every record.

    (0.10.2 counts what a flush looks up as hits, too.)
    """

    def __init__(self, name: str, metrics: NamedCacheMetrics) -> None:
        super().__init__(name)
        self._hit_ratio = metrics.hit_ratio

    def get(self, key: bytes) -> LRUCacheEntry | None:
        """The entry of a key, now the most recently used one; None if there is none."""
        with self._lock:
            entry = super().get(key)
            if entry is not None:
                self._hit_ratio.record(self.hit_ratio)
            return entry

    def _used(self, keys: list[bytes]) -> list[tuple[bytes, LRUCacheEntry]]:
        before = self.hits
        found = super()._used(keys)
        for hits in range(before + 1, self.hits + 1):
            self._hit_ratio.record(hits / (hits + self.misses))
        return found
