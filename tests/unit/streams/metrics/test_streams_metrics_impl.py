"""What an application measures: Kafka's names, and numbers that a clock moved by hand foretells."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.metrics.task_metrics import dropped_records_sensor
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry, NamedCache
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.task_manager import TaskManager
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

WINDOW_S = 30.0
LATENCIES = ("latency-avg", "latency-max", "rate")
THREAD = {
    *(f"{what}-{stat}" for what in ("commit", "poll", "process", "punctuate") for stat in LATENCIES),
    "task-created-rate",
    "task-closed-rate",
    "skipped-records-rate",
}
"""0.10.2.2: StreamThread.StreamsMetricsThreadImpl."""
STORE = ("put", "put-if-absent", "get", "delete", "all", "range", "flush", "restore")
"""0.10.2.2: MeteredKeyValueStore, but ``put-all``, which our stores do not have."""


def registry(time: MockTime, level: RecordingLevel = RecordingLevel.DEBUG) -> Metrics:
    """Its first window is 30 s: soon after the start, a rate is the number of events by these."""
    return Metrics(MetricConfig(samples=2, time_window_ms=WINDOW_S * 1000, record_level=level), time=time)


def per_s(events: int) -> Any:
    """The rate of so many events, a few ms after the start."""
    return pytest.approx(events / WINDOW_S, rel=0.01)


def names(metrics: Metrics, group: str) -> set[str]:
    return {name.name for name in metrics.metrics if name.group == group}


def value(metrics: Metrics, group: str, name: str, **tags: str) -> float:
    """The value of the metric that has these tags, and perhaps others; a dash stands as an underscore."""
    wanted = {(key.replace("_", "-"), text) for key, text in tags.items()}
    [metric] = [
        metric
        for key, metric in metrics.metrics.items()
        if key.group == group and key.name == name and wanted <= set(key.tags)
    ]
    return metric.value


class Slow(Processor[Any, Any]):
    """Takes 5 ms for a record, and 7 ms for a punctuation."""

    def __init__(self, time: MockTime) -> None:
        self._time = time

    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule(100)

    def process(self, key: Any, value: Any) -> None:
        self._time.sleep(5)
        self.context.forward(key, value)

    def punctuate(self, timestamp: int) -> None:
        del timestamp
        self._time.sleep(7)


def slow_topology(time: MockTime) -> TopologyBuilder:
    return (
        TopologyBuilder()
        .add_source("SOURCE", "in")
        .add_processor("SLOW", lambda: Slow(time), "SOURCE")
        .add_sink("SINK", "out", "SLOW")
    )


def test_a_thread_has_kafkas_metrics() -> None:
    metrics = registry(MockTime())
    StreamThreadMetrics(metrics, "app-StreamThread-1")
    assert names(metrics, "stream-metrics") == THREAD
    assert {name.tags for name in metrics.metrics if name.group == "stream-metrics"} == {
        (("client-id", "app-StreamThread-1"),)
    }


def test_the_metrics_of_a_thread_end_with_it() -> None:
    time = MockTime()
    metrics = registry(time)
    thread, other = (StreamThreadMetrics(metrics, name, time) for name in ("t1", "t2"))
    for each in (thread, other):
        each.add_throughput_sensor("lookup", "geo", "find", RecordingLevel.INFO)
    thread.close()
    assert {tag for name in metrics.metrics for key, tag in name.tags if key == "client-id"} == {"t2"}


def test_nodes_are_measured_at_the_level_debug() -> None:
    time = MockTime()
    metrics, group = registry(time), "stream-processor-node-metrics"
    with TopologyTestDriver(slow_topology(time), time=time, metrics=metrics) as driver:
        for timestamp in (0, 50, 100):
            driver.pipe_input("in", b"k", b"v", timestamp=timestamp)
        operations = {f"{whose}-{operation}-{stat}" for whose in ("all", "task.0_0.SLOW")
                      for operation in ("process", "punctuate", "create", "destroy") for stat in LATENCIES}  # fmt: skip
        of_slow = {name.name for name in metrics.metrics if ("processor-node-id", "SLOW") in name.tags}
        assert of_slow == operations | {"all-forward-rate", "task.0_0.SLOW-forward-rate"}
        assert value(metrics, group, "task.0_0.SLOW-process-latency-avg") == pytest.approx(5e6)
        assert value(metrics, group, "task.0_0.SLOW-process-rate") == per_s(3)
        assert value(metrics, group, "task.0_0.SLOW-punctuate-latency-max") == pytest.approx(7e6)
        assert value(metrics, group, "task.0_0.SOURCE-forward-rate") == per_s(3)
        assert value(metrics, group, "all-process-rate", processor_node_id="SLOW") == per_s(3)
        assert value(metrics, "stream-task-metrics", "0_0-commit-rate", streams_task_id="0_0") == per_s(3)
    assert names(metrics, group) == set(), "a closed node has no metrics"
    assert names(metrics, "stream-task-metrics") == set()


def test_at_the_level_info_nothing_is_recorded_for_a_node() -> None:
    time = MockTime()
    metrics = registry(time, RecordingLevel.INFO)
    with TopologyTestDriver(slow_topology(time), time=time, metrics=metrics) as driver:
        driver.pipe_input("in", b"k", b"v", timestamp=0)
        assert value(metrics, "stream-processor-node-metrics", "task.0_0.SLOW-process-rate") == 0


def test_stores_are_measured_below_their_cache() -> None:
    builder, time = KStreamBuilder(), MockTime()
    builder.stream("in").group_by_key().count("Counts")
    metrics, group = registry(time), "stream-in-memory-state-metrics"
    serde = Serdes.string()
    with TopologyTestDriver(
        builder, key_serde=serde, value_serde=serde, time=time, metrics=metrics, cache_max_bytes_buffering=10_000
    ) as driver:
        for key in "aab":
            driver.pipe_input("in", key, "x", timestamp=0)
        driver.commit()
        expected = {f"{whose}-{operation}-{stat}" for whose in ("all", "Counts") for operation in STORE
                    for stat in LATENCIES}  # fmt: skip
        assert names(metrics, group) == expected
        assert value(metrics, group, "Counts-put-rate") == per_s(2), "two keys, three changes"
        assert value(metrics, group, "Counts-restore-rate") == per_s(1)
        assert value(metrics, group, "Counts-flush-rate") == per_s(1)


def hit_ratios(metrics: Metrics, cache: str) -> list[float]:
    group, name = "stream-record-cache-metrics", f"{cache}-hitRatio"
    return [value(metrics, group, f"{name}-{stat}", record_cache_id=cache) for stat in ("avg", "min", "max")]


def test_a_cache_records_which_part_of_its_reads_were_hits() -> None:
    builder, time = KStreamBuilder(), MockTime()
    builder.stream("in").group_by_key().count("Counts")
    metrics, serde, group = registry(time), Serdes.string(), "stream-record-cache-metrics"
    with TopologyTestDriver(
        builder, key_serde=serde, value_serde=serde, time=time, metrics=metrics, cache_max_bytes_buffering=10_000
    ) as driver:
        for key in "aaba":  # miss, hit: 1/2, miss, hit: 2/4
            driver.pipe_input("in", key, "x", timestamp=0)
        assert hit_ratios(metrics, "0_0-Counts") == [0.5, 0.5, 0.5]
        assert list(driver.key_value_store("Counts").all()) == [("a", 3), ("b", 1)]  # 3/5, 4/6
        assert hit_ratios(metrics, "0_0-Counts") == pytest.approx([(1 / 2 + 1 / 2 + 3 / 5 + 4 / 6) / 4, 1 / 2, 4 / 6])
        assert {name.tags for name in metrics.metrics if name.group == group} == {(("record-cache-id", "0_0-Counts"),)}
    assert names(metrics, group) == set(), "a closed cache has no metrics"


def test_at_the_level_info_a_cache_has_metrics_but_records_nothing() -> None:
    time = MockTime()
    metrics = registry(time, RecordingLevel.INFO)
    cache = ThreadCache("thread", 1000, StreamsMetricsImpl(metrics, {"client-id": "t1"}, time))
    cache.set_dirty_entry_flush_listener("Counts", lambda _: None)
    cache.put("Counts", b"a", LRUCacheEntry(b"1"))
    assert cache.get("Counts", b"a") is not None
    assert type(cache.named("Counts")) is NamedCache, "reads are not slower than without metrics"
    assert not any(map(isfinite, hit_ratios(metrics, "Counts")))
    cache.close("Counts")
    assert names(metrics, "stream-record-cache-metrics") == set()


def test_window_stores_have_a_group_of_their_own() -> None:
    builder, time = KStreamBuilder(), MockTime()
    builder.stream("in").group_by_key().count("Counts", TimeWindows.of(10))
    metrics = registry(time)
    serde = Serdes.string()
    with TopologyTestDriver(builder, key_serde=serde, value_serde=serde, time=time, metrics=metrics) as driver:
        driver.pipe_input("in", "a", "x", timestamp=0)
        assert value(metrics, "stream-in-memory-window-metrics", "Counts-put-rate") == per_s(1)
        assert value(metrics, "stream-in-memory-window-metrics", "all-fetch-rate") == per_s(1)


def test_users_add_sensors_of_their_own() -> None:
    time = MockTime()
    metrics = StreamsMetricsImpl(registry(time, RecordingLevel.INFO), {"client-id": "t1"}, time)
    find = metrics.add_latency_and_throughput_sensor("lookup", "geo", "find", RecordingLevel.INFO, {"region": "eu"})
    assert metrics.measure_latency_ns(lambda: time.sleep(3) or "found", find) == "found"
    metrics.record_latency(find, 0, 1e6)
    hits = metrics.add_throughput_sensor("lookup", "geo", "hit", RecordingLevel.INFO)
    metrics.record_throughput(hits, 12)

    group = "stream-lookup-metrics"
    assert value(metrics.registry, group, "geo-find-latency-avg", region="eu", client_id="t1") == pytest.approx(2e6)
    assert value(metrics.registry, group, "all-find-latency-max", region="eu") == pytest.approx(3e6)
    assert value(metrics.registry, group, "geo-hit-rate") == per_s(12)
    own = metrics.add_sensor("own", RecordingLevel.INFO, hits)
    own.record(1)
    assert value(metrics.registry, group, "geo-hit-rate") == per_s(13), "a parent records, too"


def test_all_entities_are_measured_until_the_last_is_removed() -> None:
    time = MockTime()
    metrics = StreamsMetricsImpl(registry(time), {"client-id": "t1"}, time)
    first, last = (
        metrics.add_throughput_sensor("lookup", entity, "find", RecordingLevel.INFO) for entity in ("one", "two")
    )
    assert metrics.add_throughput_sensor("lookup", "one", "find", RecordingLevel.INFO) is first
    metrics.record_throughput(first, 1)
    metrics.remove_sensor(first)
    metrics.record_throughput(last, 1)
    assert names(metrics.registry, "stream-lookup-metrics") == {"two-find-rate", "all-find-rate"}
    assert value(metrics.registry, "stream-lookup-metrics", "all-find-rate") == per_s(2)
    metrics.remove_sensor(last)
    assert names(metrics.registry, "stream-lookup-metrics") == set()


def test_what_was_dropped_has_a_rate_and_a_total_of_each_task() -> None:
    """With the names and tags of Kafka since 2.5."""
    time = MockTime()
    metrics = StreamsMetricsImpl(registry(time), {"client-id": "app-1"}, time)
    first, second = (dropped_records_sensor(metrics, TaskId(0, number)) for number in range(2))
    assert dropped_records_sensor(metrics, TaskId(0, 0)) is first
    for _ in range(3):
        first.record()
    found = {
        (name.name, dict(name.tags)["task-id"]): metric.value
        for name, metric in metrics.metrics().items()
        if name.group == "stream-task-metrics" and dict(name.tags)["thread-id"] == "app-1"
    }
    assert found == {
        ("dropped-records-rate", "0_0"): per_s(3),
        ("dropped-records-total", "0_0"): 3,
        ("dropped-records-rate", "0_1"): 0,
        ("dropped-records-total", "0_1"): 0,
    }
    metrics.remove_sensor(first)
    assert len(names(metrics.registry, "stream-task-metrics")) == 2
    assert {dict(name.tags).get("task-id") for name in metrics.metrics() if name.group == "stream-task-metrics"} == {
        "0_1"
    }
    metrics.close()
    assert names(metrics.registry, "stream-task-metrics") == set()
    assert second.name


class Task(SimpleNamespace):
    """A task whose records take the milliseconds given; a commit takes 20."""

    def __init__(self, time: MockTime, *took_ms: float) -> None:
        super().__init__(id=TaskId(0, 0), partitions=frozenset(), num_buffered=0, commit_needed=False, is_dirty=False)
        self._time, self._took_ms = time, list(took_ms)

    is_idle = False

    def process(self, now_ms: float) -> bool:
        self._time.sleep(self._took_ms.pop(0))
        return True

    def maybe_punctuate(self) -> bool:
        return False

    def commit(self) -> None:
        self._time.sleep(20)

    def nothing(self, *_: object, **__: object) -> None:
        """Closes itself."""

    close_topology = flush_state = commit_offsets = close_state_manager = nothing


def test_the_tasks_of_a_thread() -> None:
    time = MockTime()
    metrics, group = registry(time), "stream-metrics"
    task: Any = Task(time, 2, 6, 4)
    thread = StreamThreadMetrics(metrics, "t1", time)
    tasks = TaskManager(lambda *_: task, StandbyTasks(lambda *_: None, task, time), time, thread)
    tasks.assign({TaskId(0, 0): frozenset()})
    for _ in range(3):
        tasks.process()
    tasks.commit_all()
    thread.process.record(time.hi_res_ms())
    assert value(metrics, group, "process-latency-avg") == pytest.approx(4)
    assert value(metrics, group, "process-latency-max") == pytest.approx(6)
    assert value(metrics, group, "process-rate") == per_s(3)
    assert value(metrics, group, "commit-latency-max") == pytest.approx(20)
    assert value(metrics, group, "task-created-rate") == per_s(1)
    assert value(metrics, group, "task-closed-rate") == 0
    tasks.close(clean=False)
    assert value(metrics, group, "task-closed-rate") == per_s(1)


def test_latencies_of_records_are_recorded_every_100_ms() -> None:
    time = MockTime()
    metrics = registry(time)
    thread = StreamThreadMetrics(metrics, "t1", time)

    def rate() -> float:
        return value(metrics, "stream-metrics", "process-rate")

    thread.process.add(0, 1)
    assert rate() == per_s(1), "the first one at once"
    thread.process.add(1, 50)
    thread.process.add(50, 100)
    assert rate() == per_s(1)
    thread.process.add(100, 101)
    assert rate() == per_s(4)


def test_an_instance_shows_its_metrics(tmp_path: Path) -> None:
    """It is never started: its clients do not connect."""
    configs = {
        "application.id": "app",
        "client.id": "c",
        "bootstrap.servers": "localhost:1",
        "state.dir": str(tmp_path),
        "metrics.recording.level": "DEBUG",
    }
    with KafkaStreams(slow_topology(MockTime()), configs) as streams:
        assert {name.name for name in streams.metrics() if name.group == "stream-metrics"} == THREAD
        beans = {str(bean) for bean in streams.beans()}
        assert "kafka.streams:type=stream-metrics,client-id=c-StreamThread-1" in beans
    assert not [name for name in streams.metrics() if name.group == "stream-metrics"]
