"""Quotas of changed partitions: a bucket of tokens, and requests that are refused or only delayed."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.controller_mutation_quota_manager import (
    ControllerMutationQuotaManager,
    PermissiveControllerMutationQuota,
    StrictControllerMutationQuota,
    UnboundedControllerMutationQuota,
)

ALICE = KafkaQuotaEntity("alice")


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


@pytest.fixture
def manager(metrics: Metrics, time: MockTime) -> ControllerMutationQuotaManager:
    """10 partitions per second; the bucket holds 100."""
    manager = ControllerMutationQuotaManager(MetricConfig(samples=10, time_window_ms=1000), metrics, time)
    manager.update_quota(ALICE, 10)
    return manager


def value(metrics: Metrics, name: str) -> float:
    tags = {"user": "alice", "client-id": ""}
    metric = metrics.metric(metrics.metric_name(name, "ControllerMutation", tags=tags))
    assert metric is not None
    return metric.value


def test_a_strict_quota_refuses_while_the_bucket_is_in_debt(
    manager: ControllerMutationQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    quota = manager.new_strict_quota_for("alice", "c")
    quota.record(130)
    assert not quota.is_exceeded, "a topic with more partitions than tokens is admitted"
    with pytest.raises(ApiError) as refused:
        quota.record(1)
    assert refused.value.error is Errors.THROTTLING_QUOTA_EXCEEDED
    assert (quota.is_exceeded, quota.throttle_time_ms) == (True, 3000)
    assert value(metrics, "tokens") == -30, "what is refused takes no tokens"
    assert value(metrics, "mutation-rate") == pytest.approx(130 / 30)
    time.sleep(3000)
    manager.new_strict_quota_for("alice", "c").record(1)


def test_the_delay_goes_by_while_the_request_waits(manager: ControllerMutationQuotaManager, time: MockTime) -> None:
    quota = manager.new_permissive_quota_for("alice", "c")
    quota.record(130)
    assert quota.throttle_time_ms == 3000
    time.sleep(2000)
    assert quota.throttle_time_ms == 1000
    time.sleep(2000)
    assert quota.throttle_time_ms == 0


def test_a_permissive_quota_refuses_nothing(manager: ControllerMutationQuotaManager, metrics: Metrics) -> None:
    quota = manager.new_permissive_quota_for("alice", "c")
    for _ in range(3):
        quota.record(100)
    assert (quota.is_exceeded, quota.throttle_time_ms) == (False, 20_000)
    assert value(metrics, "tokens") == -200


def test_a_quota_is_strict_since_a_version_and_unbounded_as_long_as_there_is_none(
    manager: ControllerMutationQuotaManager, time: MockTime
) -> None:
    assert isinstance(manager.new_quota_for("alice", "c", 5, 6), PermissiveControllerMutationQuota)
    assert isinstance(manager.new_quota_for("alice", "c", 6, 6), StrictControllerMutationQuota)
    unused = ControllerMutationQuotaManager(MetricConfig(), Metrics(time=time), time)
    for version in (5, 6):
        quota = unused.new_quota_for("alice", "c", version, 6)
        assert isinstance(quota, UnboundedControllerMutationQuota)
        quota.record(1e9)
        assert (quota.is_exceeded, quota.throttle_time_ms) == (False, 0)


def test_the_manager_checks_before_it_records(
    manager: ControllerMutationQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    assert manager.record_and_get_throttle_time_ms("alice", "c", 130, time.hi_res_ms()) == 0
    assert manager.record_and_get_throttle_time_ms("alice", "c", 1, time.hi_res_ms()) == 3000
    assert value(metrics, "tokens") == -30


def test_a_new_quota_changes_the_bucket(
    manager: ControllerMutationQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.record_and_get_throttle_time_ms("alice", "c", 130, time.hi_res_ms())
    manager.update_quota(ALICE, 1)
    assert manager.record_and_get_throttle_time_ms("alice", "c", 1, time.hi_res_ms()) == 30_000
    time.sleep(60_000)
    assert value(metrics, "tokens") == 10
