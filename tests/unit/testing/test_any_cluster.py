"""The verbs of every test cluster, over brokers and a ZooKeeper that only note what they are asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Self

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing import any_cluster
from kafka_lite.testing.any_cluster import AnyCluster, BrokersById, texts
from kafka_lite.testing.fault_injector import OWN_CLIENT_ID
from tests.support.noted_broker import NotedBroker
from tests.support.patience import patient_s

ORDERS = TopicPartition("orders", 0)


class Broker(NotedBroker):
    """Knows at once what ZooKeeper has."""

    def __init__(self, cluster: Cluster, broker_id: int) -> None:
        super().__init__(broker_id, 9000 + broker_id)
        self.cluster = cluster

    def start(self) -> None:
        super().start()
        self.running = True

    def stop(self) -> int | None:
        self.running = False
        return super().stop()

    def is_active_controller(self) -> bool:
        return self.cluster.zookeeper.controller == self.id

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        return self.cluster.zookeeper.leaders[partition] == self.id

    def await_topic(self, topic: str, partitions: int, timeout_s: float) -> bool:
        self.done.append(f"knows {topic} with {partitions}")
        return True


class ZooKeeper:
    """Partitions with their replicas, leaders and ISRs."""

    def __init__(self) -> None:
        self.controller = 2
        self.assigned: dict[TopicPartition, list[int]] = {}
        self.leaders: dict[TopicPartition, int] = {}

    def controller_id(self) -> int:
        return self.controller

    def replicas(self, partition: TopicPartition) -> list[int]:
        return self.assigned.get(partition, [])

    def partitions(self) -> dict[TopicPartition, list[int]]:
        return self.assigned

    def partition_state(self, partition: TopicPartition) -> Any:
        isr, leader = self.assigned[partition], self.leaders[partition]
        return SimpleNamespace(leader_and_isr=SimpleNamespace(leader=leader, leader_epoch=0, isr=isr))

    def add(self, topic: str, partitions: int, replicas: list[int]) -> None:
        for number in range(partitions):
            self.assigned[TopicPartition(topic, number)] = replicas
            self.leaders[TopicPartition(topic, number)] = replicas[number % len(replicas)]


class Client:
    """A client of one broker: notes its requests as ``(port, request, …)``, and carries them out in ZooKeeper."""

    def __init__(self, cluster: Cluster, port: int) -> None:
        self._cluster, self._port = cluster, port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.open_clients -= 1

    def _note(self, *request: object) -> None:
        self._cluster.requests.append((self._port, *request))

    def create_topic(self, name: str, partitions: int, configs: Mapping[str, str], replicas: int) -> None:
        self._note("create", name, partitions, configs, replicas)
        self._cluster.zookeeper.add(name, partitions, list(range(1, replicas + 1)))

    def delete_topic(self, name: str) -> None:
        self._note("delete", name)

    def topics(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for partition in self._cluster.zookeeper.assigned:
            found[partition.topic] = found.get(partition.topic, 0) + 1
        return found

    def partitions(self, topic: str) -> int:
        if topic not in self.topics():
            raise ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, topic)
        return self.topics()[topic]

    def reassign(self, topic: str, partition: int, replicas: list[int]) -> None:
        self._note("reassign", topic, partition, replicas)
        self._cluster.zookeeper.assigned[TopicPartition(topic, partition)] = replicas

    def elect_preferred_leader(self, topic: str, partition: int) -> None:
        self._note("elect", topic, partition)
        found = TopicPartition(topic, partition)
        self._cluster.zookeeper.leaders[found] = self._cluster.zookeeper.assigned[found][0]

    def produce(self, topic: str, partition: int, values: Any, key: Any, headers: Any, stamp_ms: int, acks: int) -> int:
        self._note("produce", topic, partition, values, key, headers, stamp_ms, acks)
        return 42

    def records(self, topic: str, partition: int) -> list[Any]:
        if self._cluster.failure is not None:
            raise self._cluster.failure
        return self._cluster.stored.get((topic, partition), [])


class Cluster(AnyCluster[Broker]):
    zookeeper: Any

    def __init__(self, *ids: int, partitions_of_new_topics: int | None = None) -> None:
        super().__init__()
        self.zookeeper = ZooKeeper()
        self.requests: list[tuple[Any, ...]] = []
        self.open_clients = 0
        self.stored: dict[tuple[str, int], list[Any]] = {}
        self.failure: ApiError | None = None
        self.stops = 0
        self._ids = ids or (1, 2, 3)
        self._new_partitions = partitions_of_new_topics

    @property
    def zookeeper_connect(self) -> str:
        return "127.0.0.1:2181"

    def start(self) -> Self:
        self._brokers = [Broker(self, broker_id) for broker_id in self._ids]
        return self

    def stop(self) -> None:
        self.stops += 1
        self._brokers = []

    def _now_ms(self) -> int:
        return 777

    def _partitions_of_new_topics(self) -> int | None:
        return self._new_partitions

    def new_client(self, host: str, port: int, client_id: str, security: object = None) -> Client:
        assert security is None
        assert (host, client_id) == ("127.0.0.1", OWN_CLIENT_ID)
        self.open_clients += 1
        return Client(self, port)

    @property
    def done(self) -> list[list[str]]:
        return [broker.done for broker in self.brokers]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Cluster]]:
    """Makes clusters that have been started; in the end all their clients must be closed."""
    clusters: list[Cluster] = []

    def start(*ids: int, **options: Any) -> Cluster:
        cluster = Cluster(*ids, **options).start()
        monkeypatch.setattr(any_cluster, "ClusterClient", cluster.new_client)
        clusters.append(cluster)
        return cluster

    yield start
    assert [cluster.open_clients for cluster in clusters] == [0] * len(clusters)


@pytest.fixture
def cluster(started: Callable[..., Cluster]) -> Cluster:
    """Brokers 1, 2 (the controller) and 3; topic ``orders`` with two partitions, led by 1 and 2."""
    cluster = started()
    cluster.zookeeper.add("orders", 2, [1, 2, 3])
    return cluster


class Clock:
    """Time that passes by sleeping; ``at_sleep`` is called then."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.at_sleep: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s
        self.at_sleep()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(any_cluster, "time", clock)
    return clock


# ── brokers ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_brokers_are_found_by_id_not_by_position() -> None:
    four, seven = NotedBroker(4), NotedBroker(7)
    brokers = BrokersById([four, seven])
    assert brokers[4] is four
    assert brokers[7] is seven
    with pytest.raises(IndexError, match=r"there is no broker 0 in this cluster: broker 4, broker 7"):
        brokers[0]
    assert (len(brokers), list(brokers), list(reversed(brokers))) == (2, [four, seven], [seven, four])
    assert list(brokers[:1]) == [four]
    assert four in brokers
    assert NotedBroker(4) not in brokers
    assert repr(brokers) == "[broker 4, broker 7]"


def test_brokers_exist_from_start_to_stop() -> None:
    cluster = Cluster()
    assert not cluster.is_started
    for attribute in ("brokers", "bootstrap_servers", "topics", "controller"):
        with pytest.raises(RuntimeError, match="has not been started, or has been stopped"):
            getattr(cluster, attribute)
    with pytest.raises(ZeroDivisionError), cluster as entered:
        1 / len([broker for broker in entered.brokers if not broker.is_running])
    assert (cluster.is_started, cluster.stops) == (False, 1)


def test_clients_are_given_all_brokers_even_those_that_are_down(cluster: Cluster) -> None:
    cluster.brokers[2].stop()
    assert cluster.bootstrap_servers == "127.0.0.1:9001,127.0.0.1:9002,127.0.0.1:9003"


def test_only_brokers_that_are_down_are_started(cluster: Cluster) -> None:
    cluster.start_broker()
    assert cluster.done == [[], [], []]
    cluster.stop_broker(1, cluster.brokers[3])
    cluster.start_broker(2, 3)
    assert cluster.done == [["stop"], [], ["stop", "start"]]
    cluster.start_broker()
    assert cluster.done == [["stop", "start"], [], ["stop", "start"]]
    cluster.stop_broker()
    assert [broker.is_running for broker in cluster.brokers] == [False] * 3


def test_brokers_are_started_at_the_same_time(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    all_are_starting = threading.Barrier(3)
    monkeypatch.setattr(Broker, "start", lambda _self: all_are_starting.wait(patient_s(30)) and None)
    cluster.stop_broker()
    cluster.start_broker()
    assert not all_are_starting.broken


def test_the_error_of_a_start_is_the_tests(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(broker: Broker) -> None:
        raise OSError(f"no port for {broker}")

    cluster.stop_broker(2)
    monkeypatch.setattr(Broker, "start", fail)
    with pytest.raises(OSError, match="no port for broker 2"):
        cluster.start_broker()


def test_a_restart_and_a_pause_concern_every_broker(cluster: Cluster) -> None:
    cluster.restart()
    with pytest.raises(ZeroDivisionError), cluster.paused():
        raise ZeroDivisionError
    assert cluster.done == [["stop", "start", "pause", "resume"]] * 3
    cluster.stop_broker(3)
    with pytest.raises(RuntimeError, match="broker 3 of this cluster is not running"):
        cluster.restart()


def test_a_broker_that_is_none_is_an_error_of_the_test(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="there is no broker 7 in this cluster: broker 1, broker 2, broker 3"):
        cluster.stop_broker(7)
    wrong: Any = "one"
    with pytest.raises(TypeError, match="not 'one'"):
        cluster.stop_broker(wrong)


# ── leadership ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_controller_may_have_to_be_another_one(cluster: Cluster) -> None:
    assert cluster.controller is cluster.brokers[2]
    assert cluster.wait_for_controller(other_than=1, timeout_s=0) is cluster.brokers[2]
    for excluded in (2, cluster.brokers[2]):
        with pytest.raises(TimeoutError, match="no broker is the controller"):
            cluster.wait_for_controller(other_than=excluded, timeout_s=0)


def test_a_leader_is_waited_for_unless_there_is_no_such_partition(cluster: Cluster) -> None:
    assert (cluster.leader_of("orders"), cluster.leader_of("orders", 1)) == (cluster.brokers[1], cluster.brokers[2])
    with pytest.raises(TimeoutError, match="orders-0 has no leader other than broker 1"):
        cluster.leader_of("orders", other_than=1, timeout_s=0)
    with pytest.raises(ValueError, match="there is no partition orders-2"):
        cluster.leader_of("orders", 2)


def test_an_isr_is_given_by_ids_or_brokers(cluster: Cluster) -> None:
    cluster.zookeeper.assigned[ORDERS] = [1, 3]
    assert cluster.isr("orders") == {1, 3}
    cluster.wait_for_isr("orders", timeout_s=0)
    cluster.wait_for_isr("orders", brokers=[cluster.brokers[3], 1], timeout_s=0)
    with pytest.raises(TimeoutError, match=r"the ISR of orders-0 is \[1, 3\], not \[1\]"):
        cluster.wait_for_isr("orders", brokers=[1], timeout_s=0)
    with pytest.raises(ValueError, match="there is no broker 9"):
        cluster.wait_for_isr("orders", brokers=[9])
    one: Any = 1
    with pytest.raises(TypeError, match=r"several brokers, as in brokers=\[1\]"):
        cluster.wait_for_isr("orders", brokers=one)
    for ask in (cluster.isr, cluster.wait_for_isr):
        with pytest.raises(ValueError, match="there is no partition nope-0"):
            ask("nope")


def test_a_leadership_is_moved_by_the_controller_as_tools_do_it(cluster: Cluster) -> None:
    cluster.move_leadership(3, "orders", timeout_s=0)
    assert cluster.requests == [(9002, "reassign", "orders", 0, [3, 1, 2]), (9002, "elect", "orders", 0)]
    assert cluster.leader_of("orders") is cluster.brokers[3]
    cluster.requests.clear()
    cluster.zookeeper.assigned[ORDERS] = [1, 2]
    with pytest.raises(ValueError, match=r"broker 3 has no replica of orders-0: \[1, 2\]"):
        cluster.move_leadership(cluster.brokers[3], "orders")
    assert cluster.requests == []


# ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_topic_is_made_by_the_controller_and_known_by_all(cluster: Cluster) -> None:
    cluster.brokers[3].running = False
    cluster.create_topic("payments", 2, {"cleanup.policy": "compact", "preallocate": True, "segment.bytes": 10})
    configs = {"cleanup.policy": "compact", "preallocate": "true", "segment.bytes": "10"}
    assert cluster.requests == [(9002, "create", "payments", 2, configs, 3)]
    assert cluster.done == [["knows payments with 2"], ["knows payments with 2"], []]
    assert cluster.topics == {"orders": 2, "payments": 2}


@pytest.mark.parametrize(("size", "asked", "replicas"), [(5, None, 3), (2, None, 2), (3, 1, 1), (1, None, 1)])
def test_a_topic_has_three_replicas_if_there_are_so_many_brokers(
    started: Callable[..., Cluster], size: int, asked: int | None, replicas: int
) -> None:
    cluster = started(*range(1, size + 1))
    cluster.create_topic("t", replication_factor=asked)
    ((port, *request),) = cluster.requests
    assert request == ["create", "t", 1, {}, replicas]
    assert port == (9001 if size == 1 else 9002)


def test_wrong_arguments_are_refused_before_anything_is_asked(cluster: Cluster) -> None:
    create: Any = cluster.create_topic
    produce: Any = cluster.produce
    for call, complaint in [
        (lambda: create(b"t"), "a topic must be a string"),
        (lambda: create("t", "3"), "partitions must be a whole number"),
        (lambda: create("t", 1, ["compact"]), "configs must be a dictionary"),
        (lambda: create("t", replication_factor=1.5), "replication_factor must be a whole number"),
        (lambda: produce(7, "v"), "a topic must be a string"),
        (lambda: produce("orders", "v", partition="0"), "partition must be a whole number"),
        (lambda: produce("orders", "v", timestamp_ms=0.5), "timestamp_ms must be a whole number"),
    ]:
        with pytest.raises(TypeError, match=complaint):
            call()
    with pytest.raises(ValueError, match=r"produce\(\) of which values\?"):
        produce("orders")
    with pytest.raises(ValueError, match="acks=0"):
        produce("orders", "v", acks=0)
    assert cluster.requests == []


def test_a_topic_is_deleted_by_the_controller(cluster: Cluster) -> None:
    cluster.delete_topic("orders")
    assert cluster.requests == [(9002, "delete", "orders")]


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_records_are_produced_to_the_leader(cluster: Cluster) -> None:
    assert cluster.produce("orders", "one", None, key="k", partition=1, headers={"id": b"7"}, acks=1) == 42
    cluster.produce("orders", "two", headers=[("id", "7"), ("id", "8")], timestamp_ms=5)
    assert cluster.requests == [
        (9002, "produce", "orders", 1, ("one", None), "k", [("id", b"7")], 777, 1),
        (9001, "produce", "orders", 0, ("two",), None, [("id", "7"), ("id", "8")], 5, -1),
    ]


def test_a_missing_topic_is_an_error_unless_brokers_create_topics(
    cluster: Cluster, started: Callable[..., Cluster]
) -> None:
    with pytest.raises(ApiError, match="new-4") as caught:
        cluster.produce("new", "v", partition=4)
    assert caught.value.error is Errors.UNKNOWN_TOPIC_OR_PARTITION
    creating = started(partitions_of_new_topics=2)
    creating.produce("new", "v", partition=4)
    creating.produce("new", "v")
    creating.produce("other", "v")
    assert [request[1:4] for request in creating.requests] == [
        ("create", "new", 5), ("produce", "new", 4), ("produce", "new", 0),
        ("create", "other", 2), ("produce", "other", 0),
    ]  # fmt: skip


def test_records_come_by_partition_each_from_its_leader(cluster: Cluster) -> None:
    cluster.stored = {("orders", 0): [SimpleNamespace(value=b"a")], ("orders", 1): [SimpleNamespace(value=b"b")]}
    assert cluster.values("orders") == [b"a", b"b"]
    assert cluster.values("orders", 1) == [b"b"]
    assert [record.value for record in cluster.records("orders", 0)] == [b"a"]


def test_records_are_waited_for_and_all_of_them_returned(cluster: Cluster, clock: Clock) -> None:
    stored: list[str] = []
    cluster.stored = {("orders", 1): stored}
    clock.at_sleep = lambda: stored.append(f"record {len(stored)}")
    assert cluster.wait_for_records("orders", 3) == ["record 0", "record 1", "record 2"]
    assert cluster.wait_for_records("orders", 2) == stored


def test_records_that_do_not_come_are_counted_in_the_error(cluster: Cluster, clock: Clock) -> None:
    cluster.stored = {("orders", 0): ["the only one"]}
    with pytest.raises(TimeoutError, match=r"orders has 1 of 2 records after 2\.5 s$"):
        cluster.wait_for_records("orders", 2, timeout_s=2.5)
    assert 2.5 <= clock.now_s < 2.6
    with pytest.raises(TimeoutError, match="nope has 0 of 1 records after 10 s; there is no topic 'nope'"):
        cluster.wait_for_records("nope")


def test_an_error_other_than_an_unknown_topic_ends_the_wait(cluster: Cluster, clock: Clock) -> None:
    cluster.failure = ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, "orders-0")
    with pytest.raises(TimeoutError, match="orders has 0 of 1 records"):
        cluster.wait_for_records("orders")
    waited_s = clock.now_s
    cluster.failure = ApiError(Errors.NOT_LEADER_OR_FOLLOWER, "orders-0")
    with pytest.raises(ApiError) as caught:
        cluster.wait_for_records("orders")
    assert (caught.value.error, clock.now_s) == (Errors.NOT_LEADER_OR_FOLLOWER, waited_s)


def test_any_broker_that_runs_is_asked_for_topics(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Client, "topics", lambda client: asked.append(client._port) or {})
    assert cluster.topics == {}
    cluster.stop_broker(1)
    assert cluster.topics == {}
    assert asked == [9001, 9002]
    cluster.stop_broker()
    with pytest.raises(RuntimeError, match="broker 1 of this cluster is not running"):
        cluster.topics  # noqa: B018


def test_values_of_configs_are_written_as_in_a_properties_file() -> None:
    written = texts({"a": True, "b": False, "c": -1, "d": "Compact"})
    assert written == {"a": "true", "b": "false", "c": "-1", "d": "Compact"}
