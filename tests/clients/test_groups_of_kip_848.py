"""librdkafka with ``group.protocol=consumer``: the broker assigns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, ConsumerGroupType, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from kafka_lite.common.topic_partition import TopicPartition as Partition
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import ConfluentMember, ModernConfluentMember
from tests.support.kafka_tools import our_tool, words
from tests.support.patience import patient_s

PARTITIONS = 6
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "6000",
}
_names = itertools.count()


@pytest.fixture(scope="module")
def modern() -> Iterator[Cluster]:
    with Cluster(QUICK) as running:
        yield running


@pytest.fixture
def topic(modern: Cluster) -> str:
    name = f"modern-{next(_names)}"
    modern.create_topic(name, partitions=PARTITIONS)
    return name


def produce(modern: Cluster, topic: str, values: range) -> None:
    for value in values:
        modern.produce(topic, str(value).encode(), partition=value % PARTITIONS)


def test_members_share_the_partitions_and_hand_them_over(modern: Cluster, topic: str) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(ModernConfluentMember(modern.bootstrap_servers, "share", topic))
        eventually(lambda: len(first.partitions) == PARTITIONS, lambda: first.partitions)
        second = stack.enter_context(ModernConfluentMember(modern.bootstrap_servers, "share", topic))
        eventually(
            lambda: (
                len(first.partitions) == len(second.partitions) == 3
                and first.partitions | second.partitions == set(range(PARTITIONS))
            ),
            lambda: (first.partitions, second.partitions),
        )
        produce(modern, topic, range(60))
        eventually(lambda: len(first.values) + len(second.values) == 60, lambda: (first.values, second.values))
        assert sorted(first.values + second.values) == list(range(60))
        first.close()
        eventually(lambda: len(second.partitions) == PARTITIONS, lambda: second.partitions)
        produce(modern, topic, range(60, 90))
        eventually(lambda: set(range(60, 90)) <= set(second.values), lambda: second.values)
        assert not set(second.values) & set(first.values), "the first has committed what it read"


def test_an_administrator_sees_both_kinds_of_groups(modern: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": modern.bootstrap_servers})
    with (
        ModernConfluentMember(modern.bootstrap_servers, "new", topic, client_id="n") as new,
        ConfluentMember(modern.bootstrap_servers, "old", topic) as old,
    ):
        eventually(lambda: len(new.partitions) == len(old.partitions) == PARTITIONS, lambda: new.partitions)
        groups = {group.group_id: group.type for group in admin.list_consumer_groups().result(patient_s(60)).valid}
        assert (groups["new"], groups["old"]) == (ConsumerGroupType.CONSUMER, ConsumerGroupType.CLASSIC)
        described = admin.describe_consumer_groups(["new"])["new"].result(patient_s(60))
        assert (described.state.name, described.partition_assignor) == ("STABLE", "uniform")
        (member,) = described.members
        assert (member.client_id, len(member.assignment.topic_partitions)) == ("n", PARTITIONS)
        assert described.members[0].target_assignment is not None


def test_our_tool_shows_a_group_that_the_broker_assigns(modern: Cluster, topic: str) -> None:
    produce(modern, topic, range(12))
    where = ("--bootstrap-server", modern.bootstrap_servers)
    with ModernConfluentMember(modern.bootstrap_servers, "shown", topic, client_id="c") as member:
        eventually(lambda: len(member.values) == 12, lambda: member.values)
    with ModernConfluentMember(modern.bootstrap_servers, "shown", topic, client_id="c") as member:
        eventually(lambda: len(member.partitions) == PARTITIONS, lambda: member.partitions)
        asked = ("consumer-groups", *where, "--describe", "--group", "shown")
        rows = [line for line in words(our_tool(*asked).output) if line[:2] == ["shown", topic]]
        assert sorted(row[2:6] for row in rows) == [[str(p), "2", "2", "0"] for p in range(PARTITIONS)]
        state = our_tool(*asked, "--state").output
        assert "Stable" in state
        assert "uniform" in state
        members = our_tool(*asked, "--members", "--verbose").output
        assert f"{topic}(0,1,2,3,4,5)" in members
        listed = our_tool("consumer-groups", *where, "--list", "--type", "consumer").output
        assert "shown" in listed


def test_a_group_is_deleted_when_its_members_have_left(modern: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": modern.bootstrap_servers})
    produce(modern, topic, range(6))
    with ModernConfluentMember(modern.bootstrap_servers, "deleted", topic) as member:
        eventually(lambda: len(member.values) == 6, lambda: member.values)
        with pytest.raises(Exception, match=r"NON_EMPTY_GROUP|not empty"):
            admin.delete_consumer_groups(["deleted"])["deleted"].result(patient_s(60))
    admin.delete_consumer_groups(["deleted"])["deleted"].result(patient_s(60))
    with ModernConfluentMember(modern.bootstrap_servers, "deleted", topic) as again:
        eventually(lambda: len(again.values) == 6, lambda: again.values)


def test_new_partitions_are_read(modern: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": modern.bootstrap_servers})
    with ModernConfluentMember(modern.bootstrap_servers, "grows", topic) as member:
        eventually(lambda: len(member.partitions) == PARTITIONS, lambda: member.partitions)
        admin.create_partitions([NewPartitions(topic, PARTITIONS + 2)])[topic].result(patient_s(60))
        eventually(lambda: len(member.partitions) == PARTITIONS + 2, lambda: member.partitions)


def test_an_expression_is_resolved_by_the_broker(modern: Cluster) -> None:
    for name in ("re-a", "re-b"):
        modern.create_topic(name, partitions=1)
    config = {"bootstrap.servers": modern.bootstrap_servers, "group.id": "regex", "group.protocol": "consumer"}
    consumer = Consumer(config)
    try:
        consumer.subscribe(["^re-.*"])
        eventually(lambda: (consumer.poll(0.1), len(consumer.assignment()))[1] == 2, consumer.assignment)
        modern.create_topic("re-c", partitions=2)
        eventually(lambda: (consumer.poll(0.1), len(consumer.assignment()))[1] == 4, consumer.assignment)
    finally:
        consumer.close()


def test_a_static_member_is_back_without_a_rebalance(modern: Cluster, topic: str) -> None:
    config = {"bootstrap.servers": modern.bootstrap_servers, "group.id": "static", "group.protocol": "consumer"}
    admin = AdminClient({"bootstrap.servers": modern.bootstrap_servers})

    def epochs() -> list[tuple[str | None, int]]:
        members = admin.describe_consumer_groups(["static"])["static"].result(patient_s(60)).members
        return sorted((member.group_instance_id, len(member.assignment.topic_partitions)) for member in members)

    def run(consumer: Consumer) -> set[int]:
        consumer.subscribe([topic])
        eventually(lambda: (consumer.poll(0.1), len(consumer.assignment()))[1] == PARTITIONS, lambda: epochs())
        return {each.partition for each in consumer.assignment()}

    first = Consumer({**config, "group.instance.id": "one"})
    run(first)
    first.close()
    assert epochs() == [("one", PARTITIONS)], "it stays in the group until its session ends"
    back = Consumer({**config, "group.instance.id": "one"})
    assert run(back) == set(range(PARTITIONS))
    back.close()


def test_only_the_owner_in_its_epoch_commits(modern: Cluster, topic: str) -> None:
    with ModernConfluentMember(modern.bootstrap_servers, "fenced", topic) as member:
        eventually(lambda: len(member.partitions) == PARTITIONS, lambda: member.partitions)
        outsider = Consumer({"bootstrap.servers": modern.bootstrap_servers, "group.id": "fenced"})
        with pytest.raises(Exception) as raised:
            outsider.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
        error = raised.value.args[0]
        assert isinstance(error, KafkaError)
        assert error.code() == KafkaError.UNKNOWN_MEMBER_ID
        outsider.close()


def test_a_transaction_commits_the_offsets_of_a_member(modern: Cluster, topic: str) -> None:
    produce(modern, topic, range(6))
    config = {
        "bootstrap.servers": modern.bootstrap_servers,
        "group.id": "transactional",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = Consumer(config)
    consumer.subscribe([topic])
    read: list[object] = []
    eventually(lambda: (read.append(m) if (m := consumer.poll(0.1)) else None, len(read))[1] == 6, lambda: read)
    producer = Producer({"bootstrap.servers": modern.bootstrap_servers, "transactional.id": "x"})
    producer.init_transactions(60)
    producer.begin_transaction()
    positions = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 60)
    producer.commit_transaction(60)
    committed = consumer.committed(positions, 60)
    assert [each.offset for each in committed] == [1] * PARTITIONS
    consumer.close()


def test_a_group_outlives_its_coordinator() -> None:
    """The next coordinator reads the group from the log; members keep their epochs, and nothing is skipped."""
    keys = {
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "3",
        "default.replication.factor": "3",
        "zookeeper.session.timeout.ms": "3000",
    }
    with Cluster({**QUICK, **keys}, brokers=3) as three, ExitStack() as stack:
        three.create_topic("t", partitions=PARTITIONS, replication_factor=3)
        members = [
            stack.enter_context(ModernConfluentMember(three.bootstrap_servers, "g", "t", client_id=name))
            for name in "abc"
        ]

        def is_shared() -> bool:
            owned = sorted(partition for member in members for partition in member.partitions)
            return owned == list(range(PARTITIONS)) and all(len(member.partitions) == 2 for member in members)

        def everything_is_read(count: int) -> None:
            read = lambda: {value for member in members for value in list(member.values)}  # noqa: E731
            eventually(lambda: read() == set(range(count)), lambda: set(range(count)) - read(), 90)

        eventually(is_shared, lambda: [member.partitions for member in members], 60)
        produce(three, "t", range(60))
        everything_is_read(60)
        log = Partition("__consumer_offsets", 0)
        (coordinator,) = [broker for broker in three.brokers if broker.leads(log, 0)]
        before = [member.partitions for member in members]
        coordinator.kill()
        produce(three, "t", range(60, 120))
        everything_is_read(120)
        assert [member.partitions for member in members] == before, "no rebalance"
        coordinator.start()
        members[0].close()
        eventually(lambda: len(members[1].partitions | members[2].partitions) == PARTITIONS, "two share all", 60)
