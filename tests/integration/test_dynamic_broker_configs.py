"""Dynamic broker configs that unmodified admin clients change, and their effects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import ConfigSource

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.network.connection_quotas import TooManyConnectionsError
from kafka_lite.testing.cluster import Cluster
from tests.support.broker_configs import BrokerAdmin, alter_all_brokers
from tests.support.eventually import eventually
from tests.support.patience import patient_s

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
    """For the tests in which every alteration is rejected."""
    with Cluster(BROKER) as cluster:
        yield cluster


def test_the_number_of_cleaner_threads_is_dynamic(cluster: Cluster) -> None:
    admin = BrokerAdmin(cluster)
    assert admin.describe(THREADS) == ("1", ConfigSource.STATIC_BROKER_CONFIG)
    assert alter_all_brokers(cluster, "--add-config", f"{THREADS}=2") == 0
    eventually(lambda: len(cleaner_of(cluster).cleaners) == 2)
    assert admin.describe(THREADS) == ("2", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
    admin.replace(THREADS, "4")
    eventually(lambda: len(cleaner_of(cluster).cleaners) == 4)
    assert admin.describe(THREADS) == ("4", ConfigSource.DYNAMIC_BROKER_CONFIG)
    # A restarted broker starts with the dynamic value: a step from 1 in server.properties to 4 would be too large.
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
        ("log.cleaner.dedupe.buffer.size", "1000", "must be more than 1 MiB per cleaner thread"),
        ("log.cleaner.enable", "false", "Cannot update these configs dynamically"),
    ],
)
def test_values_that_the_cleaner_rejects(
    unchanged: Cluster, capsys: pytest.CaptureFixture[str], key: str, value: str, says: str
) -> None:
    with pytest.raises(KafkaException, match=says) as caught:
        BrokerAdmin(unchanged).alter(key, value)
    assert caught.value.args[0].name() == "INVALID_REQUEST"
    assert alter_all_brokers(unchanged, "--add-config", f"{key}={value}") == 1
    assert says in capsys.readouterr().err
    assert unchanged.server.zk_client.get_entities("brokers") == []


def test_a_higher_rate_resumes_a_throttled_cleaning(cluster: Cluster) -> None:
    cleaner_of(cluster).throttler._check_interval_ms = -1  # any byte exceeds the rate
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


def test_limits_of_connections_per_address_are_dynamic(cluster: Cluster) -> None:
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


def handlers_of(cluster: Cluster) -> int:
    """Threads that have not ended."""
    return sum(thread.is_alive() for thread in cluster.server._handler_pool._threads.values())


def background_threads_of(cluster: Cluster) -> int:
    return sum(thread.is_alive() for thread in cluster.server.scheduler._threads)


def test_thread_pools_are_resized_under_load(cluster: Cluster) -> None:
    """Network threads handle quick requests, but handlers append to a topic whose batches are recompressed."""
    cluster.create_topic("t", configs={"compression.type": "gzip"})
    admin = BrokerAdmin(cluster)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "retries": 0, "linger.ms": 0})
    failed: list[object] = []

    def send(first: int) -> None:
        for number in range(first, first + 100):
            producer.produce("t", b"%d" % number, on_delivery=lambda error, _: failed.append(error) if error else None)
            producer.poll(0)

    for turn, threads in enumerate((8, 4, 2, 1, 2, 4)):
        send(turn * 100)
        admin.alter("num.io.threads", str(threads))
        eventually(partial(lambda wanted: handlers_of(cluster) == wanted, threads))
        admin.alter("background.threads", str(10 + threads))
        eventually(partial(lambda wanted: background_threads_of(cluster) == wanted, 10 + threads))
    assert producer.flush(patient_s(60)) == 0
    assert failed == []
    assert [int(value or b"") for value in cluster.values("t")] == list(range(600))


def test_sizes_of_thread_pools_survive_a_restart(cluster: Cluster) -> None:
    admin = BrokerAdmin(cluster)
    for threads in (8, 16):
        admin.alter("num.io.threads", str(threads))
        eventually(partial(lambda wanted: handlers_of(cluster) == wanted, threads))
        admin.alter("num.recovery.threads.per.data.dir", str(threads // 4))
        eventually(partial(lambda wanted: cluster.server.log_manager._recovery_threads == wanted, threads // 4))
    admin.alter("background.threads", "5")
    eventually(lambda: background_threads_of(cluster) == 5)
    cluster.restart()
    assert handlers_of(cluster) == 16
    assert cluster.server.log_manager._recovery_threads == 4
    eventually(lambda: background_threads_of(cluster) == 5)
    # The way back to the file's value is limited to the same steps.
    with pytest.raises(KafkaException, match="value should be at least half the current value 16"):
        BrokerAdmin(cluster).alter("num.io.threads", None)
    BrokerAdmin(cluster).alter("num.io.threads", "8")
    eventually(lambda: handlers_of(cluster) == 8)
    BrokerAdmin(cluster).alter("num.io.threads", None)
    eventually(lambda: handlers_of(cluster) == 4)


def test_producer_id_expiration_is_dynamic(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True})
    cluster.create_topic("t")
    producer.produce("t", b"one")
    assert producer.flush(patient_s(60)) == 0
    log = cluster.server.log_manager.get_log(TopicPartition("t", 0))
    assert log is not None
    cluster.time.advance(minutes=20)
    eventually(lambda: cluster.server.scheduler.is_idle)
    assert len(log.producer_state.active_producers) == 1
    BrokerAdmin(cluster).alter("producer.id.expiration.ms", "60000")
    eventually(lambda: cluster.server.log_manager.producer_config.producer_id_expiration_ms == 60_000)
    cluster.time.advance(minutes=20)
    eventually(lambda: not log.producer_state.active_producers)
