"""The fetcher's metrics: totals per response and topic, and the lag and lead of each assigned partition."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.fetcher_metrics import GROUP, FetchManagerMetrics, FetchResponseMetricAggregator
from kafka_lite.metrics.metrics import Metrics

T0, T1, DOTTED = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("a.b", 0)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(time=MockTime())


@pytest.fixture
def fetches(metrics: Metrics) -> FetchManagerMetrics:
    return FetchManagerMetrics(metrics)


def value(metrics: Metrics, name: str, **tags: str) -> float | None:
    metric = metrics.metric(metrics.metric_name(name, GROUP, tags=tags))
    return None if metric is None else metric.value


def test_a_response_is_recorded_when_its_last_partition_is_consumed(
    metrics: Metrics, fetches: FetchManagerMetrics
) -> None:
    response = FetchResponseMetricAggregator(fetches, [T0, T1, DOTTED])
    response.record(T0, 100, 2)
    response.record(T1, 50, 1)
    assert value(metrics, "bytes-consumed-total") == 0
    response.record(DOTTED, 30, 3)
    assert value(metrics, "bytes-consumed-total") == 180
    assert value(metrics, "records-consumed-total") == 6
    assert value(metrics, "records-per-request-avg") == 6
    assert value(metrics, "fetch-size-max") == 180


def test_topics_have_totals_of_their_own_under_a_name_without_dots(
    metrics: Metrics, fetches: FetchManagerMetrics
) -> None:
    for size in (100, 200):
        response = FetchResponseMetricAggregator(fetches, [T0, DOTTED])
        response.record(T0, size, 1)
        response.record(DOTTED, 1, 1)
    assert value(metrics, "bytes-consumed-total", topic="t") == 300
    assert value(metrics, "fetch-size-avg", topic="t") == 150
    assert value(metrics, "bytes-consumed-total", topic="a_b") == 2
    assert value(metrics, "bytes-consumed-total", topic="a.b") is None


def test_the_lag_and_lead_of_a_partition_are_its_latest_mean_and_extreme(
    metrics: Metrics, fetches: FetchManagerMetrics
) -> None:
    for lag, lead in ((5, 1), (9, 7), (1, 4)):
        fetches.record_partition_lag(T0, lag)
        fetches.record_partition_lead(T0, lead)
    of = {"topic": "t", "partition": "0"}
    assert [value(metrics, f"records-lag{end}", **of) for end in ("", "-max", "-avg")] == [1, 9, 5]
    assert [value(metrics, f"records-lead{end}", **of) for end in ("", "-min", "-avg")] == [4, 1, 4]


def test_the_worst_partition_counts_for_the_consumer(metrics: Metrics, fetches: FetchManagerMetrics) -> None:
    fetches.record_partition_lag(T0, 5)
    fetches.record_partition_lag(T1, 8)
    fetches.record_partition_lead(T0, 5)
    fetches.record_partition_lead(T1, 8)
    assert value(metrics, "records-lag-max") == 8
    assert value(metrics, "records-lead-min") == 5


def test_partitions_that_are_given_up_lose_their_metrics(metrics: Metrics, fetches: FetchManagerMetrics) -> None:
    fetches.update_assignment(frozenset({T0, T1}))
    for partition in (T0, T1):
        fetches.record_partition_lag(partition, 5)
        fetches.record_partition_lead(partition, 5)
    fetches.update_assignment(frozenset({T1}))
    assert value(metrics, "records-lag", topic="t", partition="0") is None
    assert value(metrics, "records-lead", topic="t", partition="0") is None
    assert value(metrics, "records-lag", topic="t", partition="1") == 5
