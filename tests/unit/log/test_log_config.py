"""LogConfig: all topic keys, their defaults, and which values are rejected."""

from __future__ import annotations

import json

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.log.log_config import LOG_CONFIG_DEF, LogConfig, magic_of_message_format_version
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import TimestampType
from tests.support.samples import DATA


def test_every_key_is_an_attribute() -> None:
    config = LogConfig()
    for name, value in config.values.items():
        attribute = getattr(config, name.replace(".", "_"))
        if name != "message.timestamp.type":
            assert attribute == value
    assert config.message_timestamp_type is TimestampType.CREATE_TIME


def test_topic_values_override_the_brokers() -> None:
    config = LogConfig({"retention.ms": "5"}, {"retention.ms": 7, "segment.bytes": 1000})
    assert (config.retention_ms, config.segment_bytes) == (5, 1000)
    assert config.overridden == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("version", "magic"),
    [
        ("0.8.2", 0), ("0.9.0.X", 0), ("0.10.0-IV0", 1), ("0.10.2", 1), ("0.10.2-IV0", 1),
        ("0.11.0", 2), ("1.0", 2), ("2.8-IV1", 2), ("3.0-IV1", 2), ("4.0", 2),
    ],
)  # fmt: skip
def test_message_format(version: str, magic: int) -> None:
    assert magic_of_message_format_version(version) == magic
    assert LogConfig({"message.format.version": version}).magic == magic


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("message.format.version", "0.7.0"),
        ("message.format.version", "latest"),
        ("segment.bytes", 13),
        ("segment.bytes", 2**31),
        ("retention.ms", -2),
        ("cleanup.policy", "shred"),
        ("compression.type", "rar"),
        ("message.timestamp.type", "Never"),
        ("min.cleanable.dirty.ratio", 1.5),
        ("min.insync.replicas", 0),
        ("leader.replication.throttled.replicas", "1-2"),
        ("preallocate", "maybe"),
    ],
)
def test_invalid_values_are_rejected(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        LogConfig({key: value})


def test_unknown_names_are_ignored() -> None:
    assert LogConfig({"retention.sm": 1}).retention_ms == LogConfig({}).retention_ms


def test_cleanup_policies() -> None:
    both = LogConfig({"cleanup.policy": "compact,delete"})
    assert (both.compact, both.delete) == (True, True)
    assert (LogConfig().compact, LogConfig().delete) == (False, True)


def test_target_compression() -> None:
    kinds = {name: LogConfig({"compression.type": name}).target_compression for name in ("producer", "uncompressed")}
    assert kinds == {"producer": None, "uncompressed": CompressionType.NONE}
    assert LogConfig({"compression.type": "zstd"}).target_compression is CompressionType.ZSTD


def test_timestamp_bounds() -> None:
    config = LogConfig({"message.timestamp.difference.max.ms": 100, "message.timestamp.after.max.ms": 50})
    assert (config.timestamp_before_max_ms, config.timestamp_after_max_ms) == (100, 50)


def test_keys_and_defaults_match_kafka_0_10_2() -> None:
    changed_since = {
        "message.format.version": "3.0-IV1", "unclean.leader.election.enable": "false", "max.message.bytes": "1048588",
    }  # fmt: skip
    topic_keys = json.loads((DATA / "configs-0.10.2.json").read_text())["Topic"]
    assert len(topic_keys) == 24
    for name, row in topic_keys.items():
        expected = changed_since.get(name, row["default"].strip("[]"))
        assert LOG_CONFIG_DEF.keys[name].default_text.strip('"') == expected
