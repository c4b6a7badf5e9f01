"""Our consumer and our broker: groups in threads, mixed groups with other clients, a broker that restarts."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer as Librdkafka

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, OffsetAndMetadata
from kafka_lite.consumer.consumer_errors import CommitFailedError, WakeupError
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_member import GroupMember, balanced
from tests.support.patience import patient_s

PARTITIONS = 4
_names = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100}) as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"topic-{next(_names)}"
    cluster.create_topic(name, PARTITIONS)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{next(_names)}"


def produce(cluster: Cluster, topic: str, first: int, count: int, codec: str = "none") -> None:
    with KafkaProducer({
        "bootstrap.servers": cluster.bootstrap_servers, "compression.type": codec, "linger.ms": 5,
    }) as producer:  # fmt: skip
        for number in range(first, first + count):
            producer.send(ProducerRecord(topic, b"%d" % number, partition=number % PARTITIONS))


def numbers(*members: GroupMember) -> list[int]:
    return sorted(int(record.value) for member in members for record in member.records)


class Members:
    """Starts members, and closes those that the test has not closed."""

    def __init__(self, cluster: Cluster, topic: Any, group: str) -> None:
        self.cluster, self.topic, self.group = cluster, topic, group
        self.started: list[GroupMember] = []

    def start(self, **configs: Any) -> GroupMember:
        topics = [self.topic] if isinstance(self.topic, str) else self.topic
        member = GroupMember(
            self.cluster.bootstrap_servers, topics, f"member-{len(self.started)}", group_id=self.group, **configs
        )
        self.started.append(member)
        member.start()
        return member

    def wait_balanced(self, *members: GroupMember) -> None:
        eventually(lambda: balanced(list(members), PARTITIONS), f"{len(members)} members share {self.topic}")


@pytest.fixture
def members(cluster: Cluster, topic: str, group: str) -> Iterator[Members]:
    made = Members(cluster, topic, group)
    yield made
    for member in made.started:
        if member.is_alive():
            member.stop()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_all_records_are_read_in_the_order_of_each_partition(cluster: Cluster, topic: str, codec: str) -> None:
    produce(cluster, topic, 0, 2000, codec)
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest"}) as consumer:
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(partitions)
        records = []
        while len(records) < 2000:
            records += consumer.poll(5000)
        assert consumer.end_offsets(partitions) == dict.fromkeys(partitions, 500)
    for number in range(PARTITIONS):
        own = [record for record in records if record.partition == number]
        assert [record.offset for record in own] == list(range(500))
        assert [int(record.value) for record in own] == list(range(number, 2000, PARTITIONS))


def test_every_record_is_read_once_while_members_join_and_leave(cluster: Cluster, topic: str, members: Members) -> None:
    first = members.start()
    members.wait_balanced(first)
    produce(cluster, topic, 0, 400)
    second, third = members.start(), members.start()
    members.wait_balanced(first, second, third)
    produce(cluster, topic, 400, 400)
    eventually(lambda: len(numbers(first, second, third)) >= 800, "800 records")
    assert second.records
    assert third.records
    second.stop()
    members.wait_balanced(first, third)
    produce(cluster, topic, 800, 400)
    eventually(lambda: len(numbers(first, second, third)) >= 1200, "1200 records")
    assert numbers(first, second, third) == list(range(1200))


@pytest.mark.parametrize("strategy", ["roundrobin", "sticky"])
def test_every_assignor_balances_the_group(cluster: Cluster, topic: str, members: Members, strategy: str) -> None:
    both = [members.start(partition_assignment_strategy=strategy) for _ in range(2)]
    members.wait_balanced(*both)
    assert {len(member.assignment) for member in both} == {PARTITIONS // 2}


def test_a_group_with_librdkafka(cluster: Cluster, topic: str, members: Members, group: str) -> None:
    """Both support range; either may be the leader, so the other must decode its assignment."""
    produce(cluster, topic, 0, 100)
    ours = members.start()
    members.wait_balanced(ours)
    other = Librdkafka({
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "partition.assignment.strategy": "range",
        "auto.offset.reset": "earliest", "heartbeat.interval.ms": 100, "session.timeout.ms": 6000,
    })  # fmt: skip
    other.subscribe([topic])
    read: list[int] = []

    def other_polls() -> bool:
        message = other.poll(0.1)
        if message is not None and message.error() is None:
            read.append(int(message.value()))  # type: ignore[arg-type]
        return len(other.assignment()) == len(ours.assignment) == PARTITIONS // 2

    eventually(other_polls, "both have half of the partitions")
    produce(cluster, topic, 100, 100)
    eventually(lambda: other_polls() and len(read) + len(ours.records) >= 200, "200 records")
    assert sorted(read + numbers(ours)) == list(range(200))
    other.close()
    members.wait_balanced(ours)


def test_a_pattern_subscribes_to_a_new_topic(cluster: Cluster, group: str) -> None:
    prefix = f"pattern-{next(_names)}"
    cluster.create_topic(f"{prefix}-a", 1)
    members = Members(cluster, re.compile(f"{prefix}-.*"), group)
    member = members.start(metadata_max_age_ms=200)
    try:
        eventually(lambda: len(member.assignment) == 1, "the first topic")
        cluster.create_topic(f"{prefix}-b", 2)
        eventually(lambda: len(member.assignment) == 3, "the second topic")
    finally:
        member.stop()


@pytest.mark.soak
def test_heartbeats_continue_while_the_user_processes(cluster: Cluster, topic: str, members: Members) -> None:
    """Longer than the session timeout, but shorter than max.poll.interval.ms: the member stays in the group."""
    produce(cluster, topic, 0, 40)
    slow = members.start(session_timeout_ms=4000)
    members.wait_balanced(slow)
    slow.busy.set()
    assert slow.works.wait(patient_s(60))
    assert not threading.Event().wait(5)
    slow.busy.clear()
    produce(cluster, topic, 40, 40)
    eventually(lambda: len(slow.records) >= 80, "80 records")
    assert slow.assignments == 1


def test_a_member_that_does_not_poll_loses_its_partitions_and_may_not_commit(
    cluster: Cluster, topic: str, members: Members
) -> None:
    stuck = members.start(max_poll_interval_ms=2000, enable_auto_commit=False)
    members.wait_balanced(stuck)
    stuck.busy.set()
    assert stuck.works.wait(patient_s(60)), "otherwise, its last poll could see the other member and join again"
    other = members.start()
    eventually(lambda: len(other.assignment) == PARTITIONS, "the other member has everything")
    with pytest.raises(CommitFailedError):
        stuck.consumer.commit_sync({TopicPartition(topic, 0): OffsetAndMetadata(0)})
    stuck.busy.clear()
    members.wait_balanced(stuck, other)


def test_a_static_member_that_restarts_causes_no_rebalance(cluster: Cluster, topic: str, members: Members) -> None:
    # Long sessions: on a busy machine, too, it is back before the group has missed it.
    static, other = (members.start(group_instance_id=name, session_timeout_ms=60_000) for name in ("one", "two"))
    members.wait_balanced(static, other)
    before, rebalances = static.assignment, other.assignments
    static.stop()
    again = members.start(group_instance_id="one", session_timeout_ms=60_000)
    eventually(lambda: again.assignment == before, "the partitions it had")
    assert other.assignments == rebalances


def test_wakeup_ends_a_waiting_poll(cluster: Cluster, topic: str) -> None:
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers}) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.poll(100)
        timer = threading.Timer(0.2, consumer.wakeup)
        timer.start()
        with pytest.raises(WakeupError):
            consumer.poll(60_000)
        timer.join()


def test_a_group_resumes_when_the_broker_returns(cluster: Cluster, topic: str, members: Members) -> None:
    both = [members.start(session_timeout_ms=10_000), members.start(session_timeout_ms=10_000)]
    members.wait_balanced(*both)
    produce(cluster, topic, 0, 200)
    eventually(lambda: len(numbers(*both)) >= 200, "200 records")
    cluster.restart()
    produce(cluster, topic, 200, 200)
    eventually(lambda: set(numbers(*both)) == set(range(400)), "400 records")
    members.wait_balanced(*both)


def test_a_topic_that_was_made_again_is_read_from_its_beginning(cluster: Cluster, topic: str) -> None:
    """Its position is that of the old topic, which the consumer learns from the error."""
    with KafkaConsumer({
        "bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest", "metadata.max.age.ms": 200,
    }) as consumer:  # fmt: skip
        consumer.assign([TopicPartition(topic, number) for number in range(PARTITIONS)])
        produce(cluster, topic, 0, 20)
        read: set[int] = set()

        def has_read(*numbers: int) -> bool:
            polled = consumer.poll(0.2)
            read.update(int(record.value or b"") for record in polled)
            return read == set(numbers)

        eventually(lambda: has_read(*range(20)))
        cluster.delete_topic(topic)
        eventually(lambda: topic not in cluster.topics)
        cluster.create_topic(topic, PARTITIONS)
        produce(cluster, topic, 100, 4)
        read.clear()
        eventually(lambda: has_read(100, 101, 102, 103), lambda: read)
