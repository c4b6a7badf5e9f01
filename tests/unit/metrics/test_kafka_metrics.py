"""Kafka's own metrics library: windows, sensors, reporters, and the beans made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter, configured_instance
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.metrics.stats import Avg, Count, CumulativeSum, Max, MetricConfig, Rate, SampledTotal, counted_since

WINDOW_MS = 30_000


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


def value(metrics: Metrics, name: str) -> float:
    metric = metrics.metric(metrics.metric_name(name, "test"))
    assert metric is not None
    return metric.value


def test_a_rate_covers_at_least_one_whole_window(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("bytes")
    sensor.add(metrics.metric_name("byte-rate", "test"), Rate())
    sensor.record(300)
    assert value(metrics, "byte-rate") == pytest.approx(300 / 30)
    time.sleep(15_000)
    assert value(metrics, "byte-rate") == pytest.approx(300 / 45), "one window and a half"
    time.sleep(15_000)
    sensor.record(600)
    assert value(metrics, "byte-rate") == pytest.approx(900 / 30), "one complete window and nothing of the current one"
    time.sleep(WINDOW_MS)
    assert value(metrics, "byte-rate") == pytest.approx(600 / 30), "the first window has expired"
    time.sleep(2 * WINDOW_MS)
    assert value(metrics, "byte-rate") == 0.0


def test_a_window_begins_where_the_one_before_ended() -> None:
    config, total = MetricConfig(samples=2, time_window_ms=1000), SampledTotal()
    total.record(config, 1, 1, 0)
    total.record(config, 2, 1, 1500)
    assert total.measure(config, 1999) == 3
    assert total.measure(config, 2000) == 2
    assert total.measure(config, 2999) == 2
    assert total.measure(config, 3000) == 0


def test_the_rate_of_a_single_window_that_has_just_begun_is_finite() -> None:
    config, rate = MetricConfig(samples=1, time_window_ms=1000), Rate()
    rate.record(config, 5, 1, 100)
    assert rate.measure(config, 100) == 5000, "over one millisecond"


def test_what_is_collected_is_dated_back_to_the_last_collection_but_at_most_five_seconds() -> None:
    assert counted_since(7_000, now_ms=10_000) == 7_000
    assert counted_since(5_000, now_ms=10_000) == 5_000
    assert counted_since(4_000, now_ms=10_000) == 5_000


def test_counts_means_and_extremes(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("sizes")
    stats = {"rate": Rate(stat=Count()), "avg": Avg(), "max": Max(), "ratio": Rate(RateUnit.NANOSECONDS)}
    for name, stat in stats.items():
        sensor.add(metrics.metric_name(name, "test"), stat)
    assert math.isnan(value(metrics, "avg"))
    assert value(metrics, "max") == -math.inf
    for size in (10, 20, 60):
        sensor.record(size)
    assert value(metrics, "rate") == pytest.approx(3 / 30)
    assert value(metrics, "avg") == 30
    assert value(metrics, "max") == 60
    sensor.record(15e9)
    assert value(metrics, "ratio") == pytest.approx(0.5, rel=1e-6), "15 of 30 seconds"


def test_several_events_can_be_recorded_at_once(metrics: Metrics) -> None:
    sensor = metrics.sensor("sizes")
    sensor.add(metrics.metric_name("rate", "test"), Rate(stat=Count()))
    sensor.add(metrics.metric_name("avg", "test"), Avg())
    sensor.record(90, events=3)
    assert value(metrics, "rate") == pytest.approx(3 / 30)
    assert value(metrics, "avg") == 30


def test_a_parent_sensor_records_the_values_of_its_children(metrics: Metrics) -> None:
    parent = metrics.sensor("all")
    parent.add(metrics.metric_name("total-rate", "test"), Rate())
    for name in ("sent", "received"):
        metrics.sensor(name, parent).record(30)
    assert value(metrics, "total-rate") == pytest.approx(2)


def test_debug_sensors_record_only_at_level_debug(time: MockTime) -> None:
    for configured, expected in (("INFO", 0.0), ("debug", 1.0)):
        metrics = Metrics(MetricConfig(record_level=RecordingLevel.for_name(configured)), time=time)
        sensor = metrics.sensor("detail", level=RecordingLevel.DEBUG)
        sensor.add(metrics.metric_name("rate", "test"), Rate())
        sensor.record(30)
        assert value(metrics, "rate") == expected


def test_an_unknown_recording_level_is_rejected() -> None:
    with pytest.raises(KafkaError, match=r"metrics.recording.level=TRACE: must be INFO or DEBUG"):
        RecordingLevel.for_name("TRACE")


def test_a_sensor_is_created_once_and_removed_with_its_metrics(metrics: Metrics) -> None:
    sensor = metrics.sensor("s")
    sensor.add(metrics.metric_name("rate", "test"), Rate())
    assert metrics.sensor("s") is sensor is metrics.get_sensor("s")
    with pytest.raises(ValueError, match="already exists"):
        metrics.sensor("other").add(metrics.metric_name("rate", "test"), Rate())
    metrics.remove_sensor("s")
    assert metrics.get_sensor("s") is None
    assert metrics.metric(metrics.metric_name("rate", "test")) is None


def test_a_bean_has_the_metrics_of_one_group_and_one_set_of_tags(time: MockTime) -> None:
    reporter = JmxReporter("kafka.server")
    metrics = Metrics(reporters=[reporter], time=time)
    for processor in ("0", "1"):
        for name in ("in", "out"):
            metrics.add_metric(
                metrics.metric_name(name, "socket", tags={"processor": processor}), lambda _config, _now: 7.0
            )
    shown = {str(name): dict(attributes) for name, attributes in reporter.beans().items()}
    assert shown == {
        "kafka.server:type=kafka-metrics-count": {"count": 5},
        "kafka.server:type=socket,processor=0": {"in": 7.0, "out": 7.0},
        "kafka.server:type=socket,processor=1": {"in": 7.0, "out": 7.0},
    }
    for name in ("in", "out"):
        metrics.remove_metric(metrics.metric_name(name, "socket", tags={"processor": "0"}))
    assert "kafka.server:type=socket,processor=0" not in map(str, reporter.beans())
    metrics.close()
    assert reporter.beans() == {}


class Noting(MetricsReporter):
    """Notes its calls."""

    def configure(self, configs: Mapping[str, object]) -> None:
        self.configs = dict(configs)
        self.heard: list[str] = []

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        self.heard += [f"init {metric.metric_name.name}" for metric in metrics]

    def metric_change(self, metric: KafkaMetric) -> None:
        self.heard.append(f"change {metric.metric_name.name}")

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.heard.append(f"removal {metric.metric_name.name}")

    def close(self) -> None:
        self.heard.append("close")


class Failing(Noting):
    def metric_change(self, metric: KafkaMetric) -> None:
        raise RuntimeError("a bug of somebody else's")


class Unwilling(Noting):
    def configure(self, configs: Mapping[str, object]) -> None:
        raise ValueError("a key is missing")


def noting(cls: type[Noting] = Noting) -> Noting:
    reporter = cls()
    reporter.configure({})
    return reporter


def test_reporters_are_notified_of_all_metrics(time: MockTime, caplog: pytest.LogCaptureFixture) -> None:
    first, broken, late = noting(), noting(Failing), noting()
    metrics = Metrics(reporters=[broken, first], time=time)
    name = metrics.metric_name("rate", "test")
    metrics.sensor("s").add(name, Rate())
    metrics.add_reporter(late)
    metrics.remove_sensor("s")
    metrics.close()
    assert first.heard == ["change count", "change rate", "removal rate", "close"]
    assert late.heard == ["init count", "init rate", "removal rate", "close"]
    assert broken.heard == ["removal rate", "close"], "an error in a reporter does not reach the others"
    assert "The metrics reporter Failing failed" in caplog.text


def test_a_reporter_is_loaded_by_its_name() -> None:
    reporter = configured_instance(f"{__name__}.Noting", Noting, {"broker.id": "3"})
    assert reporter.configs == {"broker.id": "3"}
    assert isinstance(configured_instance(f"{__name__}:Noting", Noting, {}), Noting)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_module.Reporter", "cannot be found"),
        (f"{__name__}.NoSuchClass", "cannot be found"),
        ("Reporter", "cannot be found"),
        ("", "cannot be found"),
        ("io.StringIO", "is not a"),
        ("json.dumps", "is not a"),
        (f"{__name__}.Unwilling", "a key is missing"),
    ],
)
def test_a_class_that_is_no_reporter_is_rejected(name: str, reason: str) -> None:
    with pytest.raises(KafkaError, match=reason):
        configured_instance(name, Noting, {})


def test_every_metric_has_the_tags_of_its_client(time: MockTime) -> None:
    metrics = Metrics(MetricConfig(tags=(("client-id", "me"),)), time=time)
    name = metrics.metric_name("rate", "group", tags={"topic": "t"})
    assert name.tags == (("client-id", "me"), ("topic", "t"))
    assert metrics.metric(metrics.metric_name("count", "kafka-metrics-count")) is not None


def test_collectors_run_before_a_value_is_read(time: MockTime) -> None:
    metrics = Metrics(time=time)
    sensor = metrics.sensor("things")
    name = metrics.metric_name("total", "test")
    sensor.add(name, CumulativeSum())
    noted = [3.0, 4.0]

    def collect() -> None:
        while noted:
            sensor.record(noted.pop())
        metrics.collect()  # a collector does not wait for itself

    metrics.add_collector(collect)
    metric = metrics.metrics[name]
    assert metric.value == 7
    noted.append(1.0)
    assert metric.value == 8
