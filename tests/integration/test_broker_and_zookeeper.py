"""A whole broker whose ZooKeeper stops, returns, or expires its session."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.eventually import eventually
from tests.support.patience import patient_s


@pytest.fixture
def zookeeper(tmp_path):
    server = EmbeddedZooKeeper(tmp_path / "zk", port=free_port(), tick_time_ms=500, force_sync=False)
    server.start()
    yield server
    server.shutdown()


def create(cluster, topic):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)], operation_timeout=30)[topic].result(timeout=patient_s(60))


def test_a_broker_stops_without_its_zookeeper(zookeeper):
    cluster = Cluster({"zookeeper.connect": zookeeper.connect_string}).start()
    zookeeper.shutdown()
    eventually(lambda: not cluster.server.zk_client.zookeeper.is_connected)
    cluster.stop()  # if it waited for ZooKeeper, the test's own limit would end it


def test_a_broker_resumes_when_zookeeper_returns(zookeeper, tmp_path):
    with Cluster({"zookeeper.connect": zookeeper.connect_string}) as cluster:
        create(cluster, "before")
        port = zookeeper.port
        zookeeper.shutdown()
        eventually(lambda: not cluster.server.zk_client.zookeeper.is_connected)
        with EmbeddedZooKeeper(tmp_path / "zk", port=port, tick_time_ms=500, force_sync=False):
            create(cluster, "after")
            assert cluster.server.zk_client.get_broker_ids() == [0]
            assert cluster.server.controller.is_active
            cluster.stop()


def test_a_broker_whose_session_expired_registers_and_becomes_controller_again(zookeeper):
    with Cluster({"zookeeper.connect": zookeeper.connect_string}) as cluster:
        create(cluster, "before")
        server = cluster.server
        epoch = server.controller.epoch
        client_id = server.zk_client.zookeeper._client.client_id
        intruder = KazooClient(zookeeper.connect_string, client_id=client_id)
        intruder.start(60)
        intruder.stop()
        intruder.close()
        eventually(lambda: server.controller.is_active and server.controller.epoch == epoch + 1)
        eventually(lambda: server.zk_client.get_broker_ids() == [0])
        create(cluster, "after")


def test_a_clean_shutdown_keeps_leader_and_isr(zookeeper):
    """No broker is alive afterwards, but the next start finds its leader without an unclean election."""
    cluster = Cluster({"zookeeper.connect": zookeeper.connect_string}).start()
    create(cluster, "t")
    cluster.stop()
    zk_client = KafkaZkClient(zookeeper.connect_string)
    zk_client.start()
    state = zk_client.get_partition_state(TopicPartition("t", 0)).leader_and_isr
    assert (state.leader, state.isr, state.leader_epoch) == (0, [0], 0)
    assert zk_client.get_broker_ids() == []
    assert zk_client.get_controller_id() is None
    zk_client.close()


def test_a_broker_below_a_chroot(zookeeper):
    with Cluster({"zookeeper.connect": f"{zookeeper.connect_string}/kafka/one"}) as cluster:
        create(cluster, "t")
        client = KazooClient(zookeeper.connect_string)
        client.start(60)
        assert client.get_children("/kafka/one/brokers/topics") == ["t"]
        assert set(client.get_children("/")) == {"kafka", "zookeeper"}
        client.stop()
        client.close()
