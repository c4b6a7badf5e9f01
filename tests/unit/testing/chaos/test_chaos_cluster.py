"""What a broker of a chaos run may end with, and when it is started again."""

import pytest

from kafka_lite.testing.chaos import chaos_cluster
from kafka_lite.testing.chaos.chaos_cluster import ChaosBroker, ChaosCluster
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper

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
    broker = ChaosBroker(1, tmp_path, {}, ClusterZooKeeper(str), version)
    monkeypatch.setattr(broker, "end_of_log", lambda *_: log)
    assert broker.may_have_ended() is may


FAILED_TO_LOAD = """[2026-11-24 12:10:50,332] INFO Loading transaction metadata from __transaction_state-0 at epoch 138
ERROR Uncaught exception in scheduled task 'load-txns-for-partition-__transaction_state-0'
kafka.zookeeper.ZooKeeperClientExpiredException: Session expired either before or while waiting for connection"""


LEFT_PARTITIONS_OUT = """[2026-11-25 01:29:01,311] ERROR [Broker id=1] Error while processing LeaderAndIsr request with
org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode = Session expired for /config/topics/t"""
REFUSED_A_REQUEST = """ERROR [Broker id=1] Error while processing LeaderAndIsr request with
java.lang.IllegalArgumentException
WARN SessionExpiredException"""


def test_a_broker_of_kafka_that_an_expired_session_has_broken_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(chaos_cluster.real_kafka, "start_command", lambda *_: ["java"])
    cluster = ChaosCluster(tmp_path, 3, kafka_version="3.9.1")
    logs = FAILED_TO_LOAD, FAILED_TO_LOAD, "INFO started", LEFT_PARTITIONS_OUT, REFUSED_A_REQUEST
    for broker_id, version in enumerate(("", *["3.9.1"] * 4)):
        broker = ChaosBroker(broker_id, tmp_path, {}, cluster.zookeeper, version)
        broker.process = ProcessWithALog(logs[broker_id])
        cluster._brokers.append(broker)
    restarted = {1: "would load transactions forever", 3: "left out what its controller told it"}
    assert cluster.restart_those_that_need_it() == restarted, "ours does not log that, and the others have not"
    again = ["kill", "spawn"]
    assert [broker.process.calls for broker in cluster.brokers] == [[], again, [], again, []]
    assert cluster.restart_those_that_need_it() == {}, "its new life has another log"


class ProcessWithALog:
    is_running = True

    def __init__(self, log):
        self.text, self.calls = log, []

    def log(self):
        return self.text

    def kill(self):
        self.calls.append("kill")
        self.is_running = False

    def spawn(self):
        self.calls.append("spawn")
        self.text, self.is_running = "", True
