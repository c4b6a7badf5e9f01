"""A cluster of three brokers for tests: it starts, loses brokers, sessions and ways, and reports what happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from kafka_lite.testing.network.cluster_network import ZOOKEEPER
from kafka_lite.tools import main
from tests.support.eventually import eventually
from tests.support.patience import patient_s

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(brokers=3) as cluster:
        yield cluster


def others(cluster: Cluster, broker: ClusterBroker) -> list[ClusterBroker]:
    return [each for each in cluster.brokers if each is not broker]


def log_end(broker: ClusterBroker) -> int:
    partition = broker.server.replica_manager.get_partition(ORDERS)
    assert partition is not None
    assert partition.log is not None
    return partition.log.log_end_offset


def high_watermark(leader: ClusterBroker) -> int:
    partition = leader.server.replica_manager.get_partition(ORDERS)
    assert partition is not None
    assert partition.leader_replica_if_local is not None
    return partition.leader_replica_if_local.high_watermark.message_offset


def test_topics_have_three_replicas_and_every_broker_knows_them(cluster: Cluster) -> None:
    cluster.create_topic("orders", partitions=3)
    assert {cluster.leader_of("orders", number).id for number in range(3)} == {0, 1, 2}
    cluster.wait_for_isr("orders")
    for broker in cluster.brokers:
        assert set(broker.server.metadata_cache.get_partitions("orders")) == {0, 1, 2}
    cluster.create_topic("single", replication_factor=1)
    assert len(cluster.isr("single")) == 1


def test_a_topic_is_created_on_a_broker_that_has_just_started(cluster: Cluster) -> None:
    for number, broker in enumerate(others(cluster, cluster.controller)):
        broker.restart()
        cluster.create_topic(f"topic-{number}", replication_factor=3)
        cluster.wait_for_isr(f"topic-{number}", brokers=cluster.brokers)


def test_records_are_written_to_and_read_from_their_leaders(cluster: Cluster) -> None:
    cluster.create_topic("orders", partitions=3)
    for number in range(3):
        assert cluster.produce("orders", f"to {number}", partition=number) == 0
    assert cluster.values("orders") == [b"to 0", b"to 1", b"to 2"]
    cluster.produce("made", "by itself")
    assert cluster.topics == {"orders": 3, "made": 1}
    cluster.delete_topic("made")
    eventually(lambda: cluster.topics == {"orders": 3})


def test_a_partition_that_is_not_there_is_not_waited_for(cluster: Cluster) -> None:
    cluster.create_topic("one-partition")
    with pytest.raises(ApiError, match=r"one-partition-1: .* no such topic or partition"):
        cluster.produce("one-partition", "v", partition=1)
    for topic in ("no-such-topic", "one-partition"):
        with pytest.raises(ValueError, match=f"there is no partition {topic}-1"):
            cluster.wait_for_isr(topic, 1)
        with pytest.raises(ValueError, match=f"there is no partition {topic}-1"):
            cluster.leader_of(topic, 1)
        with pytest.raises(ValueError, match=f"there is no partition {topic}-1"):
            cluster.isr(topic, 1)
        with pytest.raises(ValueError, match=f"there is no partition {topic}-1"):
            cluster.move_leadership(cluster.brokers[0], topic, 1)
        with pytest.raises(ValueError, match=f"there is no partition {topic}-1"):
            cluster.wait_for_isr(topic, 1, brokers=[0])
    with pytest.raises(ValueError, match=r"topic does not exist; create_topic.* The topics are .*one-partition"):
        cluster.leader_of("no-such-topic")
    with pytest.raises(ValueError, match="the topic has 1, numbered from 0"):
        cluster.leader_of("one-partition", 1)


def test_nothing_is_left_after_stop() -> None:
    threads = set(threading.enumerate())
    with Cluster(brokers=3) as cluster:
        cluster.create_topic("orders")
        cluster.leader_of("orders").kill()
        cluster.leader_of("orders").pause()
        directory = cluster.data_dir
    assert not directory.exists()
    eventually(lambda: set(threading.enumerate()) <= threads)


def test_data_of_the_callers_directory_outlives_the_cluster(tmp_path: Path) -> None:
    with Cluster(data_dir=tmp_path, brokers=3) as cluster:
        cluster.create_topic("orders")
        cluster.produce("orders", "kept")
    with Cluster(data_dir=tmp_path, brokers=3) as cluster:
        # The leader does not know at once that its followers have the record, and shows it to nobody until then.
        assert [record.value for record in cluster.wait_for_records("orders")] == [b"kept"]
        cluster.wait_for_isr("orders")


def test_overrides_may_concern_one_broker() -> None:
    racks = {broker: {"broker.rack": f"rack-{broker}"} for broker in range(2)}
    with Cluster({"num.partitions": 2}, brokers=2, broker_overrides=racks) as cluster:
        assert [broker.server.config.rack for broker in cluster.brokers] == ["rack-0", "rack-1"]
        assert [broker.server.config.num_partitions for broker in cluster.brokers] == [2, 2]


def test_what_names_one_broker_is_refused_for_several(cluster: Cluster) -> None:
    with pytest.raises(RuntimeError, match=r"cluster\.brokers\[0\]"):
        cluster.server  # noqa: B018
    with pytest.raises(ValueError, match="listeners"):
        Cluster({"listeners": "PLAINTEXT://127.0.0.1:9092"}, brokers=2)
    with Cluster() as single, pytest.raises(RuntimeError, match="network"):
        single.network  # noqa: B018


# ── loss of a broker ──────────────────────────────────────────────────────────────────────────────────────────────


def test_another_replica_leads_after_a_kill_and_the_killed_one_recovers_its_log(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    cluster.produce("orders", "before")
    old = cluster.leader_of("orders")
    old.kill()
    assert not old.is_running
    assert not (old.log_dir / ".kafka_cleanshutdown").exists(), "it had no time to leave its mark"
    new = cluster.leader_of("orders", other_than=old)
    assert new is not old
    assert cluster.produce("orders", "meanwhile") == 1
    old.start()
    cluster.wait_for_isr("orders")
    assert log_end(old) == 2


def test_connections_to_a_killed_broker_are_reset_and_new_ones_refused(cluster: Cluster) -> None:
    broker = cluster.brokers[1]
    with BlockingChannel("127.0.0.1", broker.port) as channel:
        channel.exchange(ApiVersionsRequest(), 0)
        broker.kill()
        with pytest.raises(ConnectionError):
            channel.exchange(ApiVersionsRequest(), 0)
        with pytest.raises(ConnectionError):
            channel.connect()


def test_a_clean_stop_moves_leadership_first_and_leaves_its_mark(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    old = cluster.leader_of("orders")
    old.stop()
    assert (old.log_dir / ".kafka_cleanshutdown").exists()
    assert cluster.leader_of("orders") is not old
    old.start()
    cluster.wait_for_isr("orders")
    old.restart()
    cluster.wait_for_isr("orders")


@pytest.mark.soak
def test_records_that_a_stopped_broker_lost_in_the_middle_are_fetched_again() -> None:
    with Cluster({"log.segment.bytes": "300"}, brokers=3) as cluster:
        cluster.create_topic("orders")
        for number in range(12):
            cluster.produce("orders", f"record {number}")
        cluster.wait_for_isr("orders")
        broker = others(cluster, cluster.leader_of("orders"))[0]
        broker.stop()
        segments = sorted((broker.log_dir / "orders-0").glob("*.log"))
        assert len(segments) > 3
        whole = [segment.read_bytes() for segment in segments]
        segments[1].write_bytes(whole[1][: len(whole[1]) // 3])
        broker.start()
        cluster.wait_for_isr("orders")
        eventually(lambda: log_end(broker) == 12)
        broker.stop()
        again = sorted((broker.log_dir / "orders-0").glob("*.log"))
        assert b"".join(segment.read_bytes() for segment in again) == b"".join(whole)


def test_the_session_of_a_killed_broker_may_be_left_to_expire(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    old = cluster.leader_of("orders")
    old.kill(expire_session=False)
    assert old.id in cluster.zookeeper.client.get_broker_ids(), "nobody has noticed yet"
    assert cluster.leader_of("orders", other_than=old) is not old


def test_a_broker_is_killed_while_one_of_its_threads_waits_for_zookeeper(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the network thread does in which a follower has caught up: the answer will never come."""
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    follower = next(each for each in others(cluster, leader) if each is not cluster.controller)
    follower.kill()
    cluster.wait_for_isr("orders", brokers=others(cluster, follower))
    session = leader.server.zk_client.zookeeper
    waiting, write = threading.Event(), session.set

    def write_or_wait(path: str, data: bytes | None, version: int = -1) -> int:
        if path.endswith("/state") and b'"isr"' in (data or b""):
            waiting.set()
            eventually(lambda: session.is_closed)
        return write(path, data, version)

    monkeypatch.setattr(session, "set", write_or_wait)
    follower.start()
    assert waiting.wait(patient_s(60))
    killing = threading.Thread(target=leader.kill)
    killing.start()
    killing.join(patient_s(20))
    assert not killing.is_alive()


def test_another_broker_becomes_the_controller_after_a_kill(cluster: Cluster) -> None:
    old = cluster.controller
    old.kill()
    new = cluster.wait_for_controller(other_than=old)
    assert new is not old
    cluster.create_topic("orders", replication_factor=2)
    assert old.id not in cluster.isr("orders")


def test_a_broker_whose_session_expires_registers_again(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    broker = cluster.leader_of("orders")
    before = broker.server.zk_client.zookeeper.session
    broker.expire_session()
    eventually(lambda: broker.server.zk_client.zookeeper.session != before)
    cluster.wait_for_isr("orders")
    assert cluster.produce("orders", "still there") == 0


def test_leadership_moves_to_any_replica_and_stays_there(cluster: Cluster) -> None:
    cluster.create_topic("orders", partitions=2)
    for broker in cluster.brokers:
        cluster.move_leadership(broker, "orders", 1)
        assert cluster.leader_of("orders", 1) is broker
        assert cluster.produce("orders", "moved", partition=1) == broker.id
    cluster.move_leadership(broker, "orders", 1)
    cluster.wait_for_isr("orders", 1)
    cluster.create_topic("single", replication_factor=1)
    (only,) = cluster.isr("single")
    with pytest.raises(ValueError, match="has no replica"):
        cluster.move_leadership(cluster.brokers[(only + 1) % 3], "single")


@pytest.mark.soak
def test_a_paused_broker_falls_out_of_the_isr_and_returns(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    paused, running = others(cluster, leader)
    with paused.paused():
        cluster.wait_for_isr("orders", brokers=[leader, running])
        assert cluster.produce("orders", "without it") == 0
    cluster.wait_for_isr("orders")
    assert log_end(paused) == 1


# ── the network ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_follower_that_is_cut_off_leaves_the_isr_until_the_cut_ends(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    follower, other = others(cluster, leader)
    with cluster.network.cut(leader, follower):
        assert cluster.produce("orders", "committed once the follower has left the ISR") == 0
        cluster.wait_for_isr("orders", brokers=[leader, other])
        assert log_end(follower) == 0
    cluster.wait_for_isr("orders")
    assert log_end(follower) == 1


def test_a_write_is_refused_if_two_followers_are_cut_off(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"min.insync.replicas": 2})
    leader = cluster.leader_of("orders")
    cluster.network.isolate(leader)
    cluster.produce("orders", "in one log only", acks=1)
    cluster.wait_for_isr("orders", brokers=[leader])
    with pytest.raises(ApiError) as raised:
        cluster.produce("orders", "refused")
    assert raised.value.error is Errors.NOT_ENOUGH_REPLICAS
    cluster.network.restore()
    cluster.wait_for_isr("orders")
    assert cluster.produce("orders", "accepted") == 1


def test_a_slow_way_delays_what_waits_for_all_replicas(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    began_ms = cluster.time.hi_res_ms()
    with cluster.network.slow(others(cluster, leader)[0], leader, delay_ms=200, one_way=True):
        cluster.produce("orders", "slowly")
    assert cluster.time.hi_res_ms() - began_ms >= 200


@pytest.mark.soak
def test_a_leader_that_cannot_reach_zookeeper_loses_leadership_and_its_tail(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"min.insync.replicas": 2})
    cluster.produce("orders", "kept")
    old = cluster.leader_of("orders")
    # Its requests reach nobody, though it receives everything: so it does not learn that it has lost its session.
    for machine in (*others(cluster, old), ZOOKEEPER):
        cluster.network.cut(old, machine, one_way=True)
    partition = old.server.replica_manager.get_partition(ORDERS)
    assert partition is not None
    assert cluster.produce("orders", "lost", acks=1) == 1
    new = cluster.leader_of("orders", other_than=old)
    assert partition.leader_replica_if_local is not None, "it still believes that it leads"
    assert cluster.produce("orders", "instead") == 1
    cluster.network.restore()
    cluster.wait_for_isr("orders")
    assert cluster.leader_of("orders") is new
    assert cluster.values("orders") == [b"kept", b"instead"]
    eventually(lambda: log_end(old) == 2)


# ── requests and faults ───────────────────────────────────────────────────────────────────────────────────────────


def test_requests_are_logged_by_broker_and_sender(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    follower = others(cluster, leader)[0]
    (*_, fetch) = leader.requests.wait_for("Fetch", where=lambda seen: seen.from_broker == follower.id)
    assert fetch.body.replica_id == follower.id  # type: ignore[attr-defined]
    assert f"FETCH v{fetch.version} of broker {follower.id} to broker {leader.id} orders" in str(fetch)
    with BlockingChannel("127.0.0.1", follower.port, client_id="app") as channel:
        channel.exchange(ApiVersionsRequest(), 0)
    (seen,) = cluster.requests.of("ApiVersions")
    assert (seen.broker_id, seen.from_broker, seen.client_id) == (follower.id, None, "app")
    assert cluster.requests.of("Fetch") == [], "the clients' requests only"
    cluster.reset()
    assert not cluster.requests.of("ApiVersions")


def test_a_killed_broker_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Its threads are in the middle of something; the process of ``kill -9`` has no time for a word about it."""
    with Cluster(brokers=3) as cluster:
        cluster.create_topic("orders")
        controller = cluster.controller
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        cluster.network.cut(controller, "zookeeper")  # the handler of the request waits for ZooKeeper
        created = admin.create_topics([NewTopic("more", 1, 3)], request_timeout=60)["more"]
        controller.requests.wait_for("CreateTopics")
        with caplog.at_level(logging.INFO):
            controller.kill()
            assert cluster.wait_for_controller(other_than=controller) is not controller
        cluster.network.restore()
        controller.start()
        created.exception(patient_s(60))
    of_errors = [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
    assert [record.getMessage() for record in of_errors] == []


def test_a_fault_may_concern_one_broker_or_the_requests_of_one(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    follower, other = others(cluster, leader)
    of_clients = cluster.inject("Fetch", Errors.NOT_LEADER_OR_FOLLOWER).always()
    of_follower = leader.inject("Fetch", Errors.UNKNOWN_SERVER_ERROR).from_broker(follower.id).always()
    cluster.produce("orders", "copied by one follower only")
    cluster.wait_for_isr("orders", brokers=[leader, other])
    assert of_follower.count > 0
    assert of_clients.count == 0, "the other follower's requests are no clients' requests"
    assert len(cluster.faults) == 2
    cluster.reset()
    assert cluster.faults == []
    cluster.wait_for_isr("orders")


def test_a_clock_jump_reaches_every_broker(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"retention.ms": 3_600_000})
    cluster.produce("orders", "old")
    cluster.wait_for_isr("orders")
    cluster.time.advance(hours=3)
    for broker in cluster.brokers:
        partition = broker.server.replica_manager.get_partition(ORDERS)
        assert partition is not None
        assert partition.log is not None
        eventually(lambda log=partition.log: log.log_start_offset == 1)


# ── kafka-lite top ────────────────────────────────────────────────────────────────────────────────────────────────


def test_top_shows_the_cluster_while_one_of_its_brokers_is_down(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.create_topic("orders")
    cluster.produce("orders", "one", "two")
    leader = cluster.leader_of("orders")
    leader.kill()
    new = cluster.leader_of("orders", other_than=leader)
    controller = cluster.controller
    eventually(lambda: controller.server.metadata_cache.controller_id == controller.id)
    eventually(lambda: high_watermark(new) == 2)  # a new leader learns it from its followers
    assert main.main(["top", "--bootstrap-server", cluster.bootstrap_servers]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (order,) = [row for row in rows if row[:1] == ["orders"]]
    assert (order[1], order[2], order[5], order[6]) == ("0", str(new.id), str(leader.id), "2")
    assert [str(leader.id), "down"] in [row[:2] for row in rows]
    assert [str(controller.id), controller.bootstrap_server, "controller"] in [row[:3] for row in rows]
