"""The configuration of single share groups."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.coordinator.group.modern.consumer_group_config import (
    ConsumerGroupConfig,
    GroupConfigManager,
    validate_group_config,
)
from kafka_lite.coordinator.group.modern.share_group_config import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    SHARE_AUTO_OFFSET_RESET,
    SHARE_HEARTBEAT_INTERVAL,
    SHARE_ISOLATION_LEVEL,
    SHARE_RECORD_LOCK_DURATION,
    SHARE_SESSION_TIMEOUT,
    ShareGroupAutoOffsetResetStrategy,
    ShareGroupConfig,
)

BROKER = ShareGroupConfig(
    session_timeout_limits_ms=(9_000, 60_000),
    heartbeat_interval_limits_ms=(1_000, 50_000),
    record_lock_duration_limits_ms=(15_000, 60_000),
)
HOUR_MS = 3_600_000


def test_a_group_has_the_configuration_of_the_broker_but_for_its_overrides() -> None:
    manager = GroupConfigManager(ConsumerGroupConfig(), BROKER)
    assert manager.share_config_of("g") is BROKER
    manager.update("g", {SHARE_RECORD_LOCK_DURATION: "20000", SHARE_ISOLATION_LEVEL: "read_committed"})
    config = manager.share_config_of("g")
    assert (config.record_lock_duration_ms, config.committed_only) == (20_000, True)
    assert config.session_timeout_ms == 45_000
    assert not manager.share_config_of("h").committed_only
    manager.update("g", {SHARE_AUTO_OFFSET_RESET: "earliest", SHARE_SESSION_TIMEOUT: "9000"})
    config = manager.share_config_of("g")
    assert (config.auto_offset_reset.timestamp, config.session_timeout_ms) == (EARLIEST_TIMESTAMP, 9_000)
    manager.update("g", {})
    assert manager.share_config_of("g") is BROKER


def test_a_bad_value_changes_nothing() -> None:
    manager = GroupConfigManager(ConsumerGroupConfig(), BROKER)
    with pytest.raises(ConfigError):
        manager.update("g", {SHARE_RECORD_LOCK_DURATION: "soon"})
    assert manager.share_config_of("g") is BROKER
    assert manager.config_of("g") is manager.defaults


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({SHARE_SESSION_TIMEOUT: "8999"}, "group.share.min.session.timeout.ms"),
        ({SHARE_SESSION_TIMEOUT: "60001"}, "group.share.max.session.timeout.ms"),
        ({SHARE_HEARTBEAT_INTERVAL: "999"}, "group.share.min.heartbeat.interval.ms"),
        ({SHARE_HEARTBEAT_INTERVAL: "50001"}, "group.share.max.heartbeat.interval.ms"),
        ({SHARE_HEARTBEAT_INTERVAL: "45000"}, "greater than share.heartbeat.interval.ms"),
        ({SHARE_RECORD_LOCK_DURATION: "14999"}, "group.share.min.record.lock.duration.ms"),
        ({SHARE_RECORD_LOCK_DURATION: "60001"}, "group.share.max.record.lock.duration.ms"),
        ({SHARE_RECORD_LOCK_DURATION: "999"}, "at least 1000"),
        ({SHARE_AUTO_OFFSET_RESET: "none"}, "latest, earliest or by_duration"),
        ({SHARE_ISOLATION_LEVEL: "READ_COMMITTED"}, "must be one of"),
    ],
)
def test_wrong_overrides_are_refused(overrides: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        validate_group_config(ConsumerGroupConfig(), BROKER, overrides)


@pytest.mark.parametrize(
    ("text", "timestamp"),
    [
        ("latest", LATEST_TIMESTAMP),
        ("Earliest", EARLIEST_TIMESTAMP),
        ("by_duration:PT1H", 10 * HOUR_MS - HOUR_MS),
        ("by_duration:P0DT30M0.5S", 10 * HOUR_MS - HOUR_MS // 2 - 500),
        ("by_duration:PT2H-60M", 9 * HOUR_MS),
        ("by_duration:P1D", 0),
        ("by_duration:PT0S", 10 * HOUR_MS),
    ],
)
def test_a_strategy_says_where_a_group_begins(text: str, timestamp: int) -> None:
    assert ShareGroupAutoOffsetResetStrategy.parse(text).timestamp_at(10 * HOUR_MS) == timestamp


@pytest.mark.parametrize("duration", ["", "P", "PT", "1H", "PT-1H", "-PT1H", "P99999999999D", "P1Y", "PT1H1H"])
def test_other_durations_are_refused(duration: str) -> None:
    with pytest.raises(ValueError):
        ShareGroupAutoOffsetResetStrategy.parse(f"by_duration:{duration}")


@pytest.mark.parametrize("text", ["", "none", "PT1H"])
def test_other_strategies_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        ShareGroupAutoOffsetResetStrategy.parse(text)
