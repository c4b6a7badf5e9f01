"""What the sender notes becomes Kafka's statistics, whenever they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from kafka_lite.clients.cluster import Cluster
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.node_metrics import NodeMetrics
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.metrics.connection_counters import ConnectionCounters
from kafka_lite.network.receive import NetworkReceive
from kafka_lite.network.send import NetworkSend
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.sender_metrics import COLLECT_AT, SenderMetrics
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import MAGIC_V2


class Bed:
    def __init__(self, *reporters: MetricsReporter) -> None:
        self.time = MockTime()
        config = MetricConfig(tags=(("client-id", "me"),))
        self.metrics = Metrics(config, reporters, self.time)
        self.counters = ConnectionCounters()
        self.nodes = NodeMetrics(self.metrics, "producer", self.counters, self.time)
        self.metrics.add_collector(self.nodes.collect)
        self.sender = SenderMetrics(self.metrics, self.nodes, self.time)

    def batch(self, topic: str, *values: bytes, compression: CompressionType = CompressionType.NONE) -> ProducerBatch:
        buffer = bytearray(16384)
        batch = ProducerBatch(TopicPartition(topic, 0), buffer, MAGIC_V2, compression, self.time.hi_res_ms())
        for value in values:
            assert batch.try_append(0, None, value, (), None)
        batch.close()
        return batch

    def sent(self, *batches: ProducerBatch) -> None:
        self.sender.request_sent(batches, self.time.hi_res_ms())

    def __call__(self, name: str, group: str = "producer-metrics", **tags: str) -> float:
        found = {
            metric_name.name: metric
            for metric_name, metric in self.metrics.metrics.items()
            if metric_name.group == group and dict(metric_name.tags) == {"client-id": "me", **tags}
        }
        return found[name].value


def test_batches_and_records() -> None:
    bed = Bed()
    small, large = bed.batch("t", b"x" * 10), bed.batch("u", *[b"y" * 100] * 3)
    bed.time.sleep(7)
    bed.sent(small, large)
    assert bed("batch-size-avg") == (small.size_in_bytes + large.size_in_bytes) / 2
    assert bed("batch-size-max") == large.size_in_bytes
    assert bed("record-queue-time-avg") == bed("record-queue-time-max") == 7
    assert bed("records-per-request-avg") == 4
    assert bed("record-send-total") == 4
    assert bed("record-size-max") > 100
    assert bed("compression-rate-avg") == 1
    topic = {"group": "producer-topic-metrics", "topic": "u"}
    assert bed("record-send-total", **topic) == 3
    assert bed("byte-total", **topic) == large.size_in_bytes


def test_the_compression_rate_is_the_size_after_divided_by_the_size_before() -> None:
    bed = Bed()
    batch = bed.batch("t", *[b"z" * 1000] * 10, compression=CompressionType.GZIP)
    bed.sent(batch)
    ratio = batch.size_in_bytes / batch.plain_size_in_bytes
    assert 0 < ratio < 0.1
    assert bed("compression-rate-avg") == bed("compression-rate", "producer-topic-metrics", topic="t") == ratio


def test_rates_use_the_time_of_the_event() -> None:
    bed = Bed()
    bed.sent(bed.batch("t", b"1", b"2"))
    bed.time.sleep(120_000)
    assert bed("record-send-total") == 2
    assert bed("record-send-rate") == 0, (
        "an event of two minutes ago is outside the window, even if nothing was collected since"
    )


def test_many_requests_are_collected_without_a_reader() -> None:
    bed = Bed()
    for _ in range(COLLECT_AT):
        bed.sent(bed.batch("t", b"v"))
    assert not bed.sender._sent


def test_events_after_a_long_pause_are_recent() -> None:
    bed = Bed()
    bed("record-send-rate")
    bed.time.sleep(600_000)
    bed.counters.sent(NetworkSend("1", [bytes(100)]))
    node = {"group": "producer-node-metrics", "node-id": "node-1"}
    assert bed("outgoing-byte-rate", **node) > 0
    assert bed("request-size-avg", **node) == 104


def test_slow_requests_are_collected_once_a_second() -> None:
    bed = Bed()
    for _ in range(5):
        bed.time.sleep(400)
        bed.sent(bed.batch("t", b"v"))
    assert len(bed.sender._sent) == 2


def test_responses_update_latency_and_throttling() -> None:
    bed = Bed()
    for node, latency_ms in (("0", 10), ("0", 20), ("1", 60)):
        bed.sender.response_received(node, latency_ms, 3, bed.time.hi_res_ms())
    assert (bed("request-latency-avg"), bed("request-latency-max")) == (30, 60)
    assert (bed("produce-throttle-time-avg"), bed("produce-throttle-time-max")) == (3, 3)
    node = {"group": "producer-node-metrics", "node-id": "node-0"}
    assert (bed("request-latency-avg", **node), bed("request-latency-max", **node)) == (15, 20)


def test_errors_and_retries_are_counted() -> None:
    bed = Bed()
    bed.sent(bed.batch("t", b"v"))
    assert bed("record-retry-total") == 0
    bed.sender.retried("t", 5)
    bed.sender.failed("t", 3)
    bed.sender.failed("never-sent", 1)
    bed.sender.split()
    assert (bed("record-retry-total"), bed("record-error-total"), bed("batch-split-total")) == (5, 4, 1)
    topic = {"group": "producer-topic-metrics", "topic": "t"}
    assert (bed("record-retry-total", **topic), bed("record-error-total", **topic)) == (5, 3)


def test_metrics_before_the_first_request() -> None:
    bed = Bed()
    assert math.isnan(bed("batch-size-avg"))
    assert bed("record-send-rate") == 0


def test_requests_in_flight_and_metadata_age() -> None:
    bed = Bed()
    metadata = Metadata(time=bed.time)
    metadata.update(Cluster(), bed.time.hi_res_ms())
    bed.sender.measure(lambda: 3, metadata)
    bed.time.sleep(1500)
    assert bed("requests-in-flight") == 3
    assert bed("metadata-age") == 1.5


def test_latencies_are_recorded_per_broker() -> None:
    bed = Bed()
    for size in (100, 300):
        bed.counters.sent(NetworkSend("1", [bytes(size)]))
    receive = NetworkReceive("1")
    receive.size = 60
    bed.counters.received(receive)
    node = {"group": "producer-node-metrics", "node-id": "node-1"}
    assert bed("request-total", **node) == 2
    assert bed("request-size-avg", **node) == (bed("outgoing-byte-total", **node)) / 2
    assert bed("request-size-max", **node) == 4 + 300, "with the size before each frame"
    assert (bed("response-total", **node), bed("incoming-byte-total", **node)) == (1, 60)
    assert bed.counters.sends == 2, "and all together"


class Curious(MetricsReporter):
    """Reads every metric as soon as it is registered, while it is being created."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def configure(self, configs: Mapping[str, object]) -> None: ...

    def init(self, metrics: Sequence[KafkaMetric]) -> None: ...

    def metric_change(self, metric: KafkaMetric) -> None:
        self.values.append(metric.value)

    def metric_removal(self, metric: KafkaMetric) -> None: ...

    def close(self) -> None: ...


@pytest.mark.timeout(30)
def test_a_reporter_may_read_metrics_as_they_are_registered() -> None:
    reporter = Curious()
    bed = Bed(reporter)
    before = len(reporter.values)
    bed.sent(bed.batch("new-topic", b"v"))
    bed.counters.sent(NetworkSend("5", [b"frame"]))
    assert bed("record-send-total", "producer-topic-metrics", topic="new-topic") == 1
    assert len(reporter.values) > before
