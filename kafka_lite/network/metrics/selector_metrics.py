"""The metrics of a selector: how much goes over its connections, and how it spends its time.

Kafka 0.10.2: clients/.../common/network/Selector.java (SelectorMetrics) · book 2.1.4
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial

from kafka_lite.common.time import Time
from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import KafkaMetricName, MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, Max, Rate, counted_since
from kafka_lite.network.metrics.selector_counters import SelectorCounters

NANOS_PER_MS = 1_000_000

SOCKET_SERVER = "socket-server"
"""The prefix for the selectors of processors."""


class SelectorMetrics:
    """The bean ``<prefix>-metrics`` of one selector.

    Kafka records every send, receive and select into a sensor. Here the selector only counts, and ``collect`` records
    what was added since the last call: on every tick, and before metrics are read. Windows last 30 seconds, so they
    show the same. Only ``request-size-max`` needs help: the selector keeps the largest send itself.
    """

    def __init__(
        self,
        metrics: Metrics,
        prefix: str,
        tags: Mapping[str, str],
        counters: SelectorCounters,
        connection_count: Callable[[], int],
        time: Time,
    ) -> None:
        self._metrics = metrics
        self._group = f"{prefix}-metrics"
        self._tags = dict(tags)
        self._counters = counters
        self._lock = threading.Lock()
        self._time = time
        self._collected_ms = time.hi_res_ms()
        self._seen = SelectorCounters()
        self._sensors: list[Sensor] = []
        self._add_sensors()
        self.io_wait_ratio = self._name("io-wait-ratio", "")
        self._gauges: list[KafkaMetricName] = []
        self._add_gauge("connection-count", "open connections", connection_count)
        for attribute, total in TOTALS.items():
            self._add_gauge(attribute, DESCRIPTIONS[attribute], partial(total, counters))

    def _add_gauge(self, attribute: str, description: str, read: Callable[[], float]) -> None:
        name = self._name(attribute, description)
        self._metrics.add_metric(name, lambda _config, _now: float(read()))
        self._gauges.append(name)

    def _add_sensors(self) -> None:
        per_ns = RateUnit.NANOSECONDS
        self._closed = self._sensor("connections-closed", {"connection-close-rate": Rate()})
        self._created = self._sensor("connections-created", {"connection-creation-rate": Rate()})
        self._transferred = self._sensor("bytes-sent-received", {"network-io-rate": Rate(stat=Count())})
        self._sent = self._sensor(
            "bytes-sent",
            {"outgoing-byte-rate": Rate(), "request-rate": Rate(stat=Count()), "request-size-avg": Avg()},
            self._transferred,
        )
        self._largest_sent = self._sensor("largest-sent", {"request-size-max": Max()})
        self._received = self._sensor(
            "bytes-received", {"incoming-byte-rate": Rate(), "response-rate": Rate(stat=Count())}, self._transferred
        )
        self._select_time = self._sensor(
            "select-time",
            {"select-rate": Rate(stat=Count()), "io-wait-time-ns-avg": Avg(), "io-wait-ratio": Rate(per_ns)},
        )
        self._io_time = self._sensor("io-time", {"io-time-ns-avg": Avg(), "io-ratio": Rate(per_ns)})

    def _sensor(self, name: str, stats: Mapping[str, MeasurableStat], *parents: Sensor) -> Sensor:
        suffix = "".join(f"{key}-{value}" for key, value in self._tags.items())
        sensor = self._metrics.sensor(f"{name}:{suffix}", *parents)
        for attribute, stat in stats.items():
            sensor.add(self._name(attribute, DESCRIPTIONS[attribute]), stat)
        self._sensors.append(sensor)
        return sensor

    def _name(self, name: str, description: str) -> KafkaMetricName:
        return self._metrics.metric_name(name, self._group, description, self._tags)

    def collect(self) -> None:
        """Record what the selector has counted since the last call, as of that call: a window begins there."""
        with self._lock:
            now_ms = self._time.hi_res_ms()
            since_ms, self._collected_ms = counted_since(self._collected_ms, now_ms), now_ms

            def record(sensor: Sensor, total: float, events: float) -> None:
                if events:
                    sensor.record(total, since_ms, events)

            selects = self._added("selects")
            record(self._select_time, self._added("io_wait_ms") * NANOS_PER_MS, selects)
            record(self._io_time, self._added("io_ms") * NANOS_PER_MS, selects)
            record(self._sent, self._added("bytes_sent"), self._added("sends"))
            record(self._received, self._added("bytes_received"), self._added("receives"))
            created, closed = self._added("connections_created"), self._added("connections_closed")
            record(self._created, created, created)
            record(self._closed, closed, closed)
            largest, self._counters.largest_send_bytes = self._counters.largest_send_bytes, 0
            record(self._largest_sent, largest, 1 if largest else 0)

    def _added(self, counter: str) -> float:
        now, before = getattr(self._counters, counter), getattr(self._seen, counter)
        setattr(self._seen, counter, now)
        return float(now - before)

    def close(self) -> None:
        """Remove the bean."""
        for name in self._gauges:
            self._metrics.remove_metric(name)
        for sensor in self._sensors:
            self._metrics.remove_sensor(sensor.name)


DESCRIPTIONS: dict[str, str] = {
    "connection-close-rate": "connections closed per second",
    "connection-creation-rate": "connections opened per second",
    "network-io-rate": "frames read and written per second",
    "outgoing-byte-rate": "bytes written per second",
    "request-rate": "frames written per second",
    "request-size-avg": "mean size of the frames written, bytes",
    "request-size-max": "largest write, bytes",
    "incoming-byte-rate": "bytes read per second",
    "response-rate": "frames read per second",
    "select-rate": "selects per second",
    "io-wait-time-ns-avg": "mean time that a select waits, ns",
    "io-wait-ratio": "share of time that the thread waits for the network",
    "io-time-ns-avg": "mean time of reading and writing per select, ns",
    "io-ratio": "share of time that the thread reads and writes",
    "connection-close-total": "connections closed",
    "connection-creation-total": "connections opened",
    "network-io-total": "frames read and written",
    "outgoing-byte-total": "bytes written",
    "request-total": "frames written",
    "incoming-byte-total": "bytes read",
    "response-total": "frames read",
    "select-total": "selects",
    "io-wait-time-ns-total": "time that selects have waited, ns",
    "io-time-ns-total": "time of reading and writing, ns",
}
"""The meaning of each attribute. The names are those of a client, which sends requests; a broker sends responses."""

TOTALS: dict[str, Callable[[SelectorCounters], float]] = {
    "connection-close-total": lambda counters: counters.connections_closed,
    "connection-creation-total": lambda counters: counters.connections_created,
    "network-io-total": lambda counters: counters.sends + counters.receives,
    "outgoing-byte-total": lambda counters: counters.bytes_sent,
    "request-total": lambda counters: counters.sends,
    "incoming-byte-total": lambda counters: counters.bytes_received,
    "response-total": lambda counters: counters.receives,
    "select-total": lambda counters: counters.selects,
    "io-wait-time-ns-total": lambda counters: counters.io_wait_ms * NANOS_PER_MS,
    "io-time-ns-total": lambda counters: counters.io_ms * NANOS_PER_MS,
}
"""The counters themselves, which Kafka shows beside the rates since 1.1."""
