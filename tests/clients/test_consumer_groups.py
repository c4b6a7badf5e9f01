"""Consumers of three libraries in groups: each library alone, and all in one group; committed offsets are kept."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack

import kafka
import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka.coordinator.assignors.range import RangePartitionAssignor

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import AiokafkaMember, ConfluentMember, KafkaPythonMember, Member
from tests.support.patience import patient_s

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

LIBRARIES: list[type[Member]] = [ConfluentMember, KafkaPythonMember, AiokafkaMember]
PARTITIONS = 6
_names = itertools.count()


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"group-topic-{next(_names)}"
    cluster.create_topic(name, partitions=PARTITIONS)
    return name


@pytest.fixture
def members() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def produce(cluster: Cluster, topic: str, values: range) -> None:
    for value in values:
        cluster.produce(topic, str(value).encode(), partition=value % PARTITIONS)


@pytest.mark.parametrize("library", LIBRARIES)
def test_members_share_the_partitions_and_hand_them_over(
    cluster: Cluster, topic: str, library: type[Member], members: ExitStack
) -> None:
    group = f"share-{library.__name__}"
    first = members.enter_context(library(cluster.bootstrap_servers, group, topic))
    eventually(lambda: len(first.partitions) == PARTITIONS, lambda: first.partitions)
    second = members.enter_context(library(cluster.bootstrap_servers, group, topic))
    eventually(
        lambda: len(first.partitions) == 3 and first.partitions | second.partitions == set(range(PARTITIONS)),
        lambda: (first.partitions, second.partitions),
    )
    produce(cluster, topic, range(60))
    eventually(lambda: len(first.values) + len(second.values) == 60, lambda: (first.values, second.values))
    assert sorted(first.values + second.values) == list(range(60))
    first.close()
    eventually(lambda: len(second.partitions) == PARTITIONS, lambda: second.partitions)
    produce(cluster, topic, range(60, 90))
    eventually(lambda: set(range(60, 90)) <= set(second.values), lambda: second.values)


def test_members_of_three_libraries_share_one_group(cluster: Cluster, topic: str, members: ExitStack) -> None:
    mixed = [members.enter_context(library(cluster.bootstrap_servers, "mixed", topic)) for library in LIBRARIES]
    eventually(
        lambda: (
            sorted(len(member.partitions) for member in mixed) == [2, 2, 2]
            and set().union(*(member.partitions for member in mixed)) == set(range(PARTITIONS))
        ),
        lambda: [member.partitions for member in mixed],
    )
    produce(cluster, topic, range(120))
    eventually(lambda: sum(len(member.values) for member in mixed) >= 120, lambda: [m.values for m in mixed])
    assert set().union(*(member.values for member in mixed)) == set(range(120))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    group = admin.describe_consumer_groups(["mixed"])["mixed"].result(patient_s(60))
    assert (group.state.name, group.partition_assignor, len(group.members)) == ("STABLE", "range", 3)
    assert RangePartitionAssignor.name == "range"


@pytest.mark.parametrize("reader", LIBRARIES)
@pytest.mark.parametrize("writer", LIBRARIES)
def test_a_library_resumes_at_the_offset_that_another_committed(
    cluster: Cluster, topic: str, writer: type[Member], reader: type[Member]
) -> None:
    group = f"relay-{writer.__name__}-{reader.__name__}"
    produce(cluster, topic, range(30))
    with writer(cluster.bootstrap_servers, group, topic) as first:
        eventually(lambda: len(first.values) == 30, lambda: first.values)
    produce(cluster, topic, range(30, 60))
    with reader(cluster.bootstrap_servers, group, topic) as second:
        eventually(lambda: len(second.values) >= 30, lambda: (second.values, second.partitions, second.failure))
    assert sorted(second.values) == list(range(30, 60))


def test_an_administrator_describes_and_alters_groups(cluster: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    produce(cluster, topic, range(6))
    with ConfluentMember(cluster.bootstrap_servers, "administered", topic) as member:
        eventually(lambda: len(member.values) == 6, lambda: member.values)
        listed = {group.group_id: group for group in admin.list_consumer_groups().result(patient_s(60)).valid}
        assert (listed["administered"].state.name, listed["administered"].is_simple_consumer_group) == ("STABLE", False)
        assert "NON_EMPTY_GROUP" in str(
            admin.delete_consumer_groups(["administered"])["administered"].exception(patient_s(20))
        )
    asked = ConsumerGroupTopicPartitions("administered")
    offsets = admin.list_consumer_group_offsets([asked])["administered"].result(patient_s(60)).topic_partitions
    assert sorted((tp.partition, tp.offset) for tp in offsets) == [(p, 1) for p in range(PARTITIONS)]
    wanted = ConsumerGroupTopicPartitions("administered", [TopicPartition(topic, 0, 0)])
    admin.alter_consumer_group_offsets([wanted])["administered"].result(patient_s(60))
    with ConfluentMember(cluster.bootstrap_servers, "administered", topic) as member:
        eventually(lambda: member.values == [0], lambda: member.values)
    assert admin.delete_consumer_groups(["administered"])["administered"].result(patient_s(60)) is None
    listed = {group.group_id for group in admin.list_consumer_groups().result(patient_s(60)).valid}
    assert "administered" not in listed


def test_kafka_python_lists_describes_and_resets(cluster: Cluster, topic: str) -> None:
    produce(cluster, topic, range(6))
    with KafkaPythonMember(cluster.bootstrap_servers, "seen-by-kafka-python", topic) as member:
        eventually(lambda: len(member.values) == 6, lambda: member.values)
    admin = kafka.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    try:
        offsets = admin.list_group_offsets("seen-by-kafka-python")
    finally:
        admin.close()
    found = {tp.partition: found.offset for tp, found in offsets["seen-by-kafka-python"].items()}
    assert found == dict.fromkeys(range(PARTITIONS), 1)


@pytest.mark.soak
def test_a_static_member_returns_without_a_rebalance(cluster: Cluster, topic: str) -> None:
    config = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": "static",
        "partition.assignment.strategy": "range",
        "auto.offset.reset": "earliest",
    }
    rebalances: list[str] = []

    def join(instance: str) -> Consumer:
        consumer = Consumer(config | {"group.instance.id": instance})
        consumer.subscribe([topic], on_assign=lambda _c, tps: rebalances.append(f"{instance}:{len(tps)}"))
        return consumer

    first, second = join("one"), join("two")

    def poll(*consumers: Consumer) -> None:
        for consumer in consumers:
            consumer.poll(0.05)

    def settled() -> bool:
        poll(first, second)
        return len(first.assignment()) == 3 and len(second.assignment()) == 3

    eventually(settled, lambda: (first.assignment(), second.assignment(), rebalances))
    before = list(rebalances)
    second.close()
    second = join("two")

    def is_back() -> bool:
        poll(first, second)
        return len(second.assignment()) == 3

    try:
        eventually(is_back, lambda: rebalances)
        assert rebalances == [*before, "two:3"], "only the member that returned got an assignment"
    finally:
        first.close()
        second.close()
