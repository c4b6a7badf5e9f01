"""A client's metrics per broker.

Kafka 0.10.2: clients/.../common/network/Selector.java (maybeRegisterConnectionMetrics) · book 2.1.4
"""

from __future__ import annotations

from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, CumulativeSum, Max, Rate, counted_since
from kafka_lite.network.metrics.connection_counters import ConnectionCounters
from kafka_lite.network.metrics.selector_counters import SelectorCounters


class NodeMetrics:
    """The beans ``<prefix>-node-metrics`` with the tag ``node-id``: ``node-0``; ``node--1`` is a bootstrap address.

    Like ``SelectorMetrics``, it records what the selector has counted since the last call. Called by collectors.
    """

    def __init__(self, metrics: Metrics, prefix: str, counters: ConnectionCounters, time: Time) -> None:
        self._metrics = metrics
        self._group = f"{prefix}-node-metrics"
        self._counters = counters
        self._time = time
        self._nodes: dict[str, _Node] = {}
        self._collected_ms = time.hi_res_ms()

    def collect(self) -> None:
        """Record what was counted since the last call, as of that time, when the window begins."""
        now_ms = self._time.hi_res_ms()
        since_ms, self._collected_ms = counted_since(self._collected_ms, now_ms), now_ms
        for connection_id, counters in self._counters.by_connection.copy().items():
            self._node(connection_id).collect(counters, since_ms)

    def latency(self, connection_id: str, total_ms: float, largest_ms: float, requests: int, now_ms: float) -> None:
        """Requests to a broker got their responses, with this total and largest latency, ms."""
        node = self._node(connection_id)
        node.latency.record(total_ms, now_ms, requests)
        node.largest_latency.record(largest_ms, now_ms)

    def _node(self, connection_id: str) -> _Node:
        node = self._nodes.get(connection_id)
        if node is None:
            node = self._nodes[connection_id] = _Node(self._metrics, self._group, connection_id)
        return node


class _Node:
    """The sensors of one broker, and the counter values at the last call."""

    def __init__(self, metrics: Metrics, group: str, connection_id: str) -> None:
        self._metrics = metrics
        self._group = group
        self._id = connection_id
        self._sends = self._bytes_sent = self._receives = self._bytes_received = 0
        self._sent = self._sensor(
            "bytes-sent",
            ("outgoing-byte-rate", "bytes written per second", Rate()),
            ("outgoing-byte-total", "bytes written", CumulativeSum()),
            ("request-rate", "requests sent per second", Rate(stat=Count())),
            ("request-size-avg", "mean size of the requests sent, bytes", Avg()),
        )
        self._requests = self._sensor("requests", ("request-total", "requests sent", CumulativeSum()))
        self._largest = self._sensor("largest", ("request-size-max", "largest request, bytes", Max()))
        self._received = self._sensor(
            "bytes-received",
            ("incoming-byte-rate", "bytes read per second", Rate()),
            ("incoming-byte-total", "bytes read", CumulativeSum()),
            ("response-rate", "responses per second", Rate(stat=Count())),
        )
        self._responses = self._sensor("responses", ("response-total", "responses", CumulativeSum()))
        self.latency = self._sensor("latency", ("request-latency-avg", "mean time until the response, ms", Avg()))
        self.largest_latency = self._sensor(
            "largest-latency", ("request-latency-max", "longest time until a response, ms", Max())
        )

    def _sensor(self, name: str, *stats: tuple[str, str, MeasurableStat]) -> Sensor:
        sensor = self._metrics.sensor(f"node-{self._id}.{name}")
        tags = {"node-id": f"node-{self._id}"}
        for attribute, description, stat in stats:
            sensor.add(self._metrics.metric_name(attribute, self._group, description, tags), stat)
        return sensor

    def collect(self, counters: SelectorCounters, since_ms: float) -> None:
        sends, bytes_sent = counters.sends, counters.bytes_sent
        if sends != self._sends:
            self._sent.record(bytes_sent - self._bytes_sent, since_ms, sends - self._sends)
            self._requests.record(sends - self._sends, since_ms)
            self._largest.record(counters.largest_send_bytes, since_ms)
            counters.largest_send_bytes = 0
            self._sends, self._bytes_sent = sends, bytes_sent
        receives, bytes_received = counters.receives, counters.bytes_received
        if receives != self._receives:
            self._received.record(bytes_received - self._bytes_received, since_ms, receives - self._receives)
            self._responses.record(receives - self._receives, since_ms)
            self._receives, self._bytes_received = receives, bytes_received
