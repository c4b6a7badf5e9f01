"""KafkaZkClient with the embedded ZooKeeper and a real one: watches, lost connections, expired sessions."""

import queue
import threading
import uuid

import pytest
from kazoo.client import KazooClient

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import (
    BrokerRegistration,
    ConfigChange,
    LeaderAndIsr,
    LeaderIsrAndControllerEpoch,
    TopicAssignment,
)
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import FencedError, NodeExistsError, NoNodeError, ZkConnectionError, ZkError
from tests.support.patience import patient_s
from tests.support.real_zookeeper import real_zookeeper

REGISTRATION = BrokerRegistration(
    ("PLAINTEXT://127.0.0.1:9092",), {"PLAINTEXT": "PLAINTEXT"}, host="127.0.0.1", port=9092
)
P0 = TopicPartition("t", 0)


@pytest.fixture(scope="module", params=["embedded", pytest.param("real", marks=pytest.mark.jvm)])
def zookeeper(request, tmp_path_factory):
    """The connect string of a server: ours, and Apache's."""
    directory = tmp_path_factory.mktemp("zookeeper")
    if request.param == "real":
        with real_zookeeper(directory) as connect_string:
            yield connect_string
    else:
        with EmbeddedZooKeeper(directory, tick_time_ms=500, force_sync=False) as server:
            yield server.connect_string


@pytest.fixture
def connect(zookeeper):
    """Opens sessions whose paths are below a chroot of this test."""
    clients = []
    chroot = f"/{uuid.uuid4()}"

    def new(below="", session_timeout_ms=8000):
        timeouts = {"session_timeout_ms": session_timeout_ms, "connection_timeout_ms": 30_000}
        client = KafkaZkClient(zookeeper + chroot + below, **timeouts)
        clients.append(client)
        client.start(create_chroot=True)
        return client

    yield new
    for client in clients:
        client.close()


@pytest.fixture
def zk(connect):
    client = connect()
    client.create_persistent_paths()
    return client


def state(leader, isr, epoch=0, version=0, controller_epoch=1):
    return LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, isr, epoch, version), controller_epoch)


def test_persistent_paths_have_null_data(zk):
    for path in (*paths.PERSISTENT_PATHS, "/brokers", "/admin", "/config"):
        assert zk.zookeeper.get(path)[0] is None


@pytest.mark.parametrize("missing", [(), (paths.DELETE_TOPICS, "/admin"), (paths.BROKER_IDS,)])
def test_missing_persistent_paths_are_created(zk, missing):
    for path in missing:
        zk.zookeeper.delete(path)
    zk.create_persistent_paths()
    assert all(zk.zookeeper.exists(path) for path in paths.PERSISTENT_PATHS)


def test_the_chroot_is_created(connect):
    zk = connect("/kafka/one")
    zk.create_persistent_paths()
    assert connect().zookeeper.children("/kafka/one") == [
        "admin",
        "brokers",
        "config",
        "consumers",
        "isr_change_notification",
        "log_dir_event_notification",
    ]


def test_cluster_id_is_created_once(zk, connect):
    assert zk.get_cluster_id() is None
    cluster_id = zk.create_or_get_cluster_id()
    assert connect().create_or_get_cluster_id() == cluster_id == zk.get_cluster_id()


def test_broker_registration(zk, connect):
    other = connect(session_timeout_ms=2000)  # the registration waits twice for the end of the first session
    zk.register_broker(1, REGISTRATION)
    zk.register_broker(1, REGISTRATION)  # a znode of our own session is accepted
    assert other.get_brokers() == {1: REGISTRATION}
    with pytest.raises(NodeExistsError, match="already registered"):
        other.register_broker(1, REGISTRATION)


def test_registration_waits_for_the_end_of_an_earlier_session(zk, connect):
    other = connect()
    other.register_broker(1, REGISTRATION)
    timer = threading.Timer(0.3, other.close)
    timer.start()
    zk.register_broker(1, REGISTRATION)
    assert zk.zookeeper.exists(paths.broker(1)).ephemeral_owner == zk.zookeeper.session_id
    timer.join()


def test_the_broker_epoch_rises_with_each_registration(zk, connect):
    other = connect()
    assert zk.get_broker_epoch(1) is None
    other.register_broker(1, REGISTRATION)
    first = zk.get_broker_epoch(1)
    other.close()
    zk.register_broker(1, REGISTRATION)
    assert zk.get_broker_epoch(1) > first > 0


def test_a_malformed_registration_is_skipped(zk, caplog):
    zk.zookeeper.create(paths.broker(5), b"rubbish")
    zk.register_broker(1, REGISTRATION)
    assert list(zk.get_brokers()) == [1]
    assert "unreadable" in caplog.text


def test_broker_sequence_ids_increase(zk, connect):
    first = zk.generate_broker_sequence_id()
    assert connect().generate_broker_sequence_id() == first + 1


def test_controller_election(zk, connect):
    other = connect()
    gone = queue.Queue()
    assert zk.get_controller_epoch() is None
    assert zk.register_controller_and_increment_epoch(1) == (1, 0)
    assert other.register_controller_and_increment_epoch(2) is None
    assert zk.get_controller_epoch() == (1, 0)
    other.watch_controller(lambda: gone.put(other.get_controller_id()))
    other.delete_own_controller()
    assert zk.get_controller_id() == 1
    zk.delete_own_controller()
    assert gone.get(timeout=patient_s(60)) is None
    assert other.register_controller_and_increment_epoch(2) == (2, 1)
    assert gone.get(timeout=patient_s(60)) == 2
    assert zk.get_controller_id() == 2


def test_an_election_whose_response_was_lost_is_won(zk, monkeypatch):
    commit = zk.zookeeper.commit

    def commit_twice(operations):
        assert not any(isinstance(result, ZkError) for result in commit(operations))
        return commit(operations)

    monkeypatch.setattr(zk.zookeeper, "commit", commit_twice)
    assert zk.register_controller_and_increment_epoch(1) == (1, 0)


def test_a_fenced_thread_writes_nothing_once_another_controller_has_raised_the_epoch(zk, connect):
    _, version = zk.register_controller_and_increment_epoch(1)
    zk.create_topic_assignment("t", TopicAssignment({0: [1], 1: [1]}))
    states = {P0: state(1, [1]), P0._replace(partition=1): state(1, [1])}
    with zk.fenced_by_controller_epoch(version):
        assert zk.create_partition_states(states) == set()
        assert zk.update_partition_state(P0, state(1, [1])) == 1
        zk.create_delete_topic("t")
    zk.delete_own_controller()
    assert connect().register_controller_and_increment_epoch(2) == (2, 1)
    before = zk.get_partition_states(states)
    with zk.fenced_by_controller_epoch(version):
        for write in (
            lambda: zk.update_partition_states(before),
            lambda: zk.update_partition_state(P0, before[P0]),
            lambda: zk.create_partition_states(dict.fromkeys([P0._replace(partition=2)], state(1, [1]))),
            lambda: zk.change_topic_assignment("t", lambda found: found),
            lambda: zk.delete_delete_topic("t"),
            lambda: zk.delete_topic_znode("t"),
            lambda: zk.create_topic_assignment("u", TopicAssignment({0: [1]})),
        ):
            with pytest.raises(FencedError):
                write()
    assert zk.get_partition_states(states) == before
    assert zk.get_topics_marked_for_deletion() == ["t"]
    assert zk.get_all_topics() == ["t"]
    zk.delete_delete_topic("t")
    assert zk.get_topics_marked_for_deletion() == []


def test_topics_and_partition_states(zk):
    assert zk.get_partition_state(P0) is None
    zk.create_topic_assignment("t", TopicAssignment({0: [1, 2]}))
    with pytest.raises(NodeExistsError):
        zk.create_topic_assignment("t", TopicAssignment({0: [1, 2]}))
    zk.create_partition_state(P0, state(1, [1, 2]))
    assert zk.get_partition_state(P0) == state(1, [1, 2])
    assert zk.zookeeper.get("/brokers/topics/t/partitions/0")[0] is None
    assert zk.update_partition_state(P0, state(1, [1])) == 1
    assert zk.update_partition_state(P0, state(2, [2])) is None
    assert zk.get_partition_state(P0) == state(1, [1], version=1)
    zk.set_topic_assignment("t", TopicAssignment({0: [1, 2], 1: [2, 1]}))
    assert zk.get_replica_assignment(["t", "no-such"]) == {P0: [1, 2], TopicPartition("t", 1): [2, 1]}
    zk.delete_topic_znode("t")
    assert zk.get_all_topics() == []
    assert zk.update_partition_state(P0, state(1, [1])) is None


def test_many_partition_states(zk):
    zk.create_topic_assignment("t", TopicAssignment({}))
    many = {TopicPartition("t", number): state(1, [1]) for number in range(700)}  # more than fit into one transaction
    before = TopicPartition("t", 33)
    zk.create_partition_state(before, state(7, [7]))
    assert zk.create_partition_states(many) == {before}
    assert zk.create_partition_states(many) == {before}  # already ours, as after a lost response
    found = zk.get_partition_states([*many, TopicPartition("t", 999)])
    assert found == {**many, before: state(7, [7])}

    changed = {partition: state(2, [2, 1], epoch=1, version=0) for partition in many}
    stale = TopicPartition("t", 650)
    assert zk.update_partition_state(stale, state(9, [9])) == 1
    assert zk.update_partition_states({**changed, TopicPartition("t", 999): state(1, [1])}) == {
        partition: 1 for partition in changed if partition != stale
    }
    assert zk.get_partition_state(stale) == state(9, [9], version=1)
    assert zk.get_partition_state(P0) == state(2, [2, 1], epoch=1, version=1)

    zk.delete_topic_znode("t")
    assert not zk.topic_exists("t")
    zk.delete_topic_znode("t")  # nothing to do


def test_a_tree_that_grows_while_it_is_deleted_is_deleted(zk, connect, monkeypatch):
    zookeeper = zk.zookeeper
    for path in ("/tree", "/tree/a", "/tree/a/b"):
        zookeeper.create(path, None)
    other, write_all = connect(), zookeeper.write_all
    late = iter([b"late"])

    def write_after_somebody_else(operations):
        for data in late:
            other.zookeeper.create("/tree/a/b/c", data)
        return write_all(operations)

    monkeypatch.setattr(zookeeper, "write_all", write_after_somebody_else)
    assert zookeeper.delete_recursive("/tree")
    assert zookeeper.exists("/tree") is None
    assert not zookeeper.delete_recursive("/tree")


def test_isr_change_notifications(zk):
    zk.propagate_isr_changes([P0])
    zk.propagate_isr_changes([TopicPartition("u", 1)])
    names = zk.get_isr_change_notifications()
    assert names == ["isr_change_0000000000", "isr_change_0000000001"]
    assert zk.get_isr_changes(names) == {P0, TopicPartition("u", 1)}
    zk.delete_isr_change_notifications(names[:1])
    assert zk.get_isr_change_notifications() == names[1:]


def test_configs_are_written_and_read(zk):
    assert zk.get_entity_config("topics/t") == {}
    zk.set_entity_config("users/a/clients/b", {"producer_byte_rate": "1"})
    zk.set_entity_config("users/a/clients/b", {"producer_byte_rate": "2"})
    zk.create_config_change("users/a/clients/b")
    assert zk.get_entity_config("users/a/clients/b") == {"producer_byte_rate": "2"}
    (name,) = zk.zookeeper.children("/config/changes")
    data, stat = zk.zookeeper.get(f"/config/changes/{name}")
    assert ConfigChange.decode(data).entity_path == "users/a/clients/b"
    assert stat.created_ms > 1_500_000_000_000


def test_topic_deletion_marks(zk):
    zk.create_delete_topic("t")
    assert zk.zookeeper.get("/admin/delete_topics/t")[0] == b""
    with pytest.raises(NodeExistsError):
        zk.create_delete_topic("t")
    assert zk.get_topics_marked_for_deletion() == ["t"]
    zk.delete_delete_topic("t")
    assert not zk.is_topic_marked_for_deletion("t")


def test_watches_fire_repeatedly(zk, connect):
    other = connect()
    seen = queue.Queue()
    zk.watch_topics(lambda: seen.put(zk.get_all_topics()))
    for number in range(5):
        other.create_topic_assignment(f"t{number}", TopicAssignment({0: [1]}))
        while seen.get(timeout=patient_s(60))[-1] != f"t{number}":
            pass
    zk.zookeeper.unwatch(paths.TOPICS)
    other.create_topic_assignment("t9", TopicAssignment({0: [1]}))
    other.get_all_topics()
    with pytest.raises(queue.Empty):
        seen.get(timeout=0.2)


def test_watches_survive_a_lost_connection(tmp_path):
    first = EmbeddedZooKeeper(tmp_path, port=free_port(), force_sync=False)
    first.start()
    zk = KafkaZkClient(first.connect_string, session_timeout_ms=20_000, connection_timeout_ms=30_000)
    zk.start()
    zk.create_persistent_paths()
    told = queue.Queue()
    expired = []
    zk.add_session_listener(lambda: expired.append(1))
    zk.watch_topics(lambda: told.put(zk.get_all_topics()))
    port = first.port
    first.shutdown()
    with EmbeddedZooKeeper(tmp_path, port=port, force_sync=False):
        zk.create_topic_assignment("t", TopicAssignment({0: [1]}))  # waits for the connection
        while told.get(timeout=patient_s(60)) != ["t"]:
            pass
        assert not expired
        zk.close()


def test_session_listeners_run_before_the_watches_of_a_new_session(zookeeper, connect, zk):
    order = queue.Queue()
    zk.add_session_listener(lambda: (zk.register_broker(1, REGISTRATION), order.put("session")))
    zk.register_broker(1, REGISTRATION)
    zk.watch_broker_ids(lambda: order.put("watch"))
    old_session = zk.zookeeper.session_id
    expire(zookeeper, zk)
    while order.get(timeout=patient_s(60)) != "session":
        pass
    assert order.get(timeout=patient_s(60)) == "watch"
    assert zk.zookeeper.session_id != old_session
    assert zk.zookeeper.exists(paths.broker(1)).ephemeral_owner == zk.zookeeper.session_id


def expire(connect_string, zk):
    """End the session of ``zk`` from another connection, as ZooKeeper's own tests do."""
    intruder = KazooClient(connect_string, client_id=zk.zookeeper._client.client_id, timeout=2)
    intruder.start(60)
    intruder.stop()
    intruder.close()


def test_an_unreachable_zookeeper_raises():
    zk = KafkaZkClient("127.0.0.1:1", connection_timeout_ms=200)
    with pytest.raises(ZkConnectionError, match=r"127\.0\.0\.1:1"):
        zk.start()


def test_a_closed_client_raises(zk, connect):
    other = connect()
    other.close()
    with pytest.raises(ZkConnectionError):
        other.get_all_topics()


def test_missing_znodes(zk):
    with pytest.raises(NoNodeError, match="/nothing"):
        zk.zookeeper.get("/nothing")
    assert zk.zookeeper.children("/nothing") == []
    assert zk.zookeeper.delete_recursive("/nothing") is False
