"""A broker on an external ZooKeeper, below a chroot: ours in a process of its own, and Apache's.

Afterwards, the znodes have the same shape as those of a real Kafka 0.10.2.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.record.records import batches
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.zk_errors import NodeExistsError
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.real_zookeeper import real_zookeeper

KAFKA_TREE: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "data/zookeeper-tree-0.10.2.json").read_text()
)
CHROOT = "/kafka/of/mine"
SESSION_TIMEOUT_MS = 6000
ZOOKEEPERS = ["ours", pytest.param("apache", marks=pytest.mark.jvm)]


@pytest.fixture(scope="module", params=ZOOKEEPERS)
def zookeeper(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("zookeeper")
    with ExitStack() as stack:
        if request.param == "apache":
            yield stack.enter_context(real_zookeeper(directory))
        else:
            yield stack.enter_context(EmbeddedZooKeeper(directory, tick_time_ms=500, force_sync=False)).connect_string


Start = Callable[..., Cluster]


@pytest.fixture
def start(zookeeper: str, tmp_path: Path) -> Iterator[Start]:
    """Starts brokers whose znodes are below a chroot, and stops them after the test."""
    with ExitStack() as stack:

        def new(name: str = "data", **overrides: str) -> Cluster:
            properties = {
                "zookeeper.connect": f"{zookeeper}{CHROOT}/{tmp_path.name}",
                "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
                "inter.broker.protocol.version": "0.10.2",
                "log.message.format.version": "0.10.2",
            }
            return stack.enter_context(Cluster(properties | overrides, tmp_path / name))

        yield new


@pytest.fixture
def kazoo(zookeeper: str, tmp_path: Path) -> Iterator[KazooClient]:
    client = KazooClient(zookeeper)
    client.start(60)
    client.chroot = f"{CHROOT}/{tmp_path.name}"  # earlier, it would log that the chroot is missing
    yield client
    client.stop()
    client.close()


def create(cluster: Cluster, topic: str, partitions: int = 1, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for future in admin.create_topics([NewTopic(topic, partitions, 1, config=config)]).values():
        future.result(patient_s(60))


def delete(cluster: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for future in admin.delete_topics([topic], operation_timeout=30).values():
        future.result(patient_s(60))


def produce(cluster: Cluster, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(patient_s(60)) == 0


def values_of(cluster: Cluster, topic: str) -> list[bytes]:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(min_bytes=0, topics=[FetchTopic(topic=topic, partitions=[asked])])
    with BlockingChannel("127.0.0.1", cluster.server.bound_port()) as channel:
        data = cast(FetchResponse, channel.exchange(request, 10)).responses[0].partitions[0]
    assert data.error_code == 0
    return [
        bytes(record.value or b"") for batch in batches(cast(memoryview, data.records)) for record in batch.records()
    ]


# ── znodes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def walk(client: KazooClient, path: str = "") -> Iterator[str]:
    for child in client.get_children(path or "/"):
        yield f"{path}/{child}"
        yield from walk(client, f"{path}/{child}")


def kind(path: str) -> str:
    """A path with the names of topics and brokers, and all numbers, replaced by the same."""
    path = re.sub(r"^/(brokers|config)/topics/(?!__)[^/]+", r"/\1/topics/TOPIC", path)
    path = re.sub(r"/(ids|partitions)/\d+", r"/\1/N", path)
    return re.sub(r"_\d{10}$", "_N", path)


def shape(text: str | None) -> object:
    """The JSON with values replaced by their types; objects whose keys are data keep one key."""

    def of(value: object) -> object:
        if isinstance(value, dict):
            if value and all(key.isdigit() for key in value):
                return {"N": of(next(iter(value.values())))}
            return {key: of(each) for key, each in value.items() if key not in ("config", "rack")}
        return type(value).__name__

    try:
        return None if text is None else of(json.loads(text))
    except json.JSONDecodeError:
        return "text"


def kafkas_shapes() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, node in KAFKA_TREE.items():
        described = shape(node["value"]), bool(node["ephemeralOwner"]), node["acl"]
        found.setdefault(kind(path), set()).add(json.dumps(described, sort_keys=True))
    return found


def test_znodes_have_the_shape_of_kafkas(start: Start, kazoo: KazooClient) -> None:
    cluster = start()
    create(cluster, "plain", 2)
    create(cluster, "configured", 1, **{"retention.ms": "3600000"})
    kafkas = kafkas_shapes()
    ours: set[str] = set()
    for path in walk(kazoo):
        data, stat = kazoo.get(path)
        acls, _ = kazoo.get_acls(path)
        text = None if data is None else data.decode()
        described = shape(text), bool(stat.ephemeralOwner), [f"{a.id.scheme}:{a.id.id}:{a.perms}" for a in acls]
        if kind(path) not in kafkas:
            assert kind(path) in NOT_IN_THE_SAMPLE, path
        else:
            assert json.dumps(described, sort_keys=True) in kafkas[kind(path)], path
        ours.add(kind(path))
    assert {
        "/brokers/ids/N", "/brokers/topics/TOPIC", "/brokers/topics/TOPIC/partitions/N/state", "/cluster/id",
        "/config/topics/TOPIC", "/controller", "/controller_epoch",
    } <= ours  # fmt: skip
    assert kazoo.get("/config/topics/configured")[0] == b'{"version":1,"config":{"retention.ms":"3600000"}}'
    assert kazoo.get("/config/topics/plain")[0] == b'{"version":1,"config":{}}'
    assert kazoo.get("/brokers/topics/configured")[0] == b'{"version":1,"partitions":{"0":[0]}}'


NOT_IN_THE_SAMPLE = {"/config/brokers", "/log_dir_event_notification", "/config/ips", "/latest_producer_id_block"}
"""Of versions after 0.10.2, which has brokers' configurations only once there are any."""


# ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_broker_restarts_with_its_topics(start: Start, kazoo: KazooClient) -> None:
    cluster = start()
    create(cluster, "kept", 2)
    produce(cluster, "kept", b"before")
    cluster_id = cluster.server.cluster_id
    cluster.restart()
    assert cluster.server.cluster_id == cluster_id
    produce(cluster, "kept", b"after")
    assert values_of(cluster, "kept") == [b"before", b"after"]
    assert int(kazoo.get("/controller_epoch")[0]) == 2
    delete(cluster, "kept")
    assert "kept" not in kazoo.get_children("/brokers/topics")
    assert kazoo.get_children("/admin/delete_topics") == []


def test_a_stopped_broker_leaves_no_ephemeral_znodes(start: Start, kazoo: KazooClient) -> None:
    cluster = start()
    assert kazoo.get_children("/brokers/ids") == ["0"]
    cluster.stop()
    assert kazoo.get_children("/brokers/ids") == []
    assert kazoo.exists("/controller") is None


def test_a_broker_resumes_after_its_session_expired(start: Start, kazoo: KazooClient, zookeeper: str) -> None:
    """The broker registers again, becomes controller again, and serves requests."""
    cluster = start()
    create(cluster, "early")
    owner = kazoo.exists("/brokers/ids/0").ephemeralOwner
    expire(zookeeper, cluster)

    def is_back() -> bool:
        stats = kazoo.exists("/brokers/ids/0"), kazoo.exists("/controller")
        registered = all(stat is not None and stat.ephemeralOwner != owner for stat in stats)
        return registered and kazoo.get("/controller_epoch")[0] == b"2" and cluster.server.controller.is_active

    eventually(is_back)
    create(cluster, "late")
    for topic in ("early", "late"):
        produce(cluster, topic, b"v")
        assert values_of(cluster, topic) == [b"v"]


def expire(zookeeper: str, cluster: Cluster) -> None:
    """End the session of the broker from another connection, as ZooKeeper's own tests do."""
    intruder = KazooClient(zookeeper, client_id=cluster.server.zk_client.zookeeper._client.client_id, timeout=2)
    intruder.start(60)
    intruder.stop()
    intruder.close()


def test_two_brokers_cannot_have_the_same_id(start: Start, kazoo: KazooClient) -> None:
    first = start("first")
    with pytest.raises(NodeExistsError, match="already registered on the path /brokers/ids/0"):
        start("second", **{"zookeeper.session.timeout.ms": "1000"})  # waits twice for the end of the first session
    create(first, "unimpressed")
    produce(first, "unimpressed", b"v")
    assert json.loads(kazoo.get("/brokers/ids/0")[0])["port"] == first.server.bound_port()


def test_log_directories_of_another_cluster_are_rejected(start: Start, kazoo: KazooClient, zookeeper: str) -> None:
    start().stop()
    with pytest.raises(Exception, match=r"check zookeeper\.connect and log\.dirs"):
        start(**{"zookeeper.connect": f"{zookeeper}/another"})


def test_records_are_served_without_zookeeper(tmp_path: Path) -> None:
    """Only the controller needs ZooKeeper, and it waits for its return."""
    port = free_port()
    with EmbeddedZooKeeper(tmp_path / "zookeeper", port=port, tick_time_ms=500, force_sync=False) as zookeeper:
        connect = zookeeper.connect_string
        properties = {"zookeeper.connect": connect, "zookeeper.session.timeout.ms": "10000"}
        with Cluster(properties, tmp_path / "data") as cluster:
            create(cluster, "steady")
            produce(cluster, "steady", b"with")
            zookeeper.shutdown()
            produce(cluster, "steady", b"without")
            assert values_of(cluster, "steady") == [b"with", b"without"]
            with EmbeddedZooKeeper(tmp_path / "zookeeper", port=port, tick_time_ms=500, force_sync=False):
                create(cluster, "new")
                produce(cluster, "new", b"again")
                cluster.stop()
