"""The keys about logs, beyond the types and defaults that test_kafka_config compares with Kafka 0.10.2."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError, Importance, Type
from kafka_lite.server.config.server_log_configs import DEFAULT_LOG_DIR, SERVER_LOG_CONFIGS
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS

KAFKA_0_10_2 = json.loads((Path(__file__).parents[3] / "data" / "configs-0.10.2.json").read_text())["Broker"]
I64 = (1 << 63) - 1

SINCE_0_11 = {
    "log.flush.start.offset.checkpoint.interval.ms": (Type.INT, 60_000, Importance.HIGH),
    "log.cleaner.max.compaction.lag.ms": (Type.LONG, I64, Importance.MEDIUM),
    "log.message.timestamp.before.max.ms": (Type.LONG, I64, Importance.MEDIUM),
    "log.message.timestamp.after.max.ms": (Type.LONG, I64, Importance.MEDIUM),
    "log.message.downconversion.enable": (Type.BOOLEAN, True, Importance.LOW),
    "producer.id.expiration.ms": (Type.INT, 86_400_000, Importance.LOW),
    "producer.id.expiration.check.interval.ms": (Type.INT, 600_000, Importance.LOW),
}
"""As in Kafka 3.9."""


def parsed(**keys: str) -> dict[str, object]:
    return SERVER_LOG_CONFIGS.parse({key.replace("_", "."): value for key, value in keys.items()})


def test_the_keys_since_0_11_are_those_of_kafka_3_9() -> None:
    newer = {key.name: key for key in SERVER_LOG_CONFIGS if key.name not in KAFKA_0_10_2}
    assert {name: (key.type, key.default, key.importance) for name, key in newer.items()} == SINCE_0_11


@pytest.mark.parametrize("name", sorted(SINCE_0_11))
def test_the_description_of_a_newer_key_says_since_when(name: str) -> None:
    """Unless it is about all versions: a book about 0.10 has readers who look for the key there."""
    assert "(since Kafka " in SERVER_LOG_CONFIGS.keys[name].doc


def test_a_reboot_does_not_delete_the_default_directory() -> None:
    default = Path(DEFAULT_LOG_DIR)
    kept = [Path(os.environ.get("XDG_DATA_HOME") or Path.home()), Path.home()]
    assert any(default.is_relative_to(folder) for folder in kept)
    assert default.parts[-2:] == ("kafka-lite", "kafka-logs")
    assert (parsed()["log.dir"], parsed()["log.dirs"]) == (DEFAULT_LOG_DIR, None)


@pytest.mark.parametrize(
    ("name", "lowest"),
    [
        ("log.segment.bytes", 14),
        ("log.roll.hours", 1),
        ("log.roll.jitter.hours", 0),
        ("log.retention.check.interval.ms", 1),
        ("log.cleaner.threads", 0),
        ("log.index.size.max.bytes", 4),
        ("log.flush.interval.messages", 1),
        ("log.cleaner.max.compaction.lag.ms", 1),
        ("log.flush.start.offset.checkpoint.interval.ms", 0),
        ("log.message.timestamp.before.max.ms", 0),
        ("log.message.timestamp.after.max.ms", 0),
        ("num.recovery.threads.per.data.dir", 1),
        ("min.insync.replicas", 1),
        ("producer.id.expiration.ms", 1),
        ("producer.id.expiration.check.interval.ms", 1),
    ],
)
def test_a_number_may_be_as_small_as_in_kafka(name: str, lowest: int) -> None:
    assert SERVER_LOG_CONFIGS.parse({name: str(lowest)})[name] == lowest
    with pytest.raises(ConfigError, match=f"{name}: Value must be at least {lowest}"):
        SERVER_LOG_CONFIGS.parse({name: str(lowest - 1)})


def test_a_policy_may_be_both_to_compact_and_to_delete() -> None:
    assert parsed(log_cleanup_policy="compact, delete")["log.cleanup.policy"] == ["compact", "delete"]
    with pytest.raises(ConfigError, match=r"log\.cleanup\.policy"):
        parsed(log_cleanup_policy="compact,purge")


def test_a_timestamp_is_either_the_producers_or_the_brokers() -> None:
    assert parsed(log_message_timestamp_type="LogAppendTime")["log.message.timestamp.type"] == "LogAppendTime"
    with pytest.raises(ConfigError, match=r"log\.message\.timestamp\.type"):
        parsed(log_message_timestamp_type="logappendtime")


def test_of_a_setting_in_several_units_only_the_coarsest_has_a_default() -> None:
    """So that a coarse value that is set is not hidden by the default of a finer one."""
    defaults = SERVER_LOG_CONFIGS.parse({})
    for synonyms in TOPIC_CONFIG_SYNONYMS.values():
        finer, coarsest = synonyms[:-1], synonyms[-1]
        assert [each.name for each in finer if defaults[each.name] is not None] == []
        assert coarsest.name not in defaults or defaults[coarsest.name] is not None
