"""A whole old consumer on a ZooKeeper and brokers in memory: it joins, reads, commits, leaves, and refuses misuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer import Consumer, zookeeper_consumer_connector
from kafka_lite.old_consumer.consumer_connector import ConsumerConnector
from kafka_lite.old_consumer.decoder import StringDecoder
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.topic_filter import Whitelist
from kafka_lite.old_consumer.zookeeper_consumer_connector import (
    MessageStreamsExistError,
    ZookeeperConsumerConnector,
    make_consumer_uuid,
)
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.eventually import eventually
from tests.support.fake_zookeeper import FakeZooKeeper, Tree, fake_zk
from tests.support.leaders_and_logs import LeadersAndLogs, consumer_config

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Session(FakeZooKeeper):
    """A session that can be closed, and replaced by a new one."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.is_closed = False
        self.is_connected = True
        self.listeners: list[Any] = []

    def connect(self) -> None:
        """There is no server to wait for."""

    def add_session_listener(self, listener: Any) -> None:
        self.listeners.append(listener)

    def expire(self) -> None:
        self.end_session()
        self.new_session()
        for listener in self.listeners:
            listener()

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.end_session()


class Group:
    """The cluster, its ZooKeeper, and the consumers that a test has created."""

    def __init__(self, cluster: LeadersAndLogs) -> None:
        self.cluster = cluster
        self.zk = cluster.zk
        zookeeper: Any = cluster.zk.zookeeper
        self.tree: Tree = zookeeper.tree
        self.groups = ConsumerGroups(cluster.zk)
        self.sessions: list[Session] = []
        self.connectors: list[ZookeeperConsumerConnector] = []
        self.zk.create_topic_assignment("t", TopicAssignment({0: [1, 2], 1: [2, 1]}))

    def client(self, *_arguments: object) -> Any:
        """In place of KafkaZkClient."""
        zk = fake_zk(self.tree)
        session: Any = Session(self.tree)
        zk.zookeeper = session
        self.sessions.append(session)
        return zk

    def consumer(self, name: str = "c", **options: object) -> ZookeeperConsumerConnector:
        defaults = {"consumer_id": name, "auto_offset_reset": "smallest", "rebalance_backoff_ms": 1,
                    "rebalance_max_retries": 100, "consumer_timeout_ms": 60_000}  # fmt: skip
        connector = Consumer.create(consumer_config(**{**defaults, **options}))
        assert isinstance(connector, ZookeeperConsumerConnector)
        self.connectors.append(connector)
        return connector

    def owners(self) -> list[str | None]:
        return [self.groups.get_owner("g", partition) for partition in (T0, T1)]


@pytest.fixture
def group(brokers: BlockingBrokers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Group]:
    cluster = LeadersAndLogs(brokers, p0=1, p1=2)
    cluster.ends = {T0: (0, 2), T1: (0, 2)}
    group = Group(cluster)
    monkeypatch.setattr(zookeeper_consumer_connector, "KafkaZkClient", group.client)
    yield group
    for connector in group.connectors:
        connector.shutdown()


def take(stream: KafkaStream[Any, Any], count: int) -> list[tuple[int, int]]:
    """Partition and offset of the next messages, sorted."""
    return sorted((message.partition, message.offset) for message in islice(stream, count))


def test_a_lone_consumer_owns_and_reads_everything(group: Group) -> None:
    (stream,) = group.consumer().create_message_streams({"t": 1}, StringDecoder(), StringDecoder())["t"]
    assert group.groups.get_consumers_in_group("g") == ["g_c"]
    assert group.owners() == ["g_c-0", "g_c-0"]
    assert take(stream, 4) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_two_streams_share_a_topic(group: Group) -> None:
    first, second = group.consumer().create_message_streams({"t": 2})["t"]
    assert group.owners() == ["g_c-0", "g_c-1"]
    assert take(first, 2) == [(0, 0), (0, 1)]
    assert take(second, 2) == [(1, 0), (1, 1)]


def test_a_commit_writes_the_offset_after_the_last_message_that_was_returned(group: Group) -> None:
    connector = group.consumer(auto_commit_enable="false")
    (stream,) = connector.create_message_streams({"t": 1})["t"]
    take(stream, 4)
    assert group.groups.get_offset("g", T0) is None
    assert connector.commit_offsets()
    assert (group.groups.get_offset("g", T0), group.groups.get_offset("g", T1)) == (2, 2)
    assert connector.commit_offsets({T0: 1})
    assert group.groups.get_offset("g", T0) == 1


@pytest.mark.parametrize(("enabled", "offset"), [("true", 2), ("false", None)])
def test_a_shutdown_commits_leaves_and_ends_the_streams(group: Group, enabled: str, offset: int | None) -> None:
    with group.consumer(auto_commit_enable=enabled) as connector:
        (stream,) = connector.create_message_streams({"t": 1})["t"]
        take(stream, 4)
    assert group.groups.get_offset("g", T0) == offset
    assert group.groups.get_consumers_in_group("g") == []
    assert group.owners() == [None, None]
    assert list(stream) == []
    assert group.cluster.brokers.open == 0
    connector.shutdown()  # once more: nothing happens


def test_the_next_consumer_continues_where_the_last_one_left(group: Group) -> None:
    with group.consumer() as connector:
        take(connector.create_message_streams({"t": 1})["t"][0], 4)
    group.cluster.ends = {T0: (0, 3), T1: (0, 2)}
    (stream,) = group.consumer("d").create_message_streams({"t": 1})["t"]
    assert take(stream, 1) == [(0, 2)]


def test_partitions_move_to_a_consumer_that_joins_and_back_when_it_leaves(group: Group) -> None:
    first = group.consumer("a")
    first.create_message_streams({"t": 1})
    second = group.consumer("b")
    (stream,) = second.create_message_streams({"t": 1})["t"]
    assert group.owners() == ["g_a-0", "g_b-0"]
    assert take(stream, 2) == [(1, 0), (1, 1)]
    second.shutdown()
    eventually(lambda: group.owners() == ["g_a-0", "g_a-0"])


def test_an_expired_session_is_replaced_and_the_consumer_joins_again(group: Group) -> None:
    (stream,) = group.consumer().create_message_streams({"t": 1})["t"]
    take(stream, 4)
    (session,) = group.sessions
    before = session.session_id
    session.expire()
    eventually(lambda: group.owners() == ["g_c-0", "g_c-0"])
    assert group.groups.get_consumers_in_group("g") == ["g_c"]
    assert group.tree.nodes["/consumers/g/owners/t/0"].owner == session.session_id != before


def test_new_partitions_are_consumed(group: Group) -> None:
    (stream,) = group.consumer().create_message_streams({"t": 1})["t"]
    take(stream, 4)
    new = TopicPartition("t", 2)
    group.cluster.leaders[new], group.cluster.ends[new] = 1, (0, 1)
    group.tree.nodes["/brokers/topics/t"].data = TopicAssignment({0: [1], 1: [2], 2: [1]}).encode()
    group.tree.changed("/brokers/topics/t")
    assert take(stream, 1) == [(2, 0)]


def test_a_filter_takes_up_a_topic_that_is_created_later(group: Group) -> None:
    connector = group.consumer()
    (stream,) = connector.create_message_streams_by_filter(Whitelist("t.*"))
    assert take(stream, 4) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    group.zk.create_topic_assignment("t2", TopicAssignment({0: [1]}))
    eventually(lambda: group.groups.get_owner("g", TopicPartition("t2", 0)) == "g_c-0")
    group.zk.create_topic_assignment("other", TopicAssignment({0: [1]}))
    connector.shutdown()
    assert group.groups.get_owner("g", TopicPartition("other", 0)) is None


def test_streams_are_created_once_and_listeners_set_before(group: Group) -> None:
    connector = group.consumer()
    connector.create_message_streams({"t": 1})
    for again in (
        lambda: connector.create_message_streams({"t": 1}),
        lambda: connector.create_message_streams_by_filter(Whitelist("t")),
    ):
        with pytest.raises(MessageStreamsExistError, match="at most once"):
            again()
    with pytest.raises(MessageStreamsExistError, match="only be set before"):
        connector.set_consumer_rebalance_listener(Listener())


def test_a_refused_number_of_streams_uses_up_nothing(group: Group) -> None:
    connector = group.consumer()
    with pytest.raises(KafkaError, match="0 streams"):
        connector.create_message_streams({"t": 0})
    assert len(connector.create_message_streams({"t": 1})["t"]) == 1


class Listener:
    """Remembers its calls."""

    def __init__(self) -> None:
        self.assigned: list[Mapping[str, Mapping[int, Any]]] = []

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        """Nothing to do."""

    def before_starting_fetchers(self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, Any]]) -> None:
        self.assigned.append(partition_assignment)


def test_the_listener_hears_of_the_first_assignment(group: Group) -> None:
    connector, listener = group.consumer(), Listener()
    connector.set_consumer_rebalance_listener(listener)
    connector.create_message_streams({"t": 1})
    assert [{n: str(thread) for n, thread in each["t"].items()} for each in listener.assigned] == [
        {0: "g_c-0", 1: "g_c-0"}
    ]


def test_a_periodic_commit_that_fails_is_logged(
    group: Group, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connector = group.consumer()
    (stream,) = connector.create_message_streams({"t": 1})["t"]
    take(stream, 4)

    def lost(*_arguments: object) -> None:
        raise ZkConnectionError("lost")

    with monkeypatch.context() as patch:
        patch.setattr(group.sessions[0], "set_or_create", lost)
        connector.auto_commit()
    assert "exception during autoCommit" in caplog.text
    connector.auto_commit()
    assert group.groups.get_offset("g", T0) == 2


def test_queues_and_partitions_are_gauges(group: Group) -> None:
    connector = group.consumer(queued_max_message_chunks=10)
    connector.create_message_streams({"t": 1})
    name = "kafka.consumer:type=ZookeeperConsumerConnector,name="

    def beans() -> dict[str, object]:
        return {each.mbean_name: bean.get("Value") for each, bean in connector.stats.beans().items()}

    eventually(lambda: beans()[f"{name}FetchQueueSize,clientId=c,topic=t,threadId=0"] == 4, beans)
    assert beans()[f"{name}OwnedPartitionsCount,clientId=c,groupId=g"] == 2
    assert beans()[f"{name}OwnedPartitionsCount,clientId=c,groupId=g,topic=t"] == 2


def test_progress_is_what_was_returned_and_where_the_logs_end(group: Group) -> None:
    connector = group.consumer()
    assert connector.progress() == {}
    (stream,) = connector.create_message_streams({"t": 1})["t"]
    take(stream, 4)
    eventually(lambda: connector.progress() == {T0: (2, 2), T1: (2, 2)}, connector.progress)


def test_a_generated_member_id_tells_host_and_time() -> None:
    time = MockTime(1_500_000_000_000)
    first, second = make_consumer_uuid(time), make_consumer_uuid(time)
    host, millis, digits = first.rsplit("-", 2)
    assert (host != "", millis, len(digits)) == (True, "1500000000000", 8)
    assert first != second


def test_a_connector_is_made_of_plain_settings_too(group: Group) -> None:
    connector: ConsumerConnector = Consumer.create(
        {"group.id": "g", "zookeeper.connect": "nowhere", "consumer.id": "plain"}
    )
    with connector:
        connector.create_message_streams({"t": 1})
        assert group.groups.get_consumers_in_group("g") == ["g_plain"]
