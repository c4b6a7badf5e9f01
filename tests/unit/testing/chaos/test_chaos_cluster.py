"""What a broker of a chaos run may end with."""

import pytest

from kafka_lite.testing.chaos import chaos_cluster
from kafka_lite.testing.chaos.chaos_cluster import ChaosBroker

OUT_OF_REACH = "kafka_lite.common.errors: Unable to connect to zookeeper server 127.0.0.1:2181"
EXPIRED_AT_START = """ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)
kafka.zookeeper.ZooKeeperClientExpiredException: Session expired either before or while waiting for connection
\tat kafka.zookeeper.ZooKeeperClient.waitUntilConnected(ZooKeeperClient.scala:265)"""


@pytest.mark.parametrize(
    ("version", "log", "may"),
    [
        ("", OUT_OF_REACH, True),
        ("", "Traceback (most recent call last)", False),
        ("3.9.1", EXPIRED_AT_START, True),
        ("3.9.1", "java.lang.OutOfMemoryError: Java heap space", False),
    ],
)
def test_a_broker_may_end_at_its_start_if_zookeeper_is_out_of_reach(tmp_path, monkeypatch, version, log, may):
    monkeypatch.setattr(chaos_cluster.real_kafka, "start_command", lambda *_: ["java"])
    broker = ChaosBroker(1, tmp_path / "broker", 9092, {}, version)
    monkeypatch.setattr(broker, "end_of_log", lambda: log)
    assert broker.may_have_ended() is may
