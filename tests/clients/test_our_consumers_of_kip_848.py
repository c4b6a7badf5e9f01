"""Our consumers with ``group.protocol=consumer`` on our broker, alone and beside librdkafka."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, SubscriptionPattern
from kafka_lite.producer import KafkaProducer
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.group_members import Member, ModernConfluentMember, ModernOurMember
from tests.support.group_watcher import GroupWatcher
from tests.support.kafka_tools import our_tool, words
from tests.support.patience import patient_s

PARTITIONS = 6
QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": "1500",
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.regex.refresh.interval.ms": "10000",
}
_names = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(QUICK) as running:
        yield running


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"ours-{next(_names)}"
    cluster.create_topic(name, partitions=PARTITIONS)
    return name


def consumer(cluster: Cluster, group: str, **configs: object) -> KafkaConsumer:
    keys: dict[str, object] = {
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
    }  # fmt: skip
    return KafkaConsumer(keys | {key.replace("_", "."): value for key, value in configs.items()})


def polled(reader: KafkaConsumer, partitions: int) -> None:
    """Poll until it has so many partitions."""
    eventually(lambda: (reader.poll(50), len(reader.assignment))[1] == partitions, lambda: reader.assignment, 20)


def test_ours_and_librdkafka_share_a_group(cluster: Cluster, topic: str) -> None:
    bootstrap, written = cluster.bootstrap_servers, 0
    members: list[Member] = []

    def state() -> str:
        return str([(m.client_id, sorted(m.partitions), len(m.values), m.failure) for m in members])

    def is_shared() -> bool:
        owned = sorted(p for member in members for p in member.partitions)
        return owned == list(range(PARTITIONS)) and all(member.partitions for member in members)

    def all_is_read() -> None:
        nonlocal written
        for value in range(written, written + 30):
            cluster.produce(topic, str(value).encode(), partition=value % PARTITIONS)
        written += 30
        eventually(lambda: {v for m in members for v in list(m.values)} == set(range(written)), state, 20)

    with ExitStack() as stack:
        watcher = stack.enter_context(GroupWatcher(bootstrap, "shared"))
        for number, library in enumerate((ModernOurMember, ModernConfluentMember, ModernOurMember)):
            members.append(stack.enter_context(library(bootstrap, "shared", topic, client_id=f"m{number}")))
            eventually(is_shared, state, 20)
            all_is_read()
        for member in members[:2]:
            member.close()
            all_is_read()
        assert watcher.looks > 0
    assert sorted(v for m in members for v in m.values) == list(range(written)), "each was read once"


def test_the_broker_resolves_a_pattern_also_for_later_topics(cluster: Cluster) -> None:
    cluster.create_topic("resolved-a", partitions=1)
    with consumer(cluster, "resolving") as reader:
        reader.subscribe(SubscriptionPattern("resolved-.*"))
        polled(reader, 1)
        cluster.create_topic("resolved-b", partitions=2)
        polled(reader, 3)
        assert {partition.topic for partition in reader.assignment} == {"resolved-a", "resolved-b"}


@pytest.mark.parametrize(
    ("subscription", "configs", "error"),
    [
        (SubscriptionPattern("(?=x)"), {}, Errors.INVALID_REGULAR_EXPRESSION),
        (["ours"], {"group_remote_assignor": "nobody's"}, Errors.UNSUPPORTED_ASSIGNOR),
    ],
)
def test_what_the_broker_refuses_is_raised(
    cluster: Cluster, subscription: SubscriptionPattern, configs: dict[str, object], error: Errors
) -> None:
    with consumer(cluster, "refused", **configs) as reader:
        reader.subscribe(subscription)
        with pytest.raises(ApiError) as raised:
            polled(reader, 1)
        assert raised.value.error is error


def test_a_static_member_keeps_its_partitions_over_a_restart(cluster: Cluster, topic: str) -> None:
    with consumer(cluster, "static", group_instance_id="one") as first:
        first.subscribe([topic])
        polled(first, PARTITIONS)
        with closing(consumer(cluster, "static", group_instance_id="one")) as second:
            second.subscribe([topic])
            with pytest.raises(ApiError, match="Close the other consumer") as raised:
                polled(second, 1)
            assert raised.value.error is Errors.UNRELEASED_INSTANCE_ID
    with consumer(cluster, "static") as other, consumer(cluster, "static", group_instance_id="one") as back:
        other.subscribe([topic])
        other.poll(500)
        assert not other.assignment, "the static member is expected back"
        back.subscribe([topic])
        eventually(
            lambda: (other.poll(50), back.poll(50), len(other.assignment) == len(back.assignment) == 3)[2],
            lambda: (other.assignment, back.assignment),
        )


def test_a_member_that_does_not_poll_loses_its_partitions_and_comes_back(cluster: Cluster, topic: str) -> None:
    with consumer(cluster, "slow", max_poll_interval_ms=1000) as slow, consumer(cluster, "slow") as quick:
        slow.subscribe([topic])
        polled(slow, PARTITIONS)
        quick.subscribe([topic])
        polled(quick, PARTITIONS)
        eventually(
            lambda: (slow.poll(50), quick.poll(50), len(slow.assignment) == len(quick.assignment) == 3)[2],
            lambda: (slow.assignment, quick.assignment),
        )


def test_a_topic_that_is_made_again_is_read_anew(cluster: Cluster, topic: str) -> None:
    with consumer(cluster, "anew", metadata_max_age_ms=200, allow_auto_create_topics=False) as reader:
        reader.subscribe([topic])
        cluster.produce(topic, b"old", partition=0)
        values: list[object] = []
        eventually(lambda: (values.extend(r.value for r in reader.poll(50)), values == [b"old"])[1], lambda: values)
        our_tool("topics", "--bootstrap-server", cluster.bootstrap_servers, "--delete", "--topic", topic)
        eventually(lambda: (reader.poll(50), not reader.assignment)[1], lambda: reader.assignment, 20)
        cluster.create_topic(topic, partitions=1)
        cluster.produce(topic, b"new", partition=0)
        eventually(lambda: (values.extend(r.value for r in reader.poll(50)), len(values) > 1)[1], lambda: values, 20)
        assert values == [b"old", b"new"]


def test_offsets_in_a_transaction_are_those_of_the_epoch(cluster: Cluster, topic: str) -> None:
    partition = TopicPartition(topic, 0)
    producer = KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "ours"})
    with consumer(cluster, "transactional", enable_auto_commit=False) as reader, producer:
        reader.subscribe([topic])
        polled(reader, PARTITIONS)
        producer.init_transactions()
        cluster.produce(topic, b"a", partition=0)
        eventually(lambda: len(reader.poll(50)) == 1, lambda: None)
        producer.begin_transaction()
        producer.send_offsets_to_transaction(reader._subscriptions.all_consumed(), reader.group_metadata())
        producer.commit_transaction()
        committed = reader.committed([partition])[partition]
        assert committed is not None
        assert committed.offset == 1
        producer.begin_transaction()
        stale = reader.group_metadata()._replace(generation_id=99)
        with pytest.raises(ApiError):
            producer.send_offsets_to_transaction(reader._subscriptions.all_consumed(), stale)
        producer.abort_transaction()


def test_the_tools_take_the_protocol_and_show_the_member(cluster: Cluster, topic: str) -> None:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    cluster.produce(topic, b"hello", partition=0)
    tool = [sys.executable, "-m", "kafka_lite.tools.main", "console-consumer", *where]
    which = ["--topic", topic, "--from-beginning", "--group", "console", "--max-messages", "1"]
    read = subprocess.run(
        [*tool, *which, "--consumer-property", "group.protocol=consumer"],
        capture_output=True, text=True, timeout=patient_s(60), check=True,
    )  # fmt: skip
    assert read.stdout == "hello\n"
    with consumer(cluster, "shown", client_id="c") as reader:
        reader.subscribe([topic])
        polled(reader, PARTITIONS)
        shown = our_tool("consumer-groups", *where, "--describe", "--group", "shown", "--members", "--verbose").output
        (row,) = [line for line in words(shown) if line[:1] == ["shown"]]
        assert row[4] == str(PARTITIONS)
        assert row[5:] == ["1", all_of_it := f"{topic}(0,1,2,3,4,5)", "1", all_of_it]


def test_a_classic_broker_says_what_to_do() -> None:
    with Cluster({"group.coordinator.rebalance.protocols": "classic"}) as classic:
        classic.create_topic("t", partitions=1)
        with consumer(classic, "g") as reader:
            reader.subscribe(["t"])
            with pytest.raises(ApiError, match=r"Set group\.protocol=classic") as raised:
                polled(reader, 1)
            assert raised.value.error is Errors.UNSUPPORTED_VERSION
