import json
import logging
from pathlib import Path

import pytest

from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kafka_lite.server.kafka_config import DEVIATIONS, KAFKA_CONFIG_DEF, KafkaConfig

MIB = 1 << 20

ROOT = Path(__file__).parents[3]
KAFKA = json.loads((ROOT / "tests/data/configs-0.10.2.json").read_text())


def config(**overrides):
    return KafkaConfig({"zookeeper.connect": "zk:2181", **{key.replace("_", "."): v for key, v in overrides.items()}})


def as_kafka_prints(key):
    text = key.default_text
    if key.type.value == "list" and text != "null":
        return "[]" if text == '""' else f"[{', '.join(key.default)}]"
    if key.type.value == "class" and text != "null":
        return f"class {text}"
    return text.replace("1.7976931348623157e+308", "1.7976931348623157E308")


@pytest.mark.parametrize("name", sorted(KAFKA["Broker"]))
def test_every_key_of_0_10_2_has_its_type_default_and_importance(name):
    expected, key = KAFKA["Broker"][name], KAFKA_CONFIG_DEF.keys[name]
    assert key.type.value == expected["type"]
    assert key.importance.value == expected["importance"]
    if name in DEVIATIONS:
        assert expected["default"] == DEVIATIONS[name][0]
        assert as_kafka_prints(key) != expected["default"]
    else:
        assert as_kafka_prints(key) == expected["default"]
    assert len(key.doc) > 10


RANGES_THAT_DIFFER = {
    "max.connections.per.ip",  # 0 has been allowed since 1.1
    "compression.type",  # 0.10.2 validates it later
    "offsets.topic.compression.codec",
}


@pytest.mark.parametrize("name", sorted(set(KAFKA["Broker"]) - RANGES_THAT_DIFFER))
def test_every_key_of_0_10_2_accepts_the_same_values(name):
    validator = KAFKA_CONFIG_DEF.keys[name].validator
    shown = "" if name == "zookeeper.connect" or validator is None else str(validator)
    assert shown == KAFKA["Broker"][name]["valid"]


def test_every_topic_key_of_0_10_2_but_two_has_a_broker_default():
    assert set(KAFKA["Topic"]) - set(TOPIC_CONFIG_SYNONYMS) == {
        "leader.replication.throttled.replicas",
        "follower.replication.throttled.replicas",
    }
    topic_defaults = config().log_config_map()
    for name in ("segment.ms", "retention.ms", "flush.ms", "segment.bytes", "delete.retention.ms", "segment.jitter.ms"):
        assert str(topic_defaults[name]) == KAFKA["Topic"][name]["default"]


def test_the_shipped_file_is_valid_and_all_its_keys_are_known(caplog):
    shipped = KafkaConfig.from_file(ROOT / "config/server.properties", {"num.partitions": "4"})
    assert not caplog.records
    assert shipped.zk_connect == "embedded"
    assert shipped.listeners == [EndPoint("127.0.0.1", 9092, "PLAINTEXT", SecurityProtocol.PLAINTEXT)]
    assert shipped.num_partitions == 4
    assert shipped.log_dirs[0].endswith("kafka-lite/kafka-logs")


def test_an_unknown_key_is_warned_about(caplog):
    with caplog.at_level(logging.WARNING):
        config(no_such_key="x")
    assert "no.such.key" in caplog.text


def test_zookeeper_connect_is_required():
    with pytest.raises(MissingConfigError, match=r"zookeeper\.connect"):
        KafkaConfig({})


def test_a_missing_key_falls_back_to_another_key():
    c = config(log_dir="/a")
    assert c.log_dirs == ["/a"]
    assert config(log_dir="/a", log_dirs="/b, /c").log_dirs == ["/b", "/c"]
    assert c.zk_connection_timeout_ms == 6000
    assert config(zookeeper_connection_timeout_ms="1").zk_connection_timeout_ms == 1
    assert config(log_roll_hours="1").log_roll_ms == 3_600_000
    assert config(log_roll_ms="5", log_roll_hours="1").log_roll_ms == 5


@pytest.mark.parametrize(
    ("keys", "ms"),
    [
        ({}, 7 * 24 * 3_600_000),
        ({"log_retention_hours": "1"}, 3_600_000),
        ({"log_retention_minutes": "30", "log_retention_hours": "1"}, 1_800_000),
        ({"log_retention_ms": "5", "log_retention_minutes": "30"}, 5),
        ({"log_retention_ms": "-1"}, -1),
        ({"log_retention_minutes": "-1"}, -1),
        ({"log_retention_hours": "-1"}, -1),
    ],
)
def test_log_retention_falls_back_from_ms_to_minutes_to_hours(keys, ms):
    c = config(**keys)
    assert c.log_retention_ms == ms
    assert c.log_config_map()["retention.ms"] == ms


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"log_index_size_max_bytes": "8"}, r"log\.index\.size\.max\.bytes: Value must be at least 12"),
        ({"log_flush_scheduler_interval_ms": "-1"}, r"log\.flush\.scheduler\.interval\.ms: Value must be at least 0"),
        ({"log_cleaner_min_cleanable_ratio": "1.1"}, r"log\.cleaner\.min\.cleanable\.ratio: Value must be no more"),
        ({"log_cleaner_min_compaction_lag_ms": "3", "log_cleaner_max_compaction_lag_ms": "2"}, "conflicts with"),
    ],
)
def test_defaults_that_are_invalid_for_topics_are_rejected(keys, says):
    with pytest.raises(ConfigError, match=says):
        config(**keys)


def test_protocol_and_message_format_versions():
    c = config(inter_broker_protocol_version="0.10.2", log_message_format_version="0.9.0.1")
    assert c.inter_broker_protocol_version is ApiVersion.KAFKA_0_10_2_IV0
    assert c.log_message_format_version is ApiVersion.KAFKA_0_9_0
    assert config().log_message_format_version.magic == 2


@pytest.mark.parametrize(
    ("keys", "name", "says"),
    [
        ({"num_io_threads": "0"}, "num.io.threads", "at least 1"),
        ({"num_io_threads": "x"}, "num.io.threads", "must be an integer"),
        ({"broker_id": "1001"}, "broker.id", "reserved.broker.max.id (1000)"),
        ({"broker_id": "-2"}, "broker.id", "between -1"),
        ({"broker_id_generation_enable": "false"}, "broker.id", "0 or more"),
        ({"listeners": "SSL://h:1"}, "security.inter.broker.protocol", "one of SSL"),
        ({"max_connections_per_ip_overrides": "h:many"}, "max.connections.per.ip.overrides", "host:number"),
        ({"log_retention_ms": "0"}, "log.retention.ms", "unlimited (-1)"),
        ({"log_retention_ms": "-2"}, "log.retention.ms", "unlimited (-1)"),
        ({"log_roll_ms": "0"}, "log.roll.ms", "greater than 1"),
        ({"log_roll_jitter_ms": "-1"}, "log.roll.jitter.ms", "greater than 0"),
        ({"log_cleaner_io_buffer_load_factor": "0.0009"}, "log.cleaner.io.buffer.load.factor", "between 0.001"),
        ({"log_cleaner_io_buffer_load_factor": "1.01"}, "log.cleaner.io.buffer.load.factor", "between 0.001"),
        ({"log_dirs": "/a,,/b"}, "log.dirs", "empty"),
        ({"log_message_format_version": "0.12"}, "log.message.format.version", "3.9"),
        (
            {"inter_broker_protocol_version": "0.10.2", "log_message_format_version": "0.11.0"},
            "log.message.format.version",
            "inter.broker.protocol.version=0.10.2",
        ),
        ({"log_cleaner_dedupe_buffer_size": "1000"}, "log.cleaner.dedupe.buffer.size", "1 MiB"),
        (
            {"log_cleaner_dedupe_buffer_size": str(2 * MIB), "log_cleaner_threads": "2"},
            "log.cleaner.dedupe.buffer.size",
            "1 MiB",
        ),
        ({"offsets_commit_required_acks": "-2"}, "offsets.commit.required.acks", "between -1"),
        ({"replica_fetch_wait_max_ms": "40000"}, "replica.socket.timeout.ms", "40000"),
        ({"replica_lag_time_max_ms": "499"}, "replica.lag.time.max.ms", "500"),
        ({"offsets_commit_required_acks": "4"}, "offsets.commit.required.acks", "(3)"),
        ({"compression_type": "zip"}, "compression.type", "gzip"),
        (
            {"authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
            "authorizer.class.name",
            "or kafka.security.auth.SimpleAclAuthorizer, or a Python class of your own",
        ),
        ({"create_topic_policy_class_name": "a.B"}, "create.topic.policy.class.name", "policies"),
    ],
)
def test_an_invalid_value_is_rejected_with_key_and_advice(keys, name, says):
    with pytest.raises(ConfigError) as caught:
        config(**keys)
    assert caught.value.name == name
    assert f"configuration {name}" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"broker_id": "-1"},
        {"broker_id": "1000"},
        {"broker_id": "0", "broker_id_generation_enable": "false"},
        {"broker_id": "1001", "broker_id_generation_enable": "false"},
        {"log_roll_ms": "1"},
        {"log_roll_jitter_ms": "0"},
        {"log_retention_ms": "1"},
        {"log_cleaner_dedupe_buffer_size": str(2 * MIB + 2), "log_cleaner_threads": "2"},
        {"log_cleaner_dedupe_buffer_size": "1", "log_cleaner_threads": "0"},
        {"log_cleaner_io_buffer_load_factor": "0.001"},
        {"log_cleaner_io_buffer_load_factor": "1"},
        {"log_cleaner_min_compaction_lag_ms": "3", "log_cleaner_max_compaction_lag_ms": "3"},
        {"inter_broker_protocol_version": "0.11.0", "log_message_format_version": "0.11.0"},
        {"replica_fetch_wait_max_ms": "700", "replica_socket_timeout_ms": "700", "replica_lag_time_max_ms": "700"},
        {"offsets_commit_required_acks": "-1"},
        {"offsets_commit_required_acks": "2", "offsets_topic_replication_factor": "2"},
    ],
)
def test_a_value_at_its_bound_is_valid(keys):
    config(**keys)
