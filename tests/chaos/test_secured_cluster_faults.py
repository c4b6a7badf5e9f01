"""Faults of a cluster whose clients come by SASL_SSL and may do what access control lists allow: no promise is broken.

The brokers authenticate each other, too. The clients are those of ``make chaos``, real processes of ours and of
librdkafka; the checker is that of ``make chaos`` and the simulator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType
from confluent_kafka.admin._resource import ResourceType as Resource

from kafka_lite.testing.chaos.chaos_clients import ChaosClients
from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.history.checker import check
from kafka_lite.testing.history.history import History
from kafka_lite.testing.security.cluster_security import ClusterSecurity
from tests.support.eventually import eventually
from tests.support.patient_clients import answer

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

TOPIC, GROUPS, PARTITIONS, PER_ROUND = "orders", "readers", 2, 20
SECURITY = ClusterSecurity("SASL_SSL", users={"alice": "alice-secret", "bob": "bob-secret"}, acls=True)
SETTINGS = {
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "replica.lag.time.max.ms": "3000",
    "controlled.shutdown.retry.backoff.ms": "100",
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(SETTINGS, brokers=3, security=SECURITY) as cluster:
        cluster.create_topic(TOPIC, partitions=PARTITIONS)
        configs: dict[str, Any] = {**cluster.librdkafka_configs()}
        admin = AdminClient(configs)
        for user, resource, name, operation in (
            ("alice", Resource.TOPIC, TOPIC, AclOperation.WRITE),
            ("bob", Resource.TOPIC, TOPIC, AclOperation.READ),
            ("bob", Resource.GROUP, GROUPS, AclOperation.READ),
        ):
            binding = AclBinding(
                resource, name, ResourcePatternType.PREFIXED, f"User:{user}", "*", operation, AclPermissionType.ALLOW
            )
            answer(admin.create_acls([binding])[binding])
        yield cluster


def start_clients(cluster: Cluster, clients: ChaosClients, history: History) -> None:
    """A producer and a consumer of each library: alice writes, bob reads."""
    for library, configs_of in (("ours", cluster.client_configs), ("librdkafka", cluster.librdkafka_configs)):
        for is_producer, user in ((True, "alice"), (False, "bob")):
            name = f"{library}-{user}"
            configs: Mapping[str, str] = {
                key: value for key, value in configs_of(user).items() if key != "bootstrap.servers"
            }
            group = "" if is_producer else f"{GROUPS}-{library}"
            spec = ClientSpec(
                name, is_producer, library, TOPIC, PARTITIONS, cluster.bootstrap_servers, group=group, configs=configs
            )
            clients.start(spec)
    assert set(history.groups) == {"ours-bob", "librdkafka-bob"}


def kill_the_leader(cluster: Cluster) -> None:
    broker = cluster.leader_of(TOPIC)
    broker.kill()
    cluster.start_broker(broker)


def stop_the_controller(cluster: Cluster) -> None:
    broker = cluster.controller
    cluster.stop_broker(broker)
    cluster.start_broker(broker)


def cut_two_brokers(cluster: Cluster) -> None:
    with cluster.network.cut(0, 1):
        cluster.wait_for_controller()


def end_all_connections(cluster: Cluster) -> None:
    """Every client must authenticate again."""
    for broker in cluster.brokers:
        broker.disconnect_all()


def expire_a_session(cluster: Cluster) -> None:
    cluster.leader_of(TOPIC).expire_session()


FAULTS: tuple[Callable[[Cluster], None], ...] = (
    kill_the_leader, end_all_connections, stop_the_controller, cut_two_brokers, expire_a_session,
)  # fmt: skip


def test_no_promise_is_broken_by_faults_of_a_secured_cluster(cluster: Cluster, tmp_path: Path) -> None:
    history = History()
    clients = ChaosClients(tmp_path / "clients", history, seed=1)
    try:
        start_clients(cluster, clients, history)
        await_progress(clients)
        for fault in FAULTS:
            fault(cluster)
            await_progress(clients)
        clients.end(producers=True)
        eventually(lambda: not clients.running(producers=True), "the producers end", 120)
        clients.read_histories()
        for partition in range(PARTITIONS):
            cluster.wait_for_isr(TOPIC, partition)
            for record in cluster.records(TOPIC, partition):
                history.store(TOPIC, partition, record.offset, (record.value or b"").decode(), text(record.key))
        eventually(lambda: has_read_everything(clients, history), "the groups read to the end", 120)
        clients.end(producers=False)
        eventually(lambda: not clients.running(producers=False), "the consumers end", 120)
        clients.read_histories()
        history.finished_groups = {f"{GROUPS}-{library}": TOPIC for library in ("ours", "librdkafka")}
        assert clients.failures() == []
        assert check(history) == []
        print(f"{len(FAULTS)} faults: {history.summary()}")
    finally:
        clients.kill()


def text(key: bytes | None) -> str | None:
    return None if key is None else key.decode()


def await_progress(clients: ChaosClients) -> None:
    """Wait until every client has got or written some more records."""
    before = clients.progress()

    def all_progressed() -> bool:
        clients.read_histories()
        assert clients.failures() == []
        now = clients.progress()
        return bool(now) and all(now[name] >= before[name] + PER_ROUND for name in now)

    eventually(all_progressed, lambda: f"progress: {clients.progress()} after {before}", 120)


def has_read_everything(clients: ChaosClients, history: History) -> bool:
    clients.read_histories()
    stored = {each.place for each in history.stored}
    got = defaultdict(set)
    for polled in history.polled:
        got[history.groups[polled.consumer]].add(polled.place)
    return len(got) == len({*history.groups.values()}) and all(stored <= places for places in got.values())
