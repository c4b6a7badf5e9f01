"""A cluster of processes has the verbs of ``Cluster``: one test for each group of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import BrokerStartError
from kafka_lite.testing.process_cluster import ProcessCluster
from tests.support.eventually import eventually


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    with ProcessCluster(tmp_path_factory.mktemp("cluster"), {"num.partitions": "2"}) as cluster:
        yield cluster


def test_topics_and_records(cluster: ProcessCluster) -> None:
    cluster.create_topic("orders", 2)
    assert cluster.topics["orders"] == 2
    assert cluster.produce("orders", "one", "two", partition=1) == 0
    assert cluster.values("orders") == [b"one", b"two"]
    assert [each.partition for each in cluster.wait_for_records("orders", 2)] == [1, 1]
    assert {cluster.leader_of("orders", number).id for number in range(2)} <= {0, 1, 2}
    cluster.delete_topic("orders")
    assert "orders" not in cluster.topics


def test_a_killed_leader_is_replaced_and_returns_to_the_isr(cluster: ProcessCluster) -> None:
    cluster.create_topic("killed")
    cluster.produce("killed", "before")
    old = cluster.leader_of("killed")
    old.kill()
    assert not old.is_running
    new = cluster.leader_of("killed", other_than=old)
    cluster.produce("killed", "after")
    assert cluster.isr("killed") == {0, 1, 2} - {old.id}
    old.start()
    cluster.wait_for_isr("killed")
    cluster.move_leadership(old, "killed")
    assert cluster.leader_of("killed", other_than=new) is old
    assert cluster.values("killed") == [b"before", b"after"]


def test_a_clean_stop_ends_with_0_and_a_restart_has_a_log_of_its_own(cluster: ProcessCluster) -> None:
    broker = cluster.brokers[2]
    lives = broker.starts
    assert broker.stop() == 0
    broker.start()
    broker.restart()
    assert (broker.folder / f"broker-{lives + 2}.log").exists()
    # It takes connections from the moment that its socket listens, a little before it says so.
    eventually(lambda: "Awaiting socket connections" in broker.log())
    cluster.wait_for_controller()


def test_a_paused_broker_leaves_the_isr_and_comes_back(cluster: ProcessCluster) -> None:
    cluster.create_topic("paused")
    leader = cluster.leader_of("paused")
    follower = next(broker for broker in cluster.brokers if broker is not leader)
    with follower.paused():
        assert follower.is_paused
        cluster.produce("paused", "without it", acks=1)
        cluster.wait_for_isr("paused", brokers={0, 1, 2} - {follower.id})
    cluster.wait_for_isr("paused")


def test_a_broker_that_does_not_start_leaves_nothing_running(tmp_path: Path) -> None:
    cluster = ProcessCluster(tmp_path, {"num.partitions": "many"}, brokers=1)
    with pytest.raises(BrokerStartError, match=r"num\.partitions"):
        cluster.start()
    assert not cluster.is_started
    with pytest.raises(RuntimeError, match="has not been started, or has been stopped"):
        cluster.brokers[0].start()
