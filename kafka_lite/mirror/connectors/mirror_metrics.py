"""The numbers of MirrorMaker 2's tasks, under Kafka's names: ``kafka.connect.mirror:type=MirrorSourceConnector,…``.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMetrics.java; MirrorConnectorConfig.java (metricsReporters) ·
book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.mbean_server import Beans
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.metrics.stats import Avg, CumulativeSum, Max, Min, Rate, Value
from kafka_lite.mirror.connectors.mirror_connector_config import METRIC_REPORTERS, MirrorConnectorConfig

DOMAIN = "kafka.connect.mirror"


class MirrorMetrics:
    """The sensors of one task, each with the tags of what it measures; ``group`` is the simple name of its connector.

    ::

        Metrics ─▶ JmxReporter        beans of the worker, until ``close``
           └────▶ metric.reporters    the user's own
    """

    def __init__(self, group: str, config: MirrorConnectorConfig, time: Time = SYSTEM_TIME) -> None:
        """Raises ConfigError for a reporter that cannot be created."""
        self._group = group
        self._time = time
        self._tags = {"source": config.source, "target": config.target}
        self._jmx_reporter = JmxReporter(DOMAIN)
        reporters = [_reporter(name, config.props) for name in config[METRIC_REPORTERS]]
        self._metrics = Metrics(reporters=[self._jmx_reporter, *reporters], time=time)

    def beans(self) -> Beans:
        """All numbers. Thread-safe."""
        return self._jmx_reporter.beans()

    def close(self) -> None:
        """Close the reporters; there are no beans any more."""
        self._metrics.close()

    def since_ms(self, timestamp_ms: float) -> float:
        """How long ago a time of the wall clock was, in ms; below 0 if the other machine's clock is ahead."""
        return self._time.milliseconds() - timestamp_ms

    def duration(self, name: str, description: str, tags: Mapping[str, str]) -> Sensor:
        """A sensor of ``NAME``, the last value, and of ``NAME-max``, ``-min`` and ``-avg`` of the last minute."""
        sensor = self._sensor(name, tags)
        for suffix, words, stat in (
            ("", "", Value()),
            ("-max", "max ", Max()),
            ("-min", "min ", Min()),
            ("-avg", "average ", Avg()),
        ):
            sensor.add(
                self._metrics.metric_name(name + suffix, self._group, words + description, self._all(tags)), stat
            )
        return sensor

    def meter(self, name: str, description: str, tags: Mapping[str, str]) -> Sensor:
        """A sensor of ``NAME-rate``, per second, and ``NAME-count``, in all. (Kafka: Meter.)"""
        sensor = self._sensor(name, tags)
        rate, total = (
            self._metrics.metric_name(f"{name}-{kind}", self._group, description, self._all(tags))
            for kind in ("rate", "count")
        )
        sensor.add(rate, Rate())
        sensor.add(total, CumulativeSum())
        return sensor

    def _all(self, tags: Mapping[str, str]) -> dict[str, str]:
        return {**self._tags, **tags}

    def _sensor(self, name: str, tags: Mapping[str, str]) -> Sensor:
        return self._metrics.sensor("-".join((*tags.values(), name)))


def _reporter(name: str, props: Mapping[str, str]) -> MetricsReporter:
    reporter: MetricsReporter = new_instance(METRIC_REPORTERS, MetricsReporter, name)
    reporter.configure(props)
    return reporter
