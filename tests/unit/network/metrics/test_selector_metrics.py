"""The bean of a selector, made of its counters."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.network.metrics.selector_counters import SelectorCounters
from kafka_lite.network.metrics.selector_metrics import SOCKET_SERVER, TOTALS, SelectorMetrics

ATTRIBUTES_OF_0_10_2 = {
    "connection-creation-rate", "response-rate", "select-rate", "connection-count", "network-io-rate", "io-ratio",
    "io-wait-time-ns-avg", "io-wait-ratio", "outgoing-byte-rate", "request-size-max", "io-time-ns-avg", "request-rate",
    "incoming-byte-rate", "connection-close-rate",
}  # fmt: skip


class Bed:
    def __init__(self) -> None:
        self.time = MockTime()
        self.reporter = JmxReporter("kafka.server")
        self.metrics = Metrics(reporters=[self.reporter], time=self.time)
        self.counters = SelectorCounters()
        self.selector = SelectorMetrics(
            self.metrics, SOCKET_SERVER, {"networkProcessor": "1"}, self.counters, lambda: 5, self.time
        )

    def attributes(self) -> dict[str, float]:
        self.selector.collect()
        beans = {str(name): attributes for name, attributes in self.reporter.beans().items()}
        shown = beans["kafka.server:type=socket-server-metrics,networkProcessor=1"]
        return {name: float(value) for name, value in shown.items() if isinstance(value, int | float)}

    def second(self, waited_ms: float) -> None:
        """A second in which one frame came, one was sent, and the thread waited for this long."""
        self.counters.polled(0, waited_ms, 1000)
        self.counters.bytes_received += 300
        self.counters.receives += 1
        self.counters.bytes_sent += 60
        self.counters.sends += 1
        self.counters.largest_send_bytes = 60
        self.time.sleep(1000)


def test_it_has_the_attributes_of_kafka() -> None:
    assert set(Bed().attributes()) == ATTRIBUTES_OF_0_10_2 | {"request-size-avg"} | set(TOTALS)


def test_totals_are_the_counters() -> None:
    bed = Bed()
    bed.second(waited_ms=800)
    bed.second(waited_ms=400)
    shown = bed.attributes()
    assert shown["request-total"] == shown["response-total"] == shown["select-total"] == 2
    assert (shown["network-io-total"], shown["incoming-byte-total"], shown["outgoing-byte-total"]) == (4, 600, 120)
    assert (shown["io-wait-time-ns-total"], shown["io-time-ns-total"]) == (1_200_000_000, 800_000_000)


@pytest.mark.parametrize("tick_s", [1, 3, 5])
def test_rates_are_the_same_however_often_they_are_collected(tick_s: int) -> None:
    bed = Bed()
    bed.counters.connections_created = 6
    bed.counters.connections_closed = 3
    for second in range(60):
        bed.second(waited_ms=800)
        if second % tick_s == 0:
            bed.selector.collect()
    shown = bed.attributes()
    assert shown["connection-count"] == 5
    assert shown["io-wait-ratio"] == pytest.approx(0.8, rel=0.05)
    assert shown["io-ratio"] == pytest.approx(0.2, rel=0.05)
    assert shown["io-wait-time-ns-avg"] == pytest.approx(800e6)
    assert shown["incoming-byte-rate"] == pytest.approx(300, rel=0.05)
    assert shown["outgoing-byte-rate"] == pytest.approx(60, rel=0.05)
    assert shown["request-rate"] == shown["response-rate"] == pytest.approx(1, rel=0.05)
    assert shown["network-io-rate"] == pytest.approx(2, rel=0.05)
    assert shown["request-size-avg"] == shown["request-size-max"] == 60


def test_the_largest_send_is_forgotten_with_its_window() -> None:
    bed = Bed()
    bed.second(waited_ms=0)
    assert bed.attributes()["request-size-max"] == 60
    bed.time.sleep(61_000)
    assert bed.attributes()["request-size-max"] == float("-inf")


def test_close_removes_the_bean() -> None:
    bed = Bed()
    bed.selector.close()
    assert [str(name) for name in bed.reporter.beans()] == ["kafka.server:type=kafka-metrics-count"]
