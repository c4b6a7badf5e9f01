"""Our ZooKeeper consumer and Kafka's in one group, on our broker and on Kafka's: same znodes, same assignment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.data import TopicAssignment
from tests.support.eventually import eventually
from tests.support.old_consumers import QUICK, Group, PythonMember, ScalaMember
from tests.support.real_kafka import old_kafka

pytestmark = pytest.mark.jvm

PARTITIONS = {"flights": 5, "weather": 3}
ALL = sorted(f"{topic}-{number}" for topic, count in PARTITIONS.items() for number in range(count))
Place = tuple[str, str]
"""Where clients connect to, and where ZooKeeper is."""


@contextmanager
def kafka_lite_broker(directory: Path) -> Iterator[Place]:
    with Cluster(data_dir=directory) as cluster:
        yield cluster.bootstrap_servers, cluster.zookeeper_connect


@pytest.fixture(scope="module", params=[kafka_lite_broker, old_kafka], ids=["kafka_lite", "0.10.2"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    start: Callable[[Path], contextmanager[Place]] = request.param
    with start(tmp_path_factory.mktemp("kafka")) as place:
        group = Group(place[1], "none")
        for topic, count in PARTITIONS.items():
            group.zk.create_topic_assignment(topic, TopicAssignment({number: [0] for number in range(count)}))
        group.close()
        yield place


def produce(place: Place, tag: str) -> set[str]:
    """One message into each partition; returns the values."""
    values = {f"{tag}:{topic}-{number}" for topic, count in PARTITIONS.items() for number in range(count)}
    with Producer({
        "metadata.broker.list": place[0], "request.required.acks": -1, "message.send.max.retries": 20,
        "partitioner.class": "tests.support.old_consumers_partitioner.ByNumber",
        "serializer.class": "kafka_lite.old_producer.encoder.StringEncoder",
        "key.serializer.class": "kafka_lite.old_producer.encoder.StringEncoder",
    }) as producer:  # fmt: skip
        for value in sorted(values):
            topic, _, number = value.partition(":")[2].rpartition("-")
            producer.send(KeyedMessage(topic, value, number))
    return values


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_both_share_the_partitions(place: Place, strategy: str) -> None:
    name = f"together-{strategy}"
    config = QUICK | {"zookeeper.connect": place[1], "group.id": name, "partition.assignment.strategy": strategy}
    subscription = "static:flights=2,weather=1"
    with ExitStack() as stack:
        group = Group(place[1], name)
        stack.callback(group.close)
        ours = PythonMember(subscription, config | {"consumer.id": "ours"})
        stack.callback(ours.close)
        before = produce(place, f"{name}-alone")
        eventually(lambda: before <= {value for *_, value in ours.messages})
        ours.commit()  # a member reads offsets before it claims, perhaps before a rebalance commits them

        scala = ScalaMember(subscription, config | {"consumer.id": "scala"})
        stack.callback(scala.close)
        # Each reports the assignment of both as it has computed it; ZooKeeper must come to have the same.
        eventually(lambda: scala.assignments and ours.assignments[-1] == scala.assignments[-1])
        eventually(lambda: group.owners(PARTITIONS) == ours.assignments[-1] == scala.assignments[-1])
        owners = group.owners(PARTITIONS)
        assert {owner.rpartition("-")[0] for owner in scala.assignments[-1].values()} == {
            f"{name}_ours",
            f"{name}_scala",
        }
        values = produce(place, f"{name}-both")
        eventually(lambda: values <= {value for *_, value in ours.messages + scala.messages})
        assert sorted(ours.messages + scala.messages) == sorted(set(ours.messages + scala.messages))
        for member, consumer in (ours, f"{name}_ours"), (scala, f"{name}_scala"):
            consumed = {f"{topic}-{number}" for topic, number, _, value in member.messages if value in values}
            assert consumed == {partition for partition, owner in owners.items() if owner[: len(consumer)] == consumer}
        ids_of_both(group, name)


def owners_of(group: Group) -> set[str]:
    return {(owner or "").rpartition("-")[0] for owner in group.owners(PARTITIONS).values()}


def ids_of_both(group: Group, name: str) -> None:
    """The registrations are the same except for their timestamps, and so are the znodes above them."""
    found = []
    for member in group.members():
        data, _ = group.zk.zookeeper.get(f"/consumers/{name}/ids/{member}")
        value = json.loads(data or b"")
        assert value.pop("timestamp").isdigit()
        found.append(value)
    assert len(found) == 2
    assert found[0] == found[1] == {"version": 1, "subscription": {"flights": 2, "weather": 1}, "pattern": "static"}


def test_a_member_resumes_at_the_commits_of_a_dead_one(place: Place) -> None:
    name = "dies"
    config = QUICK | {
        "zookeeper.connect": place[1], "group.id": name, "auto.offset.reset": "largest",
    }  # fmt: skip
    with ExitStack() as stack:
        group = Group(place[1], name)
        stack.callback(group.close)
        scala = ScalaMember("white_list:flights|weather=1", config | {"consumer.id": "scala"})
        stack.callback(scala.close)
        eventually(lambda: None not in group.owners(PARTITIONS).values())
        ours = PythonMember("white_list:(flights|weather)=2", config | {"consumer.id": "ours"})
        stack.callback(ours.close)
        eventually(lambda: None not in group.owners(PARTITIONS).values() and len(owners_of(group)) == 2)
        eventually(lambda: scala.assignments and scala.assignments[-1] == group.owners(PARTITIONS))
        # largest: messages are not seen until a position is known.
        number = 0

        def all_seen() -> bool:
            nonlocal number
            number += 1
            values = produce(place, f"{name}-{number}")
            try:
                eventually(lambda: values <= {value for *_, value in ours.messages + scala.messages}, timeout_s=3)
            except AssertionError:
                return False
            return True

        eventually(all_seen)
        ours.commit()
        scala.commit()
        committed = group.offsets(PARTITIONS)
        assert sorted(committed) == ALL
        seen = len(ours.messages)
        scala.kill()
        group.miss("scala")
        eventually(lambda: owners_of(group) == {f"{name}_ours"})
        values = produce(place, f"{name}-last")
        eventually(lambda: values <= {value for *_, value in ours.messages})
        assert {value for *_, value in ours.messages[seen:]} == values
        ours.close()
        assert group.members() == []
        assert group.offsets(PARTITIONS) == {partition: offset + 1 for partition, offset in committed.items()}
        assert set(group.owners(PARTITIONS).values()) == {None}


@pytest.mark.parametrize("dual", ["true", "false"])
def test_offsets_that_one_stored_in_kafka_are_read_by_the_other(place: Place, dual: str) -> None:
    name = f"storage-{dual}"
    config = QUICK | {
        "zookeeper.connect": place[1], "group.id": name, "offsets.storage": "kafka", "dual.commit.enabled": dual,
    }  # fmt: skip
    subscription = "static:flights=1,weather=1"
    with ExitStack() as stack:
        group = Group(place[1], name)
        stack.callback(group.close)
        expected = produce(place, f"{name}-1")
        for number, kind in enumerate((PythonMember, ScalaMember, PythonMember), 2):
            member = kind(subscription, config | {"consumer.id": f"{kind.__name__}-{number}"})
            stack.callback(member.close)
            eventually(lambda member=member, expected=expected: expected <= {value for *_, value in member.messages})
            if number > 2:  # the first one started at the beginning of the log
                assert {value for *_, value in member.messages} == expected
            member.commit()
            member.close()
            eventually(lambda: group.members() == [])
            assert len(group.offsets(PARTITIONS)) == (len(ALL) if dual == "true" else 0)
            expected = produce(place, f"{name}-{number}")
