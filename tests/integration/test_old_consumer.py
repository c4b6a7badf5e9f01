"""Groups of ZooKeeper consumers with a whole broker: members join, leave and die, leaders fail, offsets move."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from kazoo.client import KazooClient

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer import Consumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import ConsumerRebalanceFailedError
from kafka_lite.old_consumer.zookeeper_consumer_connector import MessageStreamsExistError
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NodeExistsError
from tests.support.eventually import eventually
from tests.support.old_consumers import QUICK, Group, PythonMember

PARTITIONS = 4
TOPIC = "t"
Join = Callable[..., PythonMember]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    # A lookup of the leader of a deleted topic would recreate it.
    with Cluster({"auto.create.topics.enable": "false"}) as running:
        yield running


@pytest.fixture
def topic(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    """A topic and a group for one test."""
    name = request.node.name.replace("[", "-").replace("]", "")
    cluster.create_topic(name, PARTITIONS)
    return str(name)


@pytest.fixture
def group(cluster: Cluster, topic: str) -> Iterator[Group]:
    found = Group(cluster.zookeeper_connect, topic)
    yield found
    found.close()


@pytest.fixture
def join(cluster: Cluster, topic: str) -> Iterator[Join]:
    """Creates members, which leave at the end."""
    with ExitStack() as stack:

        def make(name: str, subscription: str = "", **config: str) -> PythonMember:
            settings = QUICK | {"zookeeper.connect": cluster.zookeeper_connect, "group.id": topic, "consumer.id": name}
            settings |= {key.replace("_", "."): value for key, value in config.items()}
            member = PythonMember(subscription or f"static:{topic}=1", settings)
            stack.callback(member.close)
            return member

        yield make


def produce(cluster: Cluster, topic: str, tag: str, count: int = 1, partitions: int = PARTITIONS) -> set[str]:
    """Produce into each partition; returns the values."""
    made = set()
    for partition in range(partitions):
        values = [f"{tag}-{partition}-{number}" for number in range(count)]
        cluster.produce(topic, *values, partition=partition)
        made |= set(values)
    return made


def values(*members: PythonMember) -> list[str]:
    return sorted(value for member in members for *_, value in member.messages)


def wait_for(expected: set[str], member: PythonMember) -> None:
    eventually(lambda: set(values(member)) == expected)


def owners(group: Group, topic: str, partitions: int = PARTITIONS) -> list[str | None]:
    return list(group.owners({topic: partitions}).values())


# ── Members join and leave ────────────────────────────────────────────────────────────────────────────────────────────


def test_members_share_the_partitions_while_they_join_and_leave(
    cluster: Cluster, topic: str, group: Group, join: Join
) -> None:
    first = join("a")
    goes_on = Consuming(cluster, topic, group)
    goes_on("one", "aaaa", first)
    second, third = join("b"), join("c")
    goes_on("three", "aabc", first, second, third)
    first.close()
    goes_on("two", "bbcc", second, third)
    second.close()
    third.close()
    assert group.members() == []
    assert group.offsets({topic: PARTITIONS}) == {f"{topic}-{number}": 15 for number in range(PARTITIONS)}
    assert owners(group, topic) == [None] * PARTITIONS


class Consuming:
    """Messages that a group gets, each once, in one membership after the other."""

    def __init__(self, cluster: Cluster, topic: str, group: Group) -> None:
        self._cluster = cluster
        self._topic = topic
        self._group = group
        self._expected: set[str] = set()
        self._everybody: list[PythonMember] = []

    def __call__(self, tag: str, owned_by: str, *members: PythonMember) -> None:
        """Produce to each partition when it has its owner, and consume that; then commit.

        Members read offsets before they claim, as Kafka's do, perhaps before their owner's last commit: so without
        commits here, messages may be consumed twice although all leave cleanly.
        """
        self._everybody += [member for member in members if member not in self._everybody]
        eventually(lambda: owners(self._group, self._topic) == [f"{self._topic}_{name}-0" for name in owned_by])
        self._expected |= produce(self._cluster, self._topic, tag, 5)
        eventually(lambda: set(values(*self._everybody)) == self._expected)
        assert len(values(*self._everybody)) == len(self._expected)
        for member in members:
            member.commit()


def test_the_listener_is_called_at_both_ends_of_a_rebalance(topic: str, join: Join) -> None:
    first = join("a")
    join("b")
    eventually(lambda: first.released[-1] == {topic: {0, 1, 2, 3}})
    expected = {f"{topic}-{number}": f"{topic}_{name}-0" for number, name in enumerate("aabb")}
    eventually(lambda: first.assignments[-1] == expected)


def test_a_member_whose_session_expires_joins_again(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    member, other = join("a"), join("b")
    eventually(lambda: owners(group, topic) == [f"{topic}_{name}-0" for name in "aabb"])
    expected = produce(cluster, topic, "before")
    eventually(lambda: set(values(member, other)) == expected)
    zk: KafkaZkClient = member.connector._zk  # type: ignore[attr-defined]
    session = zk.zookeeper.session_id
    expire(cluster.zookeeper_connect, zk)
    eventually(lambda: zk.zookeeper.session_id not in (0, session) and len(group.members()) == 2)
    eventually(lambda: session_of_owner(group, topic, 0) == zk.zookeeper.session_id)
    eventually(lambda: owners(group, topic) == [f"{topic}_{name}-0" for name in "aabb"])
    expected |= produce(cluster, topic, "after")
    eventually(lambda: expected <= set(values(member, other)))


def session_of_owner(group: Group, topic: str, partition: int) -> int:
    stat = group.zk.zookeeper.exists(paths.consumer_owner(topic, topic, partition))
    return 0 if stat is None else stat.ephemeral_owner


def expire(connect_string: str, zk: KafkaZkClient) -> None:
    """End a session from another connection, as ZooKeeper's own tests do."""
    intruder = KazooClient(connect_string, client_id=zk.zookeeper._client.client_id, timeout=2)
    intruder.start(60)
    intruder.stop()
    intruder.close()


def test_a_member_whose_streams_are_not_read_does_not_block_a_rebalance(
    cluster: Cluster, topic: str, join: Join
) -> None:
    """Its queue is full, and its fetcher waits for space, when the rebalance begins."""
    expected = produce(cluster, topic, "many", 50)
    config = QUICK | {
        "zookeeper.connect": cluster.zookeeper_connect, "group.id": topic, "consumer.id": "a",
        "queued.max.message.chunks": "1", "fetch.message.max.bytes": "200",
    }  # fmt: skip
    with Consumer.create(config) as lazy:
        ((stream,),) = lazy.create_message_streams({topic: 1}).values()
        queue = stream._iterator._channel
        eventually(lambda: len(queue) == 1)
        active = join("b")
        eventually(lambda: len({value for value in values(active) if value in expected}) == 100)
        taken = [(next(iter(stream)).message or b"").decode() for _ in range(100)]
        assert {value.split("-")[1] for value in taken} == {"0", "1"}
        assert set(taken) | set(values(active)) == expected


def test_shutdown_with_a_full_queue_leaves_no_thread(cluster: Cluster, topic: str) -> None:
    produce(cluster, topic, "many", 50)
    before = set(threading.enumerate())
    config = {"zookeeper.connect": cluster.zookeeper_connect, "group.id": topic, "queued.max.message.chunks": "1"}
    connector = Consumer.create(config | {"auto.offset.reset": "smallest", "fetch.message.max.bytes": "200"})
    ((stream,),) = connector.create_message_streams({topic: 1}).values()
    eventually(lambda: len(stream._iterator._channel) == 1)
    connector.shutdown()
    connector.shutdown()
    assert list(stream) == []
    eventually(lambda: set(threading.enumerate()) <= before)


# ── Partitions and topics ─────────────────────────────────────────────────────────────────────────────────────────────


def test_added_partitions_are_consumed(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    member = join("a")
    assignment = TopicAssignment({number: [0] for number in range(PARTITIONS + 2)})
    group.zk.set_topic_assignment(topic, assignment)
    eventually(lambda: owners(group, topic, PARTITIONS + 2) == [f"{topic}_a-0"] * (PARTITIONS + 2))
    eventually(lambda: cluster.topics[topic] == PARTITIONS + 2)
    expected = produce(cluster, topic, "v", partitions=PARTITIONS + 2)
    eventually(lambda: set(values(member)) == expected)


def test_topics_of_a_filter_are_added_and_removed(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    member = join("a", f"white_list:{topic}.*=2")
    expected = produce(cluster, topic, "old")
    late = f"{topic}-late"
    cluster.create_topic(late, 2)
    expected |= produce(cluster, late, "new", partitions=2)
    eventually(lambda: set(values(member)) == expected)
    assert owners(group, late, 2) == [f"{topic}_a-0", f"{topic}_a-1"]
    cluster.delete_topic(late)
    listener = member.connector.load_balancer_listener  # type: ignore[attr-defined]
    eventually(lambda: set(listener.topic_registry) == {topic} == set(listener.streams))
    expected |= produce(cluster, topic, "still")
    eventually(lambda: set(values(member)) == expected)


def test_several_streams_of_one_member(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    expected = produce(cluster, topic, "v", 3)
    member = join("a", f"static:{topic}=3", partition_assignment_strategy="roundrobin")
    eventually(lambda: set(values(member)) == expected)
    assert set(owners(group, topic)) == {f"{topic}_a-{number}" for number in range(3)}


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
def test_compressed_messages_are_consumed_one_by_one_and_once(
    cluster: Cluster, topic: str, join: Join, codec: str
) -> None:
    """Even if consumption resumes in the middle of a compressed message."""
    expected = {f"{codec}-{number}" for number in range(40)}
    with Producer({
        "metadata.broker.list": cluster.bootstrap_servers, "compression.codec": codec, "request.required.acks": -1,
        "serializer.class": "kafka_lite.old_producer.encoder.StringEncoder",
    }) as producer:  # fmt: skip
        producer.send(*(KeyedMessage(topic, value) for value in sorted(expected)))
    first = join("a", auto_commit_enable="false")
    eventually(lambda: set(values(first)) == expected)
    assert len(values(first)) == 40
    assert first.connector.commit_offsets({TopicPartition(topic, first.messages[0][1]): 17})
    first.close()
    second = join("b")
    eventually(lambda: len(values(second)) == 23)
    assert [offset for _, _, offset, _ in second.messages] == list(range(17, 40))


# ── Leaders that fail ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION", "CORRUPT_MESSAGE"])
def test_an_error_of_a_partition_looks_up_its_leader(cluster: Cluster, topic: str, join: Join, error: str) -> None:
    expected = produce(cluster, topic, "before")
    member = join("a")
    eventually(lambda: set(values(member)) == expected)
    fault = cluster.inject("Fetch", Errors[error])
    fault.times(3)
    expected |= produce(cluster, topic, "after")
    eventually(lambda: set(values(member)) == expected)
    assert len(values(member)) == len(expected)


def test_a_lost_connection_is_replaced(cluster: Cluster, topic: str, join: Join) -> None:
    expected = produce(cluster, topic, "before")
    member = join("a")
    eventually(lambda: set(values(member)) == expected)
    for number in range(3):
        cluster.disconnect_all()
        expected |= produce(cluster, topic, f"after-{number}")
        wait_for(expected, member)
    assert len(values(member)) == len(expected)


# ── Offsets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_group_migrates_from_zookeeper_to_kafka(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    """In two steps, without duplicates: first commit to both, then to Kafka only."""
    everywhere = {topic: PARTITIONS}
    steps: list[Mapping[str, str]] = [
        {"offsets_storage": "zookeeper"},
        {"offsets_storage": "Kafka"},  # dual.commit.enabled is true by default
        {"offsets_storage": "kafka", "dual_commit_enabled": "false"},
        {"offsets_storage": "kafka", "dual_commit_enabled": "false"},
    ]
    in_zookeeper = [1, 2, 2, 2]
    for number, step in enumerate(steps):
        expected = produce(cluster, topic, f"step-{number}")
        member = join(f"m{number}", **step)
        wait_for(expected, member)
        member.close()
        assert values(member) == sorted(expected)
        assert group.offsets(everywhere) == {f"{topic}-{p}": in_zookeeper[number] for p in range(PARTITIONS)}


def test_offsets_are_committed_only_with_auto_commit(cluster: Cluster, topic: str, group: Group, join: Join) -> None:
    everywhere = {topic: PARTITIONS}
    expected = produce(cluster, topic, "v")
    silent = join("silent", auto_commit_enable="false")
    eventually(lambda: set(values(silent)) == expected)
    silent.close()
    assert group.offsets(everywhere) == {}
    member = join("a", auto_commit_interval_ms="50")
    eventually(lambda: set(group.offsets(everywhere).values()) == {1} and len(group.offsets(everywhere)) == PARTITIONS)
    assert set(values(member)) == expected


@pytest.mark.parametrize("reset", ["smallest", "largest"])
def test_an_offset_that_no_longer_exists_is_reset(
    cluster: Cluster, topic: str, group: Group, join: Join, reset: str
) -> None:
    expected = produce(cluster, topic, "before")
    for number in range(PARTITIONS):
        group.groups.set_offset(topic, TopicPartition(topic, number), 1000)
    member = join("a", auto_offset_reset=reset)
    if reset == "largest":
        listener = member.connector.load_balancer_listener  # type: ignore[attr-defined]
        eventually(lambda: set(listener.consumed_offsets().values()) == {1})
        expected = produce(cluster, topic, "after")
    eventually(lambda: set(values(member)) == expected)


def test_the_coordinator_may_be_unavailable_for_a_while(cluster: Cluster, topic: str, join: Join) -> None:
    expected = produce(cluster, topic, "v")
    cluster.inject("FindCoordinator", Errors.COORDINATOR_NOT_AVAILABLE).times(2)
    cluster.inject("OffsetFetch", Errors.COORDINATOR_LOAD_IN_PROGRESS).times(2)
    member = join("a", offsets_storage="kafka")
    eventually(lambda: set(values(member)) == expected)
    cluster.inject("OffsetCommit", Errors.NOT_COORDINATOR).once()
    assert member.connector.commit_offsets(retry_on_failure=True)
    cluster.inject("OffsetCommit", Errors.NOT_COORDINATOR).once()
    assert not member.connector.commit_offsets(retry_on_failure=False)
    cluster.inject("OffsetCommit", Errors.OFFSET_METADATA_TOO_LARGE).once()
    assert member.connector.commit_offsets(retry_on_failure=False)  # a retry would not help


# ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_partition_that_another_owner_keeps_fails_the_rebalance(cluster: Cluster, topic: str, group: Group) -> None:
    """The attempts end, with nothing owned; once it is released, the next event is enough."""
    config = QUICK | {
        "zookeeper.connect": cluster.zookeeper_connect, "group.id": topic, "consumer.id": "a",
        "rebalance.max.retries": "2", "rebalance.backoff.ms": "20",
    }  # fmt: skip
    blocked = TopicPartition(topic, 2)
    assert group.groups.create_owner(topic, blocked, "somebody-0")
    with Consumer.create(config) as connector:
        with pytest.raises(ConsumerRebalanceFailedError, match=f"{topic}_a can't rebalance after 2 retries"):
            connector.create_message_streams({topic: 1})
        assert owners(group, topic) == [None, None, "somebody-0", None]
        assert not group.groups.release_owner(topic, blocked, "not-0")
        assert group.groups.release_owner(topic, blocked, "somebody-0")
        group.zk.set_topic_assignment(topic, TopicAssignment({number: [0] for number in range(PARTITIONS)}))
        eventually(lambda: owners(group, topic) == [f"{topic}_a-0"] * PARTITIONS)


def test_a_consumer_id_in_use_is_rejected(cluster: Cluster, topic: str, join: Join) -> None:
    join("a")
    with pytest.raises(NodeExistsError, match=r"another consumer has this id. Is the same consumer\.id set"):
        join("a")


def test_streams_are_created_once(cluster: Cluster, topic: str) -> None:
    config = {"zookeeper.connect": cluster.zookeeper_connect, "group.id": topic, "consumer.timeout.ms": "50"}
    with Consumer.create(config) as connector:
        ((stream,),) = connector.create_message_streams({topic: 1}).values()
        with pytest.raises(ConsumerTimeoutError):
            next(iter(stream))
        with pytest.raises(MessageStreamsExistError):
            connector.create_message_streams({topic: 1})
        listener: Any = object()
        with pytest.raises(MessageStreamsExistError):
            connector.set_consumer_rebalance_listener(listener)


def test_a_member_waits_for_the_first_broker(cluster: Cluster, topic: str) -> None:
    """Below a chroot of ZooKeeper where no broker has ever registered."""
    kazoo = KazooClient(cluster.zookeeper_connect)
    kazoo.start(60)
    kazoo.ensure_path("/elsewhere/brokers/ids")
    kazoo.create("/elsewhere/brokers/topics/t", b'{"version":1,"partitions":{"0":[0]}}', makepath=True)
    elsewhere = f"{cluster.zookeeper_connect}/elsewhere"
    with Consumer.create({"zookeeper.connect": elsewhere, "group.id": "g", "consumer.id": "a"}) as connector:
        connector.create_message_streams({"t": 1})
        assert kazoo.exists("/elsewhere/consumers/g/ids/g_a")
        assert not kazoo.exists("/elsewhere/consumers/g/owners/t/0")
        kazoo.create("/elsewhere/brokers/ids/0", kazoo.get("/brokers/ids/0")[0])
        eventually(lambda: kazoo.exists("/elsewhere/consumers/g/owners/t/0"))
    kazoo.stop()
    kazoo.close()


def test_beans_match_kafka(cluster: Cluster, topic: str, join: Join) -> None:
    expected = produce(cluster, topic, "v")
    member = join("a", client_id="me")
    eventually(lambda: set(values(member)) == expected)
    member.commit()
    port = cluster.bootstrap_servers.rpartition(":")[2]
    me, broker = "clientId=me", f"clientId=me,brokerHost=127.0.0.1,brokerPort={port}"
    beans = {name.mbean_name: bean for name, bean in member.connector.stats.beans().items()}  # type: ignore[attr-defined]
    connector = "kafka.consumer:type=ZookeeperConsumerConnector,name="
    assert {
        f"kafka.consumer:type=ConsumerFetcherManager,name=MaxLag,{me}",
        f"kafka.consumer:type=ConsumerFetcherManager,name=MinFetchRate,{me}",
        f"kafka.consumer:type=FetchRequestAndResponseMetrics,name=FetchRequestRateAndTimeMs,{broker}",
        f"kafka.consumer:type=FetchRequestAndResponseMetrics,name=FetchRequestThrottleRateAndTimeMs,{me}",
        f"kafka.server:type=FetcherStats,name=RequestsPerSec,{broker}",
        f"kafka.server:type=FetcherLagMetrics,name=ConsumerLag,{me},topic={topic},partition=3",
        f"{connector}KafkaCommitsPerSec,{me}",
        f"{connector}yammer-metrics-count",
    } <= beans.keys()
    assert beans[f"kafka.consumer:type=ConsumerTopicMetrics,name=MessagesPerSec,{me},topic={topic}"]["Count"] == 4
    assert beans[f"{connector}OwnedPartitionsCount,{me},groupId={topic}"]["Value"] == PARTITIONS
    assert beans[f"{connector}OwnedPartitionsCount,{me},groupId={topic},topic={topic}"]["Value"] == PARTITIONS
    assert beans[f"{connector}FetchQueueSize,{me},topic={topic},threadId=0"]["Value"] == 0
    assert beans[f"{connector}ZooKeeperCommitsPerSec,{me}"]["Count"] == PARTITIONS
    assert beans[f"{connector}RebalanceRateAndTime,{me}"]["Count"] >= 1
