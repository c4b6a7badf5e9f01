"""Metrics of the logs: start and end offsets, sizes, flushes, cleaning.

Kafka 0.10.2: core/.../log/Log.scala, LogCleaner.scala, LogCleanerManager.scala, utils/Throttler.scala · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_lite.common.time import Time
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.log.log import Log
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_segment import log_flush_timer
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry

PACKAGE = "kafka.log"


def measure_logs(registry: MetricsRegistry, time: Time, log_manager: LogManager) -> None:
    """Register the metrics of all logs, including future ones."""

    def logs() -> Iterator[tuple[Mapping[str, str], Log]]:
        for log in log_manager.all_logs():
            yield {"topic": log.topic_partition.topic, "partition": str(log.topic_partition.partition)}, log

    KafkaMetricsGroup(registry, time, PACKAGE, "Log").new_gauges(
        {
            "NumLogSegments": lambda log: len(log.segments),
            "LogStartOffset": lambda log: log.log_start_offset,
            "LogEndOffset": lambda log: log.log_end_offset,
            "Size": lambda log: log.size,
        },
        logs,
    )
    flushes = KafkaMetricsGroup(registry, time, PACKAGE, "LogFlushStats")
    registry.add(flushes.metric_name("LogFlushRateAndTimeMs"), log_flush_timer)
    if log_manager.cleaner is not None:
        _measure_cleaner(registry, time, log_manager.cleaner)


def _measure_cleaner(registry: MetricsRegistry, time: Time, cleaner: LogCleaner) -> None:
    group = KafkaMetricsGroup(registry, time, PACKAGE, "LogCleaner")
    group.new_gauge("max-buffer-utilization-percent", lambda: cleaner.max_buffer_utilization_percent)
    group.new_gauge("cleaner-recopy-percent", lambda: cleaner.cleaner_recopy_percent)
    group.new_gauge("max-clean-time-secs", lambda: cleaner.max_clean_time_secs)
    manager = KafkaMetricsGroup(registry, time, PACKAGE, "LogCleanerManager")
    manager.new_gauge("max-dirty-percent", lambda: cleaner.cleaner_manager.max_dirty_percent)
    manager.new_gauge("time-since-last-run-ms", lambda: cleaner.cleaner_manager.time_since_last_run_ms)
    throttler = KafkaMetricsGroup(registry, time, "kafka.utils", "Throttler")
    throttler.new_derived_meter("cleaner-io", "bytes", lambda: cleaner.throttler.total_observed)
