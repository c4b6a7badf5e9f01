"""Replication quotas: which partitions, how many bytes, over what time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.quotas.quota_factory import QuotaManagers, quota_managers
from kafka_lite.server.quotas.replication_quota_manager import (
    UNLIMITED,
    ReplicationQuotaManager,
    ReplicationType,
    parse_throttled_partitions,
)

TP = TopicPartition("orders", 0)
OTHER = TopicPartition("orders", 1)


def new_quota(time: MockTime) -> ReplicationQuotaManager:
    return ReplicationQuotaManager(ReplicationType.LEADER, MetricConfig(11, 1000), time)


def test_nothing_is_throttled_at_first() -> None:
    quota = new_quota(MockTime())
    quota.record(1 << 40)
    assert not quota.is_throttled(TP)
    assert not quota.is_quota_exceeded


def test_the_partitions_that_were_marked_last_are_throttled() -> None:
    quota = new_quota(MockTime())
    quota.mark_throttled("orders", [0])
    assert (quota.is_throttled(TP), quota.is_throttled(OTHER)) == (True, False)
    quota.mark_throttled("orders", [1])
    assert (quota.is_throttled(TP), quota.is_throttled(OTHER)) == (False, True)
    quota.mark_throttled("orders")
    assert (quota.is_throttled(TP), quota.is_throttled(OTHER)) == (True, True)
    for _ in range(2):
        quota.remove_throttle("orders")
        assert (quota.is_throttled(TP), quota.is_throttled(OTHER)) == (False, False)


def test_a_burst_counts_over_at_least_one_window() -> None:
    quota = new_quota(MockTime())
    quota.update_quota(100)
    quota.record(100)
    assert quota.byte_rate == 100
    assert not quota.is_quota_exceeded, "the bound itself is allowed"
    quota.record(1)
    assert quota.is_quota_exceeded


def test_the_rate_sinks_until_copying_goes_on() -> None:
    time = MockTime()
    quota = new_quota(time)
    quota.update_quota(100)
    quota.record(450)
    seconds = 0
    while quota.is_quota_exceeded:
        time.sleep(1000)
        seconds += 1
    assert seconds == 5


def test_bytes_are_forgotten_with_the_last_window() -> None:
    time = MockTime()
    quota = new_quota(time)
    quota.record(1 << 30)
    time.sleep(10_999)
    assert quota.byte_rate > 0
    time.sleep(1)
    assert quota.byte_rate == 0


@given(rate=st.integers(100, 10_000), chunk=st.integers(1, 5_000), step_ms=st.integers(20, 400))
def test_over_a_minute_the_mean_rate_keeps_to_the_bound(rate: int, chunk: int, step_ms: int) -> None:
    time = MockTime()
    quota = new_quota(time)
    quota.update_quota(rate)
    copied = 0
    for _ in range(60_000 // step_ms):
        if not quota.is_quota_exceeded:
            quota.record(chunk)
            copied += chunk
        time.sleep(step_ms)
    # Each request that began below the bound may exceed it: one chunk at the start of each eleven seconds, and a step.
    assert copied <= 1.25 * rate * 60 + 7 * chunk


@pytest.mark.parametrize(
    ("entries", "partitions"),
    [([], []), (["*"], None), (["0:101", " 1:102 ", "2:101"], [0, 2]), (["0:102"], [])],
)
def test_a_list_of_throttled_replicas_has_those_of_this_broker(
    entries: list[str], partitions: list[int] | None
) -> None:
    assert parse_throttled_partitions(entries, 101) == partitions


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def quotas(time: MockTime) -> QuotaManagers:
    config = {
        "broker.id": "101",
        "zookeeper.connect": "embedded",
        "replication.quota.window.num": "3",
        "replication.quota.window.size.seconds": "2",
        "alter.log.dirs.replication.quota.window.num": "5",
        "alter.log.dirs.replication.quota.window.size.seconds": "4",
    }
    return quota_managers(KafkaConfig(config), time, Metrics(time=time))


def test_a_topic_throttles_its_leaders_and_followers_separately(quotas: QuotaManagers) -> None:
    config = {"leader.replication.throttled.replicas": "0:101,1:7", "follower.replication.throttled.replicas": "*"}
    quotas.update_topic("orders", LogConfig(config))
    assert [quotas.leader.is_throttled(each) for each in (TP, OTHER)] == [True, False]
    assert [quotas.follower.is_throttled(each) for each in (TP, OTHER)] == [True, True]
    config = {"leader.replication.throttled.replicas": "0:7"}
    quotas.update_topic("orders", LogConfig(config))
    assert not quotas.leader.is_throttled(TP), "no replica of this broker is in the list"
    quotas.update_topic("orders", LogConfig())
    assert not any(quota.is_throttled(each) for quota in quotas for each in (TP, OTHER))


def test_rates_are_those_of_the_brokers_overrides(quotas: QuotaManagers) -> None:
    quotas.update_rates(
        {
            "leader.replication.throttled.rate": "1",
            "follower.replication.throttled.rate": "2",
            "replica.alter.log.dirs.io.max.bytes.per.second": "3",
        }
    )
    assert [quota.upper_bound for quota in quotas] == [1, 2, 3]
    quotas.update_rates({})
    assert [quota.upper_bound for quota in quotas] == [UNLIMITED] * 3


def test_replication_and_moves_between_directories_have_their_own_windows(
    quotas: QuotaManagers, time: MockTime
) -> None:
    for quota in quotas:
        quota.record(1000)
    assert [quota.byte_rate for quota in quotas] == [500, 500, 250], "over one window"
    time.sleep(6_000)
    assert [quota.byte_rate for quota in quotas] == [0, 0, pytest.approx(1000 / 6)], (
        "after three windows of two seconds"
    )
    time.sleep(13_999)
    assert quotas.alter_log_dirs.byte_rate > 0
    time.sleep(1)
    assert quotas.alter_log_dirs.byte_rate == 0, "after five windows of four seconds"


def test_each_rate_is_a_metric(quotas: QuotaManagers) -> None:
    metrics = Metrics()
    quotas.register(metrics)
    quotas.follower.record(500)
    rates = {name.group: each.value for name, each in metrics.metrics.items() if name.name == "byte-rate"}
    assert rates == {"LeaderReplication": 0, "FollowerReplication": 250, "AlterLogDirsReplication": 0}
