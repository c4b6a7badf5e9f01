"""The sender's metrics, in total and per topic.

Kafka 0.10.2: clients/.../producer/internals/Sender.java (SenderMetrics; SenderMetricsRegistry since 1.0) · book 2.1.2
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.node_metrics import NodeMetrics
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, CumulativeSum, Max, MetricConfig, Rate
from kafka_lite.producer.producer_batch import ProducerBatch

GROUP = "producer-metrics"
TOPIC_GROUP = "producer-topic-metrics"

COLLECT_AT = 64
"""How many requests are noted before they are added to the statistics, unless a reader comes first."""
COLLECT_EVERY_MS = 1000
"""The longest time before that, so that the selector's counts are not attributed to a later time."""


class SentBatch(NamedTuple):
    """The figures of a batch in a request."""

    topic: str
    records: int
    size_bytes: int
    plain_bytes: int
    """Before compression."""
    queue_time_ms: float
    max_record_bytes: int


class ReceivedResponse(NamedTuple):
    """The figures of a response."""

    node: str
    latency_ms: float
    throttle_time_ms: int
    now_ms: float


class Trouble(NamedTuple):
    """The figures of records whose attempt failed."""

    topic: str
    records: int
    now_ms: float
    is_final: bool
    """Whether they were given up; otherwise they are retried."""


class SenderMetrics:
    """``producer-metrics`` of the client, and ``producer-topic-metrics`` of each topic.

    Kafka records every batch with eight sensors. Here the sender's thread only notes requests and responses, and adds
    them to the statistics 64 requests at a time, which costs about 2 µs per batch.
    """

    def __init__(self, metrics: Metrics, nodes: NodeMetrics | None = None, time: Time = SYSTEM_TIME) -> None:
        self._metrics = metrics
        self._nodes = nodes
        self._time = time
        self._sent: deque[tuple[float, list[SentBatch]]] = deque()
        self._responses: deque[ReceivedResponse] = deque()
        self._troubles: deque[Trouble] = deque()
        self._collected_ms = time.hi_res_ms()
        self._topics: dict[str, _TopicSensors] = {}
        self._batch_size = self._sensor("batch-size", _avg("batch-size", "bytes of a batch in a request"))
        self._batch_size_max = self._sensor("batch-size-max", _max("batch-size", "bytes of a batch in a request"))
        ratio = "size after compression by size before"
        self._compression_rate = self._sensor("compression-rate", _avg("compression-rate", ratio))
        waited = "ms that a batch has waited to be sent"
        self._queue_time = self._sensor("queue-time", _avg("record-queue-time", waited))
        self._queue_time_max = self._sensor("queue-time-max", _max("record-queue-time", waited))
        latency = "ms from a request to its response"
        self._latency = self._sensor("request-time", _avg("request-latency", latency))
        self._latency_max = self._sensor("request-time-max", _max("request-latency", latency))
        throttled = "ms that a broker throttled a request because of a quota"
        self._throttle_time = self._sensor("produce-throttle-time", _avg("produce-throttle-time", throttled))
        self._throttle_time_max = self._sensor("produce-throttle-time-max", _max("produce-throttle-time", throttled))
        self._records = self._sensor(
            "records-per-request",
            *_meter("record-send", "records sent"),
            ("records-per-request-avg", "mean number of records in a request", Avg()),
        )
        self._retries = self._sensor("record-retries", *_meter("record-retry", "records retried"))
        self._errors = self._sensor("errors", *_meter("record-error", "records that failed"))
        self._splits = self._sensor("batch-splits", *_meter("batch-split", "batches split for being too large"))
        largest = "bytes of the largest record of a batch, before compression"
        self._record_size = self._sensor("record-size", _avg("record-size", largest))
        self._record_size_max = self._sensor("record-size-max", _max("record-size", largest))
        metrics.add_collector(self.collect)

    def _sensor(self, name: str, *stats: tuple[str, str, MeasurableStat]) -> Sensor:
        return _new_sensor(self._metrics, name, GROUP, None, stats)

    def measure(self, in_flight: Callable[[], int], metadata: Metadata) -> None:
        """Add metrics of other parts: requests in flight, and the age of the metadata."""

        def age_s(_config: MetricConfig, now_ms: float) -> float:
            return (now_ms - metadata.last_successful_update_ms) / 1000

        name = self._metrics.metric_name
        self._metrics.add_metric(
            name("requests-in-flight", GROUP, "requests without a response"), lambda _c, _n: float(in_flight())
        )
        self._metrics.add_metric(name("metadata-age", GROUP, "seconds since metadata was fetched"), age_s)

    # ── noting ────────────────────────────────────────────────────────────────────────────────────────────────────

    def request_sent(self, batches: Iterable[ProducerBatch], now_ms: float) -> None:
        """A request was sent."""
        noted = [
            SentBatch(
                batch.topic_partition.topic, batch.record_count, batch.size_in_bytes, batch.plain_size_in_bytes,
                now_ms - batch.created_ms, batch.max_record_size,
            )
            for batch in batches
        ]  # fmt: skip
        self._sent.append((now_ms, noted))
        if len(self._sent) >= COLLECT_AT or now_ms - self._collected_ms >= COLLECT_EVERY_MS:
            self._collected_ms = now_ms
            self._metrics.collect()

    def response_received(self, node: str, latency_ms: float, throttle_time_ms: int, now_ms: float) -> None:
        """A response has arrived."""
        self._responses.append(ReceivedResponse(node, latency_ms, throttle_time_ms, now_ms))

    def retried(self, topic: str, records: int) -> None:
        """The records of a batch will be retried."""
        self._note(Trouble(topic, records, self._time.hi_res_ms(), is_final=False))

    def failed(self, topic: str, records: int) -> None:
        """Records were given up."""
        self._note(Trouble(topic, records, self._time.hi_res_ms(), is_final=True))

    def _note(self, trouble: Trouble) -> None:
        self._troubles.append(trouble)
        if len(self._troubles) >= COLLECT_AT:
            self._metrics.collect()

    def split(self) -> None:
        """A batch was split."""
        self._splits.record()

    # ── adding to the statistics ──────────────────────────────────────────────────────────────────────────────────

    def collect(self) -> None:
        """Add what was noted to the statistics. A collector of ``Metrics``."""
        if self._sent:
            sent = [self._sent.popleft() for _ in range(len(self._sent))]
            self._collect_sent(sent[-1][0], [noted for _, noted in sent])
        if self._responses:
            self._collect_responses([self._responses.popleft() for _ in range(len(self._responses))])
        for _ in range(len(self._troubles)):
            self._collect_trouble(self._troubles.popleft())

    def _collect_sent(self, now_ms: float, requests: list[list[SentBatch]]) -> None:
        batches = [batch for request in requests for batch in request]
        count = len(batches)
        self._batch_size.record(sum(batch.size_bytes for batch in batches), now_ms, count)
        self._batch_size_max.record(max(batch.size_bytes for batch in batches), now_ms)
        self._compression_rate.record(sum(map(ratio_of, batches)), now_ms, count)
        self._queue_time.record(sum(batch.queue_time_ms for batch in batches), now_ms, count)
        self._queue_time_max.record(max(batch.queue_time_ms for batch in batches), now_ms)
        self._record_size.record(sum(batch.max_record_bytes for batch in batches), now_ms, count)
        self._record_size_max.record(max(batch.max_record_bytes for batch in batches), now_ms)
        self._records.record(sum(batch.records for batch in batches), now_ms, len(requests))
        by_topic: dict[str, list[SentBatch]] = {}
        for batch in batches:
            by_topic.setdefault(batch.topic, []).append(batch)
        for topic, mine in by_topic.items():
            self._topic(topic).collect(mine, now_ms)

    def _collect_responses(self, responses: list[ReceivedResponse]) -> None:
        now_ms, count = responses[-1].now_ms, len(responses)
        self._latency.record(sum(each.latency_ms for each in responses), now_ms, count)
        self._latency_max.record(max(each.latency_ms for each in responses), now_ms)
        self._throttle_time.record(sum(each.throttle_time_ms for each in responses), now_ms, count)
        self._throttle_time_max.record(max(each.throttle_time_ms for each in responses), now_ms)
        if self._nodes is not None:
            for node in {each.node for each in responses}:
                latencies = [each.latency_ms for each in responses if each.node == node]
                self._nodes.latency(node, sum(latencies), max(latencies), len(latencies), now_ms)

    def _collect_trouble(self, trouble: Trouble) -> None:
        of_topic = self._topics.get(trouble.topic)  # None for a topic to which nothing was sent
        if trouble.is_final:
            self._errors.record(trouble.records, trouble.now_ms)
            if of_topic is not None:
                of_topic.errors.record(trouble.records, trouble.now_ms)
            return
        self._retries.record(trouble.records, trouble.now_ms)
        if of_topic is not None:
            of_topic.retries.record(trouble.records, trouble.now_ms)

    def _topic(self, topic: str) -> _TopicSensors:
        sensors = self._topics.get(topic)
        if sensors is None:
            sensors = self._topics[topic] = _TopicSensors(self._metrics, topic)
        return sensors


class _TopicSensors:
    """The sensors of one topic, created with its first batch."""

    def __init__(self, metrics: Metrics, topic: str) -> None:
        def sensor(name: str, *stats: tuple[str, str, MeasurableStat]) -> Sensor:
            return _new_sensor(metrics, f"topic.{topic}.{name}", TOPIC_GROUP, {"topic": topic}, stats)

        self._records = sensor("records-per-batch", *_meter("record-send", "records sent"))
        self._bytes = sensor("bytes", *_meter("byte", "bytes of batches sent"))
        ratio = ("compression-rate", "mean size after compression by size before", Avg())
        self._compression_rate = sensor("compression-rate", ratio)
        self.retries = sensor("record-retries", *_meter("record-retry", "records retried"))
        self.errors = sensor("record-errors", *_meter("record-error", "records that failed"))

    def collect(self, batches: list[SentBatch], now_ms: float) -> None:
        """Batches of the topic were sent."""
        self._records.record(sum(batch.records for batch in batches), now_ms)
        self._bytes.record(sum(batch.size_bytes for batch in batches), now_ms)
        self._compression_rate.record(sum(map(ratio_of, batches)), now_ms, len(batches))


def ratio_of(batch: SentBatch) -> float:
    """The size after compression divided by the size before."""
    return batch.size_bytes / batch.plain_bytes


def _new_sensor(
    metrics: Metrics,
    name: str,
    group: str,
    tags: dict[str, str] | None,
    stats: Iterable[tuple[str, str, MeasurableStat]],
) -> Sensor:
    sensor = metrics.sensor(name)
    for attribute, description, stat in stats:
        sensor.add(metrics.metric_name(attribute, group, description, tags), stat)
    return sensor


def _avg(name: str, of: str) -> tuple[str, str, MeasurableStat]:
    return f"{name}-avg", f"mean {of}", Avg()


def _max(name: str, of: str) -> tuple[str, str, MeasurableStat]:
    return f"{name}-max", f"most {of}", Max()


def _meter(name: str, what: str) -> tuple[tuple[str, str, MeasurableStat], ...]:
    return (f"{name}-rate", f"{what} per second", Rate()), (f"{name}-total", what, CumulativeSum())
