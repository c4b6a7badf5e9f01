"""The configuration of single groups, and what it changes for their members."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_config import (
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
    ConsumerGroupConfig,
    GroupConfigManager,
    MigrationPolicy,
    validate_group_config,
    with_overrides,
)
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from tests.support.groups import GROUP
from tests.support.modern_groups import ModernGroups

BROKER = ConsumerGroupConfig(session_timeout_limits_ms=(9_000, 60_000), heartbeat_interval_limits_ms=(1_000, 50_000))


def test_a_group_has_the_configuration_of_the_broker_but_for_its_overrides() -> None:
    manager = GroupConfigManager(BROKER)
    assert manager.config_of("g") is BROKER
    manager.update("g", {SESSION_TIMEOUT: "9000"})
    config = manager.config_of("g")
    assert (config.session_timeout_ms, config.heartbeat_interval_ms) == (9_000, 5_000)
    assert manager.config_of("h") is BROKER
    manager.update("g", {HEARTBEAT_INTERVAL: "2000", "of.a.later.version": "x"})
    config = manager.config_of("g")
    assert (config.session_timeout_ms, config.heartbeat_interval_ms) == (45_000, 2_000)
    manager.update("g", {})
    assert manager.config_of("g") is BROKER


def test_a_value_that_is_no_number_changes_nothing() -> None:
    manager = GroupConfigManager(BROKER)
    with pytest.raises(ConfigError):
        manager.update("g", {SESSION_TIMEOUT: "soon"})
    assert manager.config_of("g") is BROKER


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"retention.ms": "1"}, "Unknown group config name"),
        ({SESSION_TIMEOUT: "8999"}, "group.consumer.min.session.timeout.ms"),
        ({SESSION_TIMEOUT: "60001"}, "group.consumer.max.session.timeout.ms"),
        ({HEARTBEAT_INTERVAL: "999"}, "group.consumer.min.heartbeat.interval.ms"),
        ({HEARTBEAT_INTERVAL: "50001"}, "group.consumer.max.heartbeat.interval.ms"),
        ({HEARTBEAT_INTERVAL: "45000"}, "greater than consumer.heartbeat.interval.ms"),
        ({SESSION_TIMEOUT: "x"}, "x"),
    ],
)
def test_wrong_overrides_are_refused(overrides: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        validate_group_config(BROKER, ShareGroupConfig(), overrides)


def test_good_overrides_are_accepted() -> None:
    validate_group_config(BROKER, ShareGroupConfig(), {SESSION_TIMEOUT: "9000", HEARTBEAT_INTERVAL: "1000"})
    assert with_overrides(BROKER, {SESSION_TIMEOUT: "1"}).session_timeout_ms == 1, "limits may have changed since"


def test_members_are_told_the_interval_of_their_group_and_have_its_session_timeout() -> None:
    groups = ModernGroups()
    groups.coordinator.group_configs.update(GROUP, {SESSION_TIMEOUT: "9000", HEARTBEAT_INTERVAL: "1000"})
    member = groups.member("a")
    assert member.heartbeat() is Errors.NONE
    assert member.responses[-1].heartbeat_interval_ms == 1_000
    groups.groups.sleep(8_000)
    assert "a" in groups.group().members
    groups.groups.sleep(2_000)
    assert groups.group().members == {}


def test_policies_are_named_as_in_kafka() -> None:
    assert [policy.value for policy in MigrationPolicy] == ["disabled", "upgrade", "downgrade", "bidirectional"]
