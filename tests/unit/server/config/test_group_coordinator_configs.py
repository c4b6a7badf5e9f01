"""The keys about groups of KIP-848."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.auth.consumer_group_switch import OF_CONSUMER_GROUPS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS, served_versions
from kafka_lite.server.kafka_config import KafkaConfig


def test_the_defaults_are_those_of_kafka_4() -> None:
    config = KafkaConfig({"zookeeper.connect": "embedded"}).consumer_groups
    assert (config.session_timeout_ms, config.heartbeat_interval_ms) == (45_000, 5_000)
    assert config.is_enabled
    assert (config.default_assignor, list(config.assignors)) == ("uniform", ["uniform", "range"])


@pytest.mark.parametrize(("protocols", "is_enabled"), [("classic", False), ("Classic, consumer", True)])
def test_the_protocol_can_be_switched(protocols: str, is_enabled: bool) -> None:
    values = {"zookeeper.connect": "embedded", "group.coordinator.rebalance.protocols": protocols}
    assert KafkaConfig(values).consumer_groups.is_enabled is is_enabled


def test_what_is_switched_off_is_not_advertised() -> None:
    assert served_versions(consumer_groups=True) == SERVED_VERSIONS
    assert served_versions(consumer_groups=False).keys() == SERVED_VERSIONS.keys() - OF_CONSUMER_GROUPS


def test_kafkas_classes_are_names_of_assignors() -> None:
    java = "org.apache.kafka.coordinator.group.assignor.RangeAssignor"
    config = KafkaConfig({"zookeeper.connect": "embedded", "group.consumer.assignors": java}).consumer_groups
    assert list(config.assignors) == ["range"]


@pytest.mark.parametrize(
    ("policy", "upgrade", "downgrade"),
    [("Disabled", False, False), ("upgrade", True, False), ("downgrade", False, True), ("bidirectional", True, True)],
)
def test_the_policy_says_which_groups_may_change_their_kind(policy: str, upgrade: bool, downgrade: bool) -> None:
    values = {"zookeeper.connect": "embedded", "group.consumer.migration.policy": policy}
    found = KafkaConfig(values).consumer_groups.migration_policy
    assert (found.can_upgrade, found.can_downgrade) == (upgrade, downgrade)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("group.coordinator.rebalance.protocols", "consumer"),
        ("group.coordinator.rebalance.protocols", "classic,streams"),
        ("group.consumer.migration.policy", "sideways"),
        ("group.consumer.assignors", "sticky"),
        ("group.consumer.assignors", ""),
        ("group.consumer.session.timeout.ms", "1000"),
        ("group.consumer.heartbeat.interval.ms", "20000"),
    ],
)
def test_wrong_values_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        KafkaConfig({"zookeeper.connect": "embedded", key: value})


def test_a_heartbeat_must_come_within_the_session() -> None:
    values = {"group.consumer.max.heartbeat.interval.ms": "50000", "group.consumer.heartbeat.interval.ms": "46000"}
    with pytest.raises(ConfigError, match="less than"):
        KafkaConfig({"zookeeper.connect": "embedded", **values})
