"""Quotas of request time: percent of a thread, delays of at most a window, and what is exempt."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_request_quota_manager import ClientRequestQuotaManager

ALICE = KafkaQuotaEntity("alice")


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


@pytest.fixture
def manager(metrics: Metrics, time: MockTime) -> ClientRequestQuotaManager:
    return ClientRequestQuotaManager(MetricConfig(samples=11, time_window_ms=1000), metrics, time)


def value(metrics: Metrics, name: str, tags: dict[str, str] | None = None) -> float:
    metric = metrics.metric(metrics.metric_name(name, "Request", tags=tags))
    assert metric is not None
    return metric.value


def test_a_hundred_percent_is_a_whole_thread(
    manager: ClientRequestQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.update_quota(ALICE, 100)
    for _ in range(10):
        assert manager.maybe_record_request_time("alice", "c", 1000, time.hi_res_ms()) == 0
        time.sleep(1000)
    assert value(metrics, "request-time", {"user": "alice", "client-id": ""}) == pytest.approx(100)


def test_a_delay_is_at_most_one_window(manager: ClientRequestQuotaManager, time: MockTime) -> None:
    manager.update_quota(ALICE, 1)
    assert manager.maybe_record_request_time("alice", "c", 100, time.hi_res_ms()) == 0
    assert manager.maybe_record_request_time("alice", "c", 2, time.hi_res_ms()) == 200
    assert manager.maybe_record_request_time("alice", "c", 60_000, time.hi_res_ms()) == 1000


def test_the_time_of_the_network_thread_counts_for_the_next_request(
    manager: ClientRequestQuotaManager, time: MockTime
) -> None:
    manager.update_quota(ALICE, 1)
    manager.maybe_record_network_time("alice", "c", 102)
    assert manager.maybe_record_request_time("alice", "c", 0, time.hi_res_ms()) == 200


def test_exempt_time_is_shown_and_limits_nobody(
    manager: ClientRequestQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.update_quota(ALICE, 1)
    manager.maybe_record_exempt(30_000)
    assert value(metrics, "exempt-request-time") == pytest.approx(100)
    assert manager.maybe_record_request_time("alice", "c", 100, time.hi_res_ms()) == 0


def test_without_quotas_nothing_is_recorded(
    manager: ClientRequestQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    before = set(metrics.metrics)
    assert manager.maybe_record_request_time("alice", "c", 1e9, time.hi_res_ms()) == 0
    manager.maybe_record_network_time("alice", "c", 1e9)
    manager.maybe_record_exempt(1e9)
    assert set(metrics.metrics) == before
    assert value(metrics, "exempt-request-time") == 0
