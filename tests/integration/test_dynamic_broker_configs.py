"""What unmodified admin clients change of a broker while it runs, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import ConfigSource

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_cleaner import LogCleaner
from kafka_lite.network.connection_quotas import TooManyConnectionsError
from kafka_lite.testing.cluster import Cluster
from tests.support.broker_configs import BrokerAdmin, alter_all_brokers
from tests.support.eventually import eventually

THREADS, RATE = "log.cleaner.threads", "log.cleaner.io.max.bytes.per.second"
BROKER = {THREADS: "1", RATE: "0", "log.cleaner.backoff.ms": "20", "log.cleaner.dedupe.buffer.size": "9000000"}


def cleaner_of(cluster: Cluster) -> LogCleaner:
    cleaner = cluster.server.log_manager.cleaner
    assert cleaner is not None
    return cleaner


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(BROKER, tmp_path) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def unchanged() -> Iterator[Cluster]:
    """For all tests in which every alteration is refused."""
    with Cluster(BROKER) as cluster:
        yield cluster


def test_cleaner_threads(cluster: Cluster) -> None:
    admin = BrokerAdmin(cluster)
    assert admin.describe(THREADS) == ("1", ConfigSource.STATIC_BROKER_CONFIG)
    assert alter_all_brokers(cluster, "--add-config", f"{THREADS}=2") == 0
    eventually(lambda: len(cleaner_of(cluster).cleaners) == 2)
    assert admin.describe(THREADS) == ("2", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
    admin.replace(THREADS, "4")
    eventually(lambda: len(cleaner_of(cluster).cleaners) == 4)
    assert admin.describe(THREADS) == ("4", ConfigSource.DYNAMIC_BROKER_CONFIG)
    # A restarted broker begins where it stood: from server.properties' 1 to 4 would be too large a step.
    cluster.restart()
    assert len(cleaner_of(cluster).cleaners) == 4
    BrokerAdmin(cluster).alter(THREADS, None)
    eventually(lambda: len(cleaner_of(cluster).cleaners) == 2)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        (THREADS, "3", "cannot be increased to more than double the current value 1"),
        (THREADS, "0", "should be at least 1"),
        (THREADS, "many", "Not a number of type INT"),
        ("log.cleaner.dedupe.buffer.size", "1000", "more than 1 MiB per cleaner thread is needed"),
        ("log.cleaner.enable", "false", "Cannot update these configs dynamically"),
    ],
)
def test_what_the_cleaner_refuses(
    unchanged: Cluster, capsys: pytest.CaptureFixture[str], key: str, value: str, says: str
) -> None:
    with pytest.raises(KafkaException, match=says) as caught:
        BrokerAdmin(unchanged).alter(key, value)
    assert caught.value.args[0].name() == "INVALID_REQUEST"
    assert alter_all_brokers(unchanged, "--add-config", f"{key}={value}") == 1
    assert says in capsys.readouterr().err
    assert unchanged.server.zk_client.get_entities("brokers") == []


def test_a_cleaning_that_stands_still_gets_going(cluster: Cluster) -> None:
    cleaner_of(cluster).throttler._check_interval_ms = -1  # the first byte is too much
    cluster.create_topic("compacted", configs={"cleanup.policy": "compact", "segment.bytes": "2000"})
    for n in range(100):
        cluster.produce("compacted", b"%d" % n, key=b"key")
    partition, manager = TopicPartition("compacted", 0), cleaner_of(cluster).cleaner_manager
    eventually(lambda: manager.cleaning_state(partition).name == "LOG_CLEANING_IN_PROGRESS")
    assert manager.all_cleaner_checkpoints() == {}
    BrokerAdmin(cluster).alter(RATE, "1e9")
    eventually(lambda: manager.all_cleaner_checkpoints().get(partition, 0) > 0)
    eventually(lambda: len(cluster.records("compacted")) < 100)
    assert cluster.values("compacted")[-1] == b"99"


def test_connections_of_an_address(cluster: Cluster) -> None:
    quotas = cluster.server.socket_server.connection_quotas
    admin = BrokerAdmin(cluster)
    admin.alter("max.connections.per.ip.overrides", "10.9.8.7:1")

    def is_limited() -> bool:
        quotas.inc("10.9.8.7")
        try:
            quotas.inc("10.9.8.7")
        except TooManyConnectionsError:
            return True
        else:
            quotas.dec("10.9.8.7")
            return False
        finally:
            quotas.dec("10.9.8.7")

    eventually(is_limited)
    assert admin.describe("max.connections.per.ip.overrides") == ("10.9.8.7:1", ConfigSource.DYNAMIC_BROKER_CONFIG)
    with pytest.raises(KafkaException, match="host:number"):
        admin.alter("max.connections.per.ip.overrides", "10.9.8.7:one")
    admin.alter("max.connections.per.ip.overrides", None)
    eventually(lambda: not is_limited())
