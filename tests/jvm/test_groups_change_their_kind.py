"""Java's consumers of 3.9 and 4.1, librdkafka and ours, switched to ``group.protocol=consumer`` and back, live.

The coordinator is killed while the group has members of both kinds: no partition ever has two owners, and nothing is
skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import ConsumerGroupType
from confluent_kafka.admin import AdminClient

from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import Member, ModernConfluentMember, ModernOurMember, OurMember
from tests.support.group_watcher import GroupWatcher
from tests.support.java_members import Java39, Java41, Modern41
from tests.support.patient_clients import answer

pytestmark = [pytest.mark.jvm, pytest.mark.usefixtures("jvm")]

PARTITIONS = 6
TOPIC, GROUP = "flights", "switched"
LIMIT_S = 120.0
CLASSIC: list[Callable[..., Member]] = [Java41, OurMember, Java39]
MODERN: list[Callable[..., Member]] = [ModernOurMember, ModernConfluentMember, Modern41]
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "6000",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "default.replication.factor": "3",
    "min.insync.replicas": "1",
    "zookeeper.session.timeout.ms": "3000",
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(QUICK, brokers=3) as running:
        running.create_topic(TOPIC, partitions=PARTITIONS, replication_factor=3)
        yield running


def kind(cluster: Cluster) -> ConsumerGroupType:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    groups = answer(admin.list_consumer_groups()).valid
    return next(each.type for each in groups if each.group_id == GROUP)


def test_members_are_switched_one_by_one(cluster: Cluster) -> None:
    written = 0
    ever: list[Member] = []
    bootstrap = cluster.bootstrap_servers

    with ExitStack() as stack:

        def start(library: Callable[..., Member]) -> Member:
            member = stack.enter_context(library(bootstrap, GROUP, TOPIC, client_id=f"{library.__name__}-{len(ever)}"))
            ever.append(member)
            return member

        def state() -> str:
            return str([(m.client_id, sorted(m.partitions), len(m.values), m.failure) for m in ever])

        def all_is_read() -> None:
            nonlocal written
            for value in range(written, written + 60):
                cluster.produce(TOPIC, str(value).encode(), partition=value % PARTITIONS)
            written += 60
            owned = lambda: sorted(partition for member in alive for partition in member.partitions)  # noqa: E731
            eventually(lambda: owned() == list(range(PARTITIONS)) and all(m.partitions for m in alive), state, LIMIT_S)
            everything = set(range(written))
            eventually(lambda: {v for m in ever for v in list(m.values)} >= everything, state, LIMIT_S)

        alive = [start(library) for library in CLASSIC]
        all_is_read()
        assert kind(cluster) is ConsumerGroupType.CLASSIC
        stack.enter_context(GroupWatcher(bootstrap, GROUP))
        for libraries, end in ((MODERN, ConsumerGroupType.CONSUMER), (CLASSIC, ConsumerGroupType.CLASSIC)):
            for position, library in enumerate(libraries):
                alive[position].close()
                alive[position] = start(library)
                all_is_read()
                if position == 1:
                    assert kind(cluster) is ConsumerGroupType.CONSUMER
                    coordinator = cluster.leader_of("__consumer_offsets", java_abs(java_string_hash(GROUP)) % 3)
                    coordinator.kill()
                    all_is_read()
                    coordinator.start()
            assert kind(cluster) is end
