"""Dynamic defaults of topics, changed by unmodified clients: which log uses which value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import ConfigSource
from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType, KafkaAdminClient

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.testing.cluster import Cluster
from tests.support.broker_configs import BrokerAdmin, alter_all_brokers
from tests.support.eventually import eventually

LARGEST, RETENTION = "message.max.bytes", "log.retention.ms"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster({"log.retention.hours": "2", "log.retention.check.interval.ms": "1000"}, tmp_path) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    """For tests that leave only topics behind."""
    with Cluster() as cluster:
        yield cluster


def log_of(cluster: Cluster, topic: str) -> Log:
    log = cluster.server.log_manager.get_log(TopicPartition(topic, 0))
    assert log is not None
    return log


def leads(cluster: Cluster, topic: str) -> bool:
    partition = cluster.server.replica_manager.get_partition(TopicPartition(topic, 0))
    return partition is not None and partition.leader_replica_if_local is not None


def takes(cluster: Cluster, topic: str) -> bool:
    """Whether a topic accepts 300 bytes."""
    try:
        cluster.produce(topic, b"v" * 300)
    except ApiError as error:
        if error.error is Errors.MESSAGE_TOO_LARGE:
            return False
        raise
    return True


def test_logs_use_a_new_default_at_once_unless_their_topic_overrides_it(cluster: Cluster) -> None:
    admin = BrokerAdmin(cluster)
    cluster.create_topic("plain")
    cluster.create_topic("own", configs={"max.message.bytes": "2000"})
    assert alter_all_brokers(cluster, "--add-config", f"{LARGEST}=200") == 0
    eventually(lambda: not takes(cluster, "plain"))
    assert takes(cluster, "own")
    cluster.create_topic("new")
    assert not takes(cluster, "new")
    assert admin.describe("max.message.bytes", "new") == ("200", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
    admin.alter(LARGEST, "250")
    eventually(lambda: log_of(cluster, "plain").config.max_message_bytes == 250)
    cluster.restart()
    eventually(lambda: all(leads(cluster, topic) for topic in ("plain", "own", "new")))
    assert not takes(cluster, "plain")
    assert log_of(cluster, "new").config.max_message_bytes == 250
    assert takes(cluster, "own")
    assert alter_all_brokers(cluster, "--delete-config", LARGEST) == 0
    BrokerAdmin(cluster).alter(LARGEST, None)
    eventually(lambda: takes(cluster, "plain"))
    assert log_of(cluster, "own").config.max_message_bytes == 2000


def test_describe_returns_the_source_of_a_value(shared: Cluster) -> None:
    admin = BrokerAdmin(shared)
    shared.create_topic("t", configs={"max.message.bytes": "4"})
    assert alter_all_brokers(shared, "--add-config", f"{LARGEST}=2") == 0
    admin.alter(LARGEST, "3")
    eventually(lambda: admin.describe(LARGEST) == ("3", ConfigSource.DYNAMIC_BROKER_CONFIG))
    assert admin.describe("max.message.bytes", "t") == ("4", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    admin.alter("max.message.bytes", None, "t")
    eventually(lambda: admin.describe("max.message.bytes", "t") == ("3", ConfigSource.DYNAMIC_BROKER_CONFIG))
    admin.alter(LARGEST, None)
    eventually(lambda: admin.describe(LARGEST) == ("2", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG))
    assert alter_all_brokers(shared, "--delete-config", LARGEST) == 0
    eventually(lambda: admin.describe(LARGEST) == ("1048588", ConfigSource.DEFAULT_CONFIG))
    assert admin.describe("max.message.bytes", "t") == ("1048588", ConfigSource.DEFAULT_CONFIG)


def test_a_dynamic_value_in_ms_precedes_the_hours_of_the_file(cluster: Cluster) -> None:
    admin = BrokerAdmin(cluster)
    cluster.create_topic("t", configs={"segment.bytes": "1000"})
    assert admin.describe("retention.ms", "t") == ("7200000", ConfigSource.DEFAULT_CONFIG)  # in Kafka, too
    cluster.produce("t", b"old" * 300)
    cluster.produce("t", b"older than the next segment" * 30)
    admin.alter(RETENTION, "60000")
    eventually(lambda: log_of(cluster, "t").config.retention_ms == 60_000)
    assert admin.describe("retention.ms", "t") == ("60000", ConfigSource.DYNAMIC_BROKER_CONFIG)
    cluster.time.advance(minutes=2)
    eventually(lambda: log_of(cluster, "t").log_start_offset > 0)
    admin.alter(RETENTION, None)
    eventually(lambda: log_of(cluster, "t").config.retention_ms == 7_200_000)
    assert admin.entry("log.retention.hours").is_read_only
    assert not admin.entry(RETENTION).is_read_only


def test_defaults_altered_with_kafka_python(shared: Cluster) -> None:
    shared.create_topic("python")
    client = KafkaAdminClient(bootstrap_servers=shared.bootstrap_servers)
    try:
        resource = ConfigResource(ConfigResourceType.BROKER, "0", configs={"compression.type": "gzip"})
        client.alter_configs([resource])
        eventually(lambda: log_of(shared, "python").config.compression_type == "gzip")
        # Of a batch sent without compression; now a request handler appends it, no longer the network thread.
        shared.produce("python", b"much the same" * 300)
        assert log_of(shared, "python").size < 500
        assert shared.values("python") == [b"much the same" * 300]
        resource = ConfigResource(
            ConfigResourceType.BROKER, "0", configs={"log.cleanup.policy": (AlterConfigOp.APPEND, "compact")}
        )
        client.alter_configs([resource])
        eventually(lambda: log_of(shared, "python").config.cleanup_policy == ["delete", "compact"])
    finally:
        client.close()
    BrokerAdmin(shared).alter("log.cleanup.policy", None)
    BrokerAdmin(shared).alter("compression.type", None)
    eventually(lambda: log_of(shared, "python").config.compression_type == "producer")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("log.message.format.version", "2.0", "Cannot update these configs dynamically"),
        ("log.retention.hours", "5", "Cannot update these configs dynamically"),
        ("log.retention.ms", "-2", "must be unlimited"),
        ("min.insync.replicas", "0", "Value must be at least 1"),
        ("log.message.timestamp.type", "Yesterday", "String must be one of: CreateTime, LogAppendTime"),
        ("log.message.timestamp.before.max.ms", "-1", "Value must be at least 0"),
        ("compression.type", "rar", "String must be one of"),
        ("unclean.leader.election.enable", "perhaps", "true or false"),
        ("log.index.size.max.bytes", "8", "log.index.size.max.bytes: Value must be at least 12"),
        ("log.cleaner.min.cleanable.ratio", "2", "Value must be no more than 1"),
        ("log.flush.interval.ms", "-1", "log.flush.interval.ms: Value must be at least 0"),
        ("log.cleaner.max.compaction.lag.ms", "0", "Value must be at least 1"),
    ],
)
def test_invalid_values_are_rejected(shared: Cluster, key: str, value: str, says: str) -> None:
    with pytest.raises(KafkaException, match=says) as caught:
        BrokerAdmin(shared).alter(key, value)
    assert caught.value.args[0].name() == "INVALID_REQUEST"


def test_values_that_are_invalid_for_topics_are_rejected(shared: Cluster) -> None:
    admin = BrokerAdmin(shared)
    configs = shared.server.log_manager.configs
    longest = configs.default.max_compaction_lag_ms
    admin.alter("log.cleaner.max.compaction.lag.ms", "1000")
    eventually(lambda: configs.default.max_compaction_lag_ms == 1000)
    with pytest.raises(KafkaException, match=r"conflicts with log\.cleaner\.max\.compaction\.lag\.ms = 1000"):
        admin.alter("log.cleaner.min.compaction.lag.ms", "2000")
    with pytest.raises(ApiError, match=r"conflicts with max\.compaction\.lag\.ms = 1000"):
        shared.create_topic("contradiction", configs={"min.compaction.lag.ms": "2000"})
    admin.alter("log.cleaner.max.compaction.lag.ms", None)
    eventually(lambda: configs.default.max_compaction_lag_ms == longest)
    assert admin.describe("log.cleaner.max.compaction.lag.ms")[1] == ConfigSource.DEFAULT_CONFIG
    shared.create_topic("no-contradiction", configs={"min.compaction.lag.ms": "2000"})
