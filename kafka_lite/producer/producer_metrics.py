"""The producer's metrics.

Kafka 0.10.2: clients/.../producer/KafkaProducer.java, clients/.../producer/internals/BufferPool.java,
RecordAccumulator.java; since 3.0 KafkaProducerMetrics.java · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.clients.client_metrics import ClientMetrics
from kafka_lite.common.time import Time
from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import Rate, counted_since
from kafka_lite.network.metrics.selector_metrics import NANOS_PER_MS
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.producer_config import ProducerConfig
from kafka_lite.producer.sender_metrics import GROUP, SenderMetrics


class ProducerMetrics(ClientMetrics):
    """The metrics of one producer: its own, and those of the sender, the buffer pool and the connections."""

    def __init__(self, config: ProducerConfig, time: Time) -> None:
        """Raises ConfigError for a reporter that cannot be created."""
        super().__init__("producer", config, time)
        self.sender = SenderMetrics(self.metrics, self.nodes, time)
        self._flush_time = self._total_time("flush", "time that threads have spent in flush, ns")
        self._metadata_wait = self._total_time("metadata-wait", "time that threads have waited for metadata, ns")

    def measure_pool(self, pool: BufferPool) -> None:
        """Add the metrics of the buffer pool: memory in use, and waiting threads."""
        self._gauge("waiting-threads", "threads waiting for memory", lambda: pool.queued)
        self._gauge("buffer-total-bytes", "total memory for records, bytes", lambda: pool.total_memory)
        self._gauge("buffer-available-bytes", "free memory for records, bytes", lambda: pool.available_memory)
        waited = "time that threads have waited for memory, ns"
        self._gauge("bufferpool-wait-time-ns-total", waited, lambda: pool.waited_ms * NANOS_PER_MS)
        self._gauge("buffer-exhausted-total", "records dropped because memory was exhausted", lambda: pool.exhausted)
        self.metrics.add_collector(_PoolRates(self.metrics, pool, self._time).collect)

    def _gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        self.metrics.add_metric(self.metrics.metric_name(name, GROUP, description), lambda _c, _n: float(read()))

    def flushed(self, begin_ms: float) -> None:
        """A flush that began at this time has ended."""
        self._record_since(begin_ms, self._flush_time)

    def waited_for_metadata(self, begin_ms: float) -> None:
        """A wait for metadata that began at this time has ended."""
        self._record_since(begin_ms, self._metadata_wait)


class _PoolRates:
    """The increments of the pool's counters, as rates."""

    def __init__(self, metrics: Metrics, pool: BufferPool, time: Time) -> None:
        self._pool = pool
        self._time = time
        self._collected_ms = time.hi_res_ms()
        self._waited_ms, self._exhausted = 0.0, 0
        self._wait_time = metrics.sensor("bufferpool-wait-time")
        ratio = metrics.metric_name("bufferpool-wait-ratio", GROUP, "share of time that a thread waits for memory")
        self._wait_time.add(ratio, Rate(RateUnit.NANOSECONDS))
        self._exhaustion = metrics.sensor("buffer-exhausted-records")
        rate = metrics.metric_name(
            "buffer-exhausted-rate", GROUP, "records dropped per second because memory was exhausted"
        )
        self._exhaustion.add(rate, Rate())

    def collect(self) -> None:
        """Record the increments since the last call, as of that time."""
        now_ms = self._time.hi_res_ms()
        since_ms, self._collected_ms = counted_since(self._collected_ms, now_ms), now_ms
        waited_ms, exhausted = self._pool.waited_ms, self._pool.exhausted
        if waited_ms != self._waited_ms:
            self._wait_time.record((waited_ms - self._waited_ms) * NANOS_PER_MS, since_ms)
        if exhausted != self._exhausted:
            self._exhaustion.record(exhausted - self._exhausted, since_ms)
        self._waited_ms, self._exhausted = waited_ms, exhausted
