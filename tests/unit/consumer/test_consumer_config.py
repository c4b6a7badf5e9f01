"""The consumer's keys."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.consumer.consumer_config import CONFIG, DEVIATIONS, ConsumerConfig

SERVERS = {"bootstrap.servers": "localhost:9092"}
KAFKA = json.loads((Path(__file__).parents[3] / "tests/data/configs-0.10.2.json").read_text())["Consumer"]
SECURITY = ("security.protocol", "ssl.", "sasl.")
"""This consumer has none."""
LIMITS_OF_TODAY = {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"}
"""Keys of which 0.10.2 took any value, and failed later."""


@pytest.mark.parametrize("name", sorted(name for name in KAFKA if not name.startswith(SECURITY)))
def test_every_key_of_0_10_2_exists_unchanged_or_as_a_documented_deviation(name: str) -> None:
    expected, key = KAFKA[name], CONFIG.keys[name]
    assert (key.type.value, key.importance.value) == (expected["type"], expected["importance"])
    default = "[]" if key.type.value == "list" and key.default_text == '""' else key.default_text
    if name in DEVIATIONS:
        assert (DEVIATIONS[name][0], default != expected["default"]) == (expected["default"], True)
    else:
        assert default == expected["default"]
    if name not in LIMITS_OF_TODAY:
        assert ("" if key.validator is None else str(key.validator)) == expected["valid"]


def test_defaults_match_kafka() -> None:
    config = ConsumerConfig(SERVERS | {"group.id": "g"})
    assert config["max.poll.records"] == 500
    assert config["max.partition.fetch.bytes"] == 1048576
    assert config["auto.offset.reset"] == "latest"
    assert config["partition.assignment.strategy"] == ["range"]
    assert config.enable_auto_commit
    assert config["client.id"].startswith("consumer-g-")


def test_without_a_group_nothing_is_committed() -> None:
    config = ConsumerConfig(SERVERS | {"group.id": ""})
    assert config.group_id is None
    assert not config.enable_auto_commit
    with pytest.raises(ConfigError, match=r"group\.id"):
        ConsumerConfig(SERVERS | {"enable.auto.commit": "true"})


def test_the_client_id_of_a_static_member_is_its_instance_id() -> None:
    assert ConsumerConfig(SERVERS | {"group.id": "g", "group.instance.id": "i"})["client.id"] == "consumer-g-i"


def test_the_heartbeat_interval_is_below_the_session_timeout() -> None:
    assert ConsumerConfig(SERVERS | {"session.timeout.ms": 900})["heartbeat.interval.ms"] == 300
    with pytest.raises(ConfigError, match=r"session\.timeout\.ms"):
        ConsumerConfig(SERVERS | {"session.timeout.ms": 900, "heartbeat.interval.ms": 900})


@pytest.mark.parametrize(
    ("key", "value"),
    [("auto.offset.reset", "smallest"), ("max.poll.records", 0), ("isolation.level", "serializable"),
     ("fetch.min.bytes", -1), ("group.instance.id", ""), ("partition.assignment.strategy", "")],
)  # fmt: skip
def test_invalid_values_are_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        ConsumerConfig(SERVERS | {key: value})


def test_bootstrap_servers_are_required_and_unknown_keys_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MissingConfigError):
        ConsumerConfig({})
    with caplog.at_level(logging.WARNING):
        ConsumerConfig(SERVERS | {"zookeeper.connect": "x"})
    assert "zookeeper.connect" in caplog.text


@pytest.mark.parametrize("key", ["session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"])
def test_keys_that_belong_to_the_broker_are_refused(key: str) -> None:
    value = "range" if key.startswith("partition") else "5000"
    with pytest.raises(ConfigError, match=rf"{key}.*cannot be set when group\.protocol=CONSUMER"):
        ConsumerConfig(SERVERS | {"group.protocol": "consumer", key: value})
    assert not ConsumerConfig(SERVERS | {key: value}).is_modern, "the classic protocol is the default"


def test_the_remote_assignor_needs_the_protocol_of_the_broker() -> None:
    with pytest.raises(ConfigError, match=r"cannot be set when group\.protocol=CLASSIC"):
        ConsumerConfig(SERVERS | {"group.remote.assignor": "range"})
    assert ConsumerConfig(SERVERS | {"group.protocol": "CONSUMER", "group.remote.assignor": "range"}).is_modern
    with pytest.raises(ConfigError, match=r"group\.protocol"):
        ConsumerConfig(SERVERS | {"group.protocol": "share"})
