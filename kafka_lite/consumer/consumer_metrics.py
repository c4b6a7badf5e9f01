"""The consumer's metrics, except those of the fetcher and the coordinator.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java; since 2.4
clients/.../consumer/internals/KafkaConsumerMetrics.java · book 4.1.3
"""

from __future__ import annotations

from kafka_lite.clients.client_metrics import ClientConfig, ClientMetrics
from kafka_lite.common.time import Time
from kafka_lite.metrics.stats import Avg, Max

GROUP = "consumer-metrics"


class ConsumerMetrics(ClientMetrics):
    """The metrics of one consumer: its polls and its connections. Fetcher and coordinator add theirs."""

    def __init__(self, config: ClientConfig, time: Time) -> None:
        """Raises ConfigError for a reporter that cannot be created."""
        super().__init__("consumer", config, time)
        self._poll_started_ms: float | None = None
        self._poll_ended_ms: float | None = None
        self._add_poll_sensors()
        self._commit_sync = self._total_time("commit-sync", "time that the user has waited in commit_sync, ns")
        self._committed = self._total_time("committed", "time that the user has waited in committed, ns")

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

    def poll_started(self, now_ms: float) -> None:
        """The user has called poll."""
        if self._poll_started_ms is not None:
            self._between_polls.record(now_ms - self._poll_started_ms, now_ms)
        self._poll_started_ms = now_ms

    def poll_ended(self, now_ms: float) -> None:
        """Poll returns. Of the time since it last returned, the part before this call was spent in the user's code."""
        began_ms = self._poll_started_ms
        if began_ms is not None and self._poll_ended_ms is not None and now_ms > self._poll_ended_ms:
            self._idle_ratio.record((now_ms - began_ms) / (now_ms - self._poll_ended_ms), now_ms)
        self._poll_ended_ms = now_ms

    def waited_for_commit(self, begin_ms: float) -> None:
        """A commit_sync that began at this time has ended."""
        self._record_since(begin_ms, self._commit_sync)

    def waited_for_committed(self, begin_ms: float) -> None:
        """A call of committed that began at this time has ended."""
        self._record_since(begin_ms, self._committed)
