"""Java's consumers of 3.9 and 4.1, librdkafka and ours in one group whose assignment the broker computes (KIP-848).

Members come, are killed, and are stopped for longer than their session; the coordinator is killed: no partition
ever has two owners, and nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import Member, ModernConfluentMember, ModernOurMember
from tests.support.group_watcher import GroupWatcher
from tests.support.java_members import JavaMember, Modern39, Modern41
from tests.support.kafka_tools import KafkaTools, words

pytestmark = [pytest.mark.jvm, pytest.mark.usefixtures("jvm")]

PARTITIONS = 6
TOPIC, GROUP = "flights", "modern"
LIMIT_S = 120.0
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "4000",
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


def balanced(*members: Member) -> bool:
    owned = sorted(partition for member in members for partition in member.partitions)
    sizes = [len(member.partitions) for member in members]
    return owned == list(range(PARTITIONS)) and max(sizes) - min(sizes) <= 1


def test_java_librdkafka_and_ours_share_a_group_through_kills(cluster: Cluster) -> None:
    written = 0

    def write(count: int) -> None:
        nonlocal written
        for value in range(written, written + count):
            cluster.produce(TOPIC, str(value).encode(), partition=value % PARTITIONS)
        written += count

    with ExitStack() as stack:
        bootstrap = cluster.bootstrap_servers
        watcher = GroupWatcher(bootstrap, GROUP)
        members: list[Member] = [stack.enter_context(Modern41(bootstrap, GROUP, TOPIC))]
        watcher.start()
        stack.callback(watcher.stop)
        members += [
            stack.enter_context(library(bootstrap, GROUP, TOPIC))
            for library in (Modern39, ModernConfluentMember, ModernOurMember)
        ]

        def state() -> str:
            return str([(m.client_id, sorted(m.partitions), len(m.values), m.failure) for m in members])

        def all_is_read(*alive: Member) -> None:
            everything = set(range(written))
            eventually(lambda: everything <= {v for m in members for v in list(m.values)}, state, LIMIT_S)
            eventually(lambda: balanced(*alive), state, LIMIT_S)

        eventually(lambda: balanced(*members), state, LIMIT_S)
        write(120)
        all_is_read(*members)
        with KafkaTools("3.9.1") as tools:
            described(tools, bootstrap)
        coordinator = cluster.leader_of("__consumer_offsets", java_abs(java_string_hash(GROUP)) % 3)
        coordinator.kill()
        write(120)
        all_is_read(*members)
        coordinator.start()
        killed = members[1]
        assert isinstance(killed, JavaMember)
        killed.kill()
        java, _, *others = members
        assert isinstance(java, JavaMember)
        eventually(lambda: balanced(java, *others), state, LIMIT_S)
        java.stop()
        write(120)
        eventually(lambda: balanced(*others), state, LIMIT_S)
        java.go_on()
        all_is_read(java, *others)
        last = stack.enter_context(ModernOurMember(bootstrap, GROUP, TOPIC, client_id="last"))
        members.append(last)
        write(120)
        all_is_read(java, *others, last)


def described(tools: KafkaTools, bootstrap: str) -> None:
    """Kafka's own tool sees the group."""
    tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    where = ("--bootstrap-server", bootstrap, "--describe", "--group", GROUP)
    text = tools.run(tool, *where, "--state").output
    assert any("Stable" in line and "uniform" in line for line in words(text)), text
    text = tools.run(tool, *where, "--members").output
    assert len([line for line in words(text) if line[0] == GROUP]) == 4, text
    text = tools.run(tool, *where).output
    assert len([line for line in words(text) if line[:2] == [GROUP, TOPIC]]) == PARTITIONS, text
