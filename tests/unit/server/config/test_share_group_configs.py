"""The broker's keys about share groups."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.kafka_config import KafkaConfig


def test_the_defaults_are_those_of_kafka_4_1() -> None:
    config = KafkaConfig({"zookeeper.connect": "embedded"}).share_groups
    assert not config.is_enabled
    assert (config.session_timeout_ms, config.heartbeat_interval_ms, config.max_size) == (45_000, 5_000, 200)
    assert (config.record_lock_duration_ms, config.record_lock_duration_limits_ms) == (30_000, (15_000, 60_000))
    assert (config.delivery_count_limit, config.partition_max_record_locks) == (5, 2_000)
    assert (config.max_share_sessions, config.purgatory_purge_interval) == (2_000, 1_000)


@pytest.mark.parametrize(
    ("key", "value"),
    [("group.share.enable", "true"), ("group.coordinator.rebalance.protocols", "classic, consumer, Share")],
)
def test_either_of_two_keys_switches_them_on(key: str, value: str) -> None:
    assert KafkaConfig({"zookeeper.connect": "embedded", key: value}).share_groups.is_enabled


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"group.share.delivery.count.limit": "1"}, "group.share.delivery.count.limit"),
        ({"group.share.delivery.count.limit": "11"}, "group.share.delivery.count.limit"),
        ({"group.share.record.lock.duration.ms": "14999"}, "group.share.record.lock.duration.ms"),
        ({"group.share.record.lock.duration.ms": "60001"}, "group.share.record.lock.duration.ms"),
        ({"group.share.partition.max.record.locks": "99"}, "group.share.partition.max.record.locks"),
        ({"group.share.max.size": "1001"}, "group.share.max.size"),
        ({"group.share.max.share.sessions": "199"}, "group.share.max.share.sessions"),
        ({"group.share.session.timeout.ms": "44999"}, "group.share.session.timeout.ms"),
        ({"group.share.heartbeat.interval.ms": "15001"}, "group.share.heartbeat.interval.ms"),
        (
            {"group.share.heartbeat.interval.ms": "45000", "group.share.max.heartbeat.interval.ms": "45000"},
            "group.share.heartbeat.interval.ms",
        ),
        ({"group.share.assignors": "range"}, "group.share.assignors"),
        ({"group.share.assignors": ""}, "group.share.assignors"),
    ],
)
def test_values_that_do_not_fit_are_refused(values: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        KafkaConfig({"zookeeper.connect": "embedded", **values})
