"""All that a consumer measures, and who is told of it.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java; since 2.4 internals/KafkaConsumerMetrics.java · book 4.1.3
"""

from __future__ import annotations

from kafka_lite.clients.node_metrics import NodeMetrics
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import Time
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.metrics.stats import Avg, CumulativeSum, Max, MetricConfig
from kafka_lite.network.connection_counters import ConnectionCounters
from kafka_lite.network.selector import Selector
from kafka_lite.network.selector_metrics import NANOS_PER_MS, SelectorMetrics

JMX_PREFIX = "kafka.consumer"
GROUP = "consumer-metrics"


class ConsumerMetrics:
    """The metrics of one consumer: how it is polled, and its selector's; fetcher and coordinator add theirs.

    ::

        Metrics ─▶ JmxReporter        beans: kafka.consumer:type=consumer-metrics,client-id=…
           └────▶ metric.reporters    the user's own
    """

    def __init__(self, config: ConsumerConfig, time: Time) -> None:
        """Raises ConfigError for a reporter that cannot be made."""
        self._time = time
        self.jmx_reporter = JmxReporter(JMX_PREFIX)
        kept = MetricConfig(
            config["metrics.num.samples"],
            config["metrics.sample.window.ms"],
            RecordingLevel.for_name(config["metrics.recording.level"]),
            (("client-id", config["client.id"]),),
        )
        reporters = [_reporter(config, name) for name in config["metric.reporters"]]
        self.metrics = Metrics(kept, [self.jmx_reporter, *reporters], time)
        self.counters = ConnectionCounters()
        """For the selector."""
        self.metrics.add_collector(NodeMetrics(self.metrics, "consumer", self.counters, time).collect)
        self._poll_started_ms: float | None = None
        self._poll_ended_ms: float | None = None
        self._add_poll_sensors()
        self._commit_sync = self._total("commit-sync", "time that the user has waited in commit_sync, ns")
        self._committed = self._total("committed", "time that the user has waited in committed, ns")

    def _add_poll_sensors(self) -> None:
        metrics = self.metrics
        self._between_polls = metrics.sensor("time-between-poll")
        described = "The {} delay between invocations of poll() in milliseconds."
        for name, stat in (("avg", Avg()), ("max", Max())):
            metric = metrics.metric_name(f"time-between-poll-{name}", GROUP, described.format(name))
            self._between_polls.add(metric, stat)
        self._idle_ratio = metrics.sensor("poll-idle-ratio-avg")
        idle = "The average fraction of time the consumer's poll() is idle as opposed to waiting for the user code"
        self._idle_ratio.add(metrics.metric_name("poll-idle-ratio-avg", GROUP, idle), Avg())
        ago = metrics.metric_name(
            "last-poll-seconds-ago", GROUP, "The seconds since the last poll(); -1 before the first"
        )
        metrics.add_metric(ago, lambda _config, now_ms: self._last_poll_seconds_ago(now_ms))

    def _last_poll_seconds_ago(self, now_ms: float) -> float:
        return -1.0 if self._poll_started_ms is None else (now_ms - self._poll_started_ms) // 1000

    def _total(self, name: str, description: str) -> Sensor:
        sensor = self.metrics.sensor(f"{name}-time-ns-total")
        sensor.add(self.metrics.metric_name(f"{name}-time-ns-total", GROUP, description), CumulativeSum())
        return sensor

    def measure_selector(self, selector: Selector) -> None:
        """Show what goes over the connections."""
        measured = SelectorMetrics(
            self.metrics, "consumer", {}, self.counters, lambda: len(selector.channels()), self._time
        )
        self.metrics.add_collector(measured.collect)

    def poll_started(self, now_ms: float) -> None:
        """The user has called poll."""
        if self._poll_started_ms is not None:
            self._between_polls.record(now_ms - self._poll_started_ms, now_ms)
        self._poll_started_ms = now_ms

    def poll_ended(self, now_ms: float) -> None:
        """Poll returns: from its last end to its begin the user was at work."""
        began_ms = self._poll_started_ms
        if began_ms is not None and self._poll_ended_ms is not None and now_ms > self._poll_ended_ms:
            self._idle_ratio.record((now_ms - began_ms) / (now_ms - self._poll_ended_ms), now_ms)
        self._poll_ended_ms = now_ms

    def waited_for_commit(self, begin_ms: float) -> None:
        """A commit_sync, which began then, is over."""
        self._commit_sync.record((self._time.hi_res_ms() - begin_ms) * NANOS_PER_MS)

    def waited_for_committed(self, begin_ms: float) -> None:
        """A call of committed, which began then, is over."""
        self._committed.record((self._time.hi_res_ms() - begin_ms) * NANOS_PER_MS)

    def close(self) -> None:
        """Tell the reporters."""
        self.metrics.close()


def _reporter(config: ConsumerConfig, name: str) -> MetricsReporter:
    reporter: MetricsReporter = new_instance("metric.reporters", MetricsReporter, name)
    reporter.configure(config.originals)
    return reporter
