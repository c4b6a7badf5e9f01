"""Java's names, tags and meanings; one bean for each partition."""

from __future__ import annotations

import math

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.mirror.connectors.source.mirror_source_config import MirrorSourceConfig
from kafka_lite.mirror.connectors.source.mirror_source_metrics import MirrorSourceMetrics
from tests.support.mirror_clusters import BOTH

A0, B0 = TopicPartition("west.a", 0), TopicPartition("west.b", 0)
OF_A = MetricName(
    "kafka.connect.mirror", "MirrorSourceConnector", "",
    (("source", "west"), ("target", "east"), ("topic", "west.a"), ("partition", "0")),
)  # fmt: skip
JAVAS = {
    "record-count", "record-rate", "byte-count", "byte-rate",
    *(f"{name}{end}" for name in ("record-age-ms", "replication-latency-ms") for end in ("", "-max", "-min", "-avg")),
}  # fmt: skip


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> MirrorSourceMetrics:
    return MirrorSourceMetrics(MirrorSourceConfig(BOTH), time)


def test_all_of_javas_numbers(metrics: MirrorSourceMetrics) -> None:
    metrics.polled(A0, b"v", 0)
    metrics.polled(B0, b"v", 0)
    assert metrics.beans()[OF_A].keys() == JAVAS
    assert len([name for name in metrics.beans() if name.tags]) == 2


def test_ages_and_latencies(metrics: MirrorSourceMetrics, time: MockTime) -> None:
    now_ms = time.milliseconds()
    for age_ms, size in ((100, 5), (300, 7)):
        metrics.polled(A0, bytes(size), now_ms - age_ms)
    metrics.copied(A0, now_ms - 100)
    numbers = metrics.beans()[OF_A]
    assert [numbers[f"record-age-ms{end}"] for end in ("", "-max", "-min", "-avg")] == [300, 300, 100, 200]
    assert (numbers["replication-latency-ms"], numbers["record-count"], numbers["byte-count"]) == (100, 1, 12)
    assert numbers["byte-rate"] == pytest.approx(12 / 30)


def test_tombstones_and_records_without_a_time_count(metrics: MirrorSourceMetrics) -> None:
    metrics.polled(A0, None, -1)
    metrics.copied(A0, None)
    numbers = metrics.beans()[OF_A]
    assert (numbers["byte-count"], numbers["record-count"]) == (0, 1)
    assert (numbers["record-age-ms"], numbers["record-age-ms-max"]) == (0, -math.inf)


def test_a_clock_of_the_source_that_is_ahead_gives_negative_ages(metrics: MirrorSourceMetrics, time: MockTime) -> None:
    metrics.polled(A0, b"v", time.milliseconds() + 50)
    assert metrics.beans()[OF_A]["record-age-ms"] == -50
