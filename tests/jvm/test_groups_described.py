"""``consumer-groups`` of Kafka 3.9 and of 0.10.2 describe our broker's groups, in every state, as ours does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import Assignment, serialize_assignment
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools, Lines, as_3_9_prints, our_tool, words
from tests.support.old_consumers import QUICK, Group, PythonMember

pytestmark = pytest.mark.jvm

TOOL_OF_3_9 = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOOL_OF_0_10_2 = "kafka.admin.ConsumerGroupCommand"
QUESTIONS = [(), ("--members",), ("--members", "--verbose"), ("--state",)]
PATIENT = {"session_timeout_ms": 300_000, "rebalance_timeout_ms": 300_000}
_names = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        running.create_topic("demo", 3)
        for partition in range(3):
            running.produce("demo", *[str(number) for number in range(5 + partition)], partition=partition)
        yield running


@pytest.fixture(scope="module")
def kafka_3_9() -> Iterator[KafkaTools]:
    with KafkaTools("3.9.1", with_errors=True) as tools:
        yield tools


@pytest.fixture(scope="module")
def kafka_0_10_2() -> Iterator[KafkaTools]:
    with KafkaTools("0.10.2.2", with_errors=True) as tools:
        yield tools


def ours(*arguments: str) -> Lines:
    return words(our_tool("consumer-groups", *arguments).output)


def in_state(cluster: Cluster, state: GroupState) -> str:
    """Bring a group to a state, with offsets of two partitions; returns its name."""
    group = GroupByHand(cluster, f"group-{next(_names)}")
    if state is GroupState.DEAD:
        return group.group_id
    ann, bob, cem = (group.member(name, **PATIENT) for name in ("ann", "bob", "cem"))
    ann.join().sync({ann: b""})
    bob.join()
    ann.join()
    if state is not GroupState.AWAITING_SYNC:
        bob.sync()
        ann.sync({ann: part(0, 1), bob: part(2)})
        ann.commit(3).commit(5, TopicPartition("demo", 1))
    if state is GroupState.PREPARING_REBALANCE:
        cem.join()
    elif state is GroupState.EMPTY:
        ann.leave()
        bob.leave()
    group.wait_for(state.name)
    return group.group_id


def part(*partitions: int) -> bytes:
    return serialize_assignment(Assignment(tuple(TopicPartition("demo", number) for number in partitions)))


@pytest.mark.parametrize("state", GroupState)
def test_every_state_is_described_the_same(
    cluster: Cluster,
    kafka_3_9: KafkaTools,
    kafka_0_10_2: KafkaTools,
    state: GroupState,
) -> None:
    group = in_state(cluster, state)
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    for question in QUESTIONS:
        asked = (*where, "--describe", "--group", group, *question)
        theirs = without_bare_heading(words(kafka_3_9.run(TOOL_OF_3_9, *asked).output))
        assert as_3_9_prints(ours(*asked)) == theirs
    if state is not GroupState.AWAITING_SYNC:  # 0.10.2 does not know the state's name, which 1.1 changed
        old = kafka_0_10_2.run(TOOL_OF_0_10_2, "--new-consumer", *where, "--describe", "--group", group)
        assert partitions(words(old.output), 0) == partitions(ours(*where, "--describe", "--group", group), 1)


def test_the_listings_are_the_same(cluster: Cluster, kafka_3_9: KafkaTools) -> None:
    groups = {state: in_state(cluster, state) for state in GroupState}
    where = ("--bootstrap-server", cluster.bootstrap_servers, "--list")
    for question in ((), ("--state",), ("--type",), ("--state", "Stable,PreparingRebalance")):
        assert ours(*where, *question) == words(kafka_3_9(TOOL_OF_3_9, *where, *question))
    listed = {tuple(line) for line in ours(*where, "--state")}
    assert {(group, state.value) for state, group in groups.items() if state is not GroupState.DEAD} <= listed


def test_a_group_of_old_consumers_is_described_the_same(cluster: Cluster, kafka_0_10_2: KafkaTools) -> None:
    where = ("--zookeeper", cluster.zookeeper_connect)
    config = QUICK | {"zookeeper.connect": cluster.zookeeper_connect, "group.id": "old", "consumer.id": "ann"}
    member = PythonMember("static:demo=1", config)
    group = Group(cluster.zookeeper_connect, "old")
    try:
        eventually(lambda: len(member.messages) == 5 + 6 + 7)
        member.commit()
        cluster.produce("demo", "one more")
        for _ in ("at work", "gone"):
            theirs = kafka_0_10_2.run(TOOL_OF_0_10_2, *where, "--describe", "--group", "old").output
            assert partitions(words(theirs), 0) == partitions(ours(*where, "--describe", "--group", "old"), 1)
            assert len(partitions(words(theirs), 0)) == 3
            member.close()
            eventually(lambda: group.members() == [])
    finally:
        member.close()
        group.close()


def without_bare_heading(lines: Lines) -> Lines:
    """Without the heading of the table of members, which 3.9 prints even for groups without members."""
    has_rows = any(line[0].startswith("group-") for line in lines)
    return [line for line in lines if has_rows or line[0] != "GROUP"]


def partitions(lines: Lines, first_column: int) -> Lines:
    """The rows of the table, from the topic column on."""
    return sorted(line[first_column:] for line in lines if line[first_column : first_column + 1] == ["demo"])
