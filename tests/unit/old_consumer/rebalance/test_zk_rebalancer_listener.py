"""Rebalances step by step, of several members on an in-memory ZooKeeper."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import PartitionTopicInfo
from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import (
    ConsumerRebalanceFailedError,
    WatcherExecutorThread,
    ZKRebalancerListener,
)
from kafka_lite.old_consumer.rebalance.zookeeper_topic_event_watcher import WildcardStreamsHandler
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, StaticTopicCount
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import BrokerRegistration, TopicAssignment
from tests.support.fake_zookeeper import FakeZooKeeper, Tree, fake_zk
from tests.support.patience import patient_s

TOPIC = "t"
PARTITIONS = [TopicPartition(TOPIC, number) for number in range(4)]


class Fetcher:
    """Replaces ConsumerFetcherManager."""

    def __init__(self, steps: list[str]) -> None:
        self._steps = steps
        self.infos: list[PartitionTopicInfo] = []

    def stop_connections(self) -> None:
        self._steps.append("stop fetchers")
        self.infos = []

    def start_connections(self, infos: Iterable[PartitionTopicInfo]) -> None:
        self._steps.append("start fetchers")
        self.infos = list(infos)


class Offsets:
    """Replaces ConsumerOffsets, one for all members."""

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, int] = {}
        self.steps: list[str] = []
        self.is_away = False
        self.error: Errors | None = None

    def commit_offsets(self, offsets: Mapping[TopicPartition, int], retry_on_failure: bool) -> bool:
        assert not retry_on_failure
        self.steps.append("commit")
        self.committed |= offsets
        return True

    def fetch_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int] | None:
        self.steps.append("fetch offsets")
        if self.error is not None:
            raise self.error.exception()
        return None if self.is_away else {partition: self.committed.get(partition, -1) for partition in partitions}

    def remember(self, partition: TopicPartition, offset: int) -> None:
        """Nothing to do."""


class Member:
    """A listener with its collaborators, which rebalances when told to."""

    def __init__(self, group: Members, name: str, threads: int = 1, max_retries: int = 4) -> None:
        self.zk = fake_zk(group.tree)
        self.steps = group.offsets.steps
        self.fetcher = Fetcher(self.steps)
        self.config = ConsumerConfig({
            "group.id": "g", "zookeeper.connect": "nowhere", "rebalance.backoff.ms": 0,
            "rebalance.max.retries": max_retries,
        })  # fmt: skip
        self.stats = ConsumerStats(self.config)
        self.is_shutting_down = threading.Event()
        parts: Any = (self.zk, self.fetcher, group.offsets, self.stats, self.is_shutting_down)
        self.id = f"g_{name}"
        self.listener = ZKRebalancerListener(self.config, self.id, *parts)
        self.listener.queues = {
            (TOPIC, ConsumerThreadId(self.id, number)): FetchedDataQueue(2) for number in range(threads)
        }
        self.groups = ConsumerGroups(self.zk)
        self.groups.register_consumer("g", self.id, StaticTopicCount(self.id, {TOPIC: threads}).registration(0))

    @property
    def session(self) -> FakeZooKeeper:
        zookeeper: Any = self.zk.zookeeper
        return zookeeper  # type: ignore[no-any-return]

    def rebalance(self) -> list[int]:
        """The partitions that are fetched after the rebalance."""
        self.listener.synced_rebalance()
        return [info.partition_id for info in self.fetcher.infos]


class Members:
    """A group."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.offsets = Offsets()
        zk = fake_zk(self.tree)
        zk.create_topic_assignment(TOPIC, TopicAssignment({number: [0] for number in range(4)}))
        zk.zookeeper.ensure_path("/brokers/ids")
        zk.register_broker(0, BrokerRegistration(("PLAINTEXT://127.0.0.1:9092",)))
        self.zk = zk

    def owners(self) -> list[str | None]:
        groups = ConsumerGroups(self.zk)
        return [groups.get_owner("g", partition) for partition in PARTITIONS]


@pytest.fixture
def members() -> Members:
    return Members()


def test_a_rebalance_takes_the_steps_in_order(members: Members) -> None:
    member = Member(members, "a")
    assert member.rebalance() == [0, 1, 2, 3]
    assert members.offsets.steps == ["stop fetchers", "commit", "fetch offsets", "start fetchers"]
    members.offsets.steps.clear()
    members.tree.writes.clear()
    for info in member.listener.owned_partitions():
        info.reset_consume_offset(10 + info.partition_id)
    before = member.listener.owned_partitions()
    assert member.rebalance() == [0, 1, 2, 3]
    assert members.offsets.steps == ["stop fetchers", "commit", "fetch offsets", "start fetchers"]
    owned = [f"/consumers/g/owners/t/{number}" for number in range(4)]
    assert members.tree.writes == [f"- {path}" for path in owned] + [f"+ {path}" for path in owned]
    assert all(info.is_revoked for info in before)
    assert [info.consume_offset for info in member.listener.owned_partitions()] == [10, 11, 12, 13]


def test_a_partition_without_a_known_offset_is_not_committed(members: Members) -> None:
    member = Member(members, "a")
    member.rebalance()
    assert member.listener.consumed_offsets() == {}
    member.listener.owned_partitions()[1].reset_consume_offset(0)
    assert member.listener.consumed_offsets() == {PARTITIONS[1]: 0}


def test_a_second_member_waits_until_the_first_has_released(members: Members) -> None:
    first = Member(members, "a")
    first.rebalance()
    second = Member(members, "b", max_retries=1)
    with pytest.raises(ConsumerRebalanceFailedError, match="g_b can't rebalance after 1 retries"):
        second.rebalance()
    assert members.owners() == ["g_a-0"] * 4
    assert second.fetcher.infos == []
    assert first.rebalance() == [0, 1]
    assert members.owners() == ["g_a-0", "g_a-0", None, None]
    assert second.rebalance() == [2, 3]
    assert members.owners() == ["g_a-0", "g_a-0", "g_b-0", "g_b-0"]


def test_a_member_claims_all_partitions_or_none(members: Members) -> None:
    member = Member(members, "a", max_retries=1)
    ConsumerGroups(members.zk).create_owner("g", PARTITIONS[2], "other-0")
    with pytest.raises(ConsumerRebalanceFailedError):
        member.rebalance()
    assert members.owners() == [None, None, "other-0", None]
    assert member.listener.owned_partitions() == []


def test_the_last_owner_commits_before_the_next_one_starts(members: Members) -> None:
    first = Member(members, "a")
    first.rebalance()
    for info in first.listener.owned_partitions():
        info.reset_consume_offset(10 + info.partition_id)
    second = Member(members, "b")
    first.rebalance()
    second.rebalance()
    assert [info.consume_offset for info in second.listener.owned_partitions()] == [12, 13]
    for info in second.listener.owned_partitions():
        info.reset_consume_offset(100)
    # A crashed owner commits nothing, so the next one starts where it started.
    second.session.end_session()
    assert first.rebalance() == [0, 1, 2, 3]
    assert [info.consume_offset for info in first.listener.owned_partitions()] == [10, 11, 12, 13]


def test_after_an_expired_session_others_partitions_are_neither_committed_nor_released(members: Members) -> None:
    member, other = Member(members, "a"), Member(members, "b")
    member.rebalance()
    other.rebalance()
    for info in member.listener.owned_partitions():
        info.reset_consume_offset(50)
    mine = member.listener.owned_partitions()
    member.session.end_session()
    member.session.new_session()
    assert other.rebalance() == [0, 1, 2, 3]
    members.offsets.committed.clear()
    member.listener.reset_state()
    assert all(info.is_revoked for info in mine)
    member.groups.register_consumer("g", member.id, StaticTopicCount(member.id, {TOPIC: 1}).registration(1))
    with pytest.raises(ConsumerRebalanceFailedError):
        member.rebalance()
    assert members.owners() == ["g_b-0"] * 4
    assert members.offsets.committed == {}
    assert other.rebalance() == [2, 3]
    assert member.rebalance() == [0, 1]


def test_without_brokers_nothing_changes_until_one_appears(members: Members) -> None:
    member = Member(members, "a")
    members.zk.zookeeper.delete("/brokers/ids/0")
    assert member.rebalance() == []
    assert members.offsets.steps == []
    bells: list[str] = []
    member.listener.rebalance_event_triggered = lambda: bells.append("rung")  # type: ignore[method-assign]
    member.rebalance()
    members.zk.register_broker(0, BrokerRegistration(("PLAINTEXT://127.0.0.1:9092",)))
    assert bells == ["rung"]
    assert member.rebalance() == [0, 1, 2, 3]


def test_a_topic_without_streams_is_left_for_the_next_rebalance(members: Members) -> None:
    member = Member(members, "a", threads=2)
    del member.listener.queues[TOPIC, ConsumerThreadId("g_a", 1)]
    assert member.rebalance() == [0, 1]
    assert members.owners() == ["g_a-0", "g_a-0", None, None]


def test_nothing_is_owned_while_offsets_are_not_known(members: Members) -> None:
    member = Member(members, "a", max_retries=2)
    members.offsets.error = Errors.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(ConsumerRebalanceFailedError):
        member.rebalance()
    assert members.offsets.steps.count("fetch offsets") == 2, "the whole attempt is repeated"
    assert members.owners() == [None] * 4
    assert member.fetcher.infos == []
    members.offsets.error = None
    assert member.rebalance() == [0, 1, 2, 3]


def test_a_shutdown_ends_the_attempts(members: Members) -> None:
    member = Member(members, "a")
    members.offsets.is_away = True
    member.is_shutting_down.set()
    assert member.rebalance() == []
    assert members.offsets.steps == []


def test_the_listener_gets_ownership_and_assignment(members: Members) -> None:
    first, second = Member(members, "a"), Member(members, "b")
    told: list[Any] = []

    class Listener:
        def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
            told.append(("release", dict(partition_ownership)))

        def before_starting_fetchers(
            self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
        ) -> None:
            told.append((consumer_id, {number: str(thread) for number, thread in partition_assignment[TOPIC].items()}))

    first.listener.consumer_rebalance_listener = Listener()
    first.rebalance()
    first.rebalance()
    of_all = {0: "g_a-0", 1: "g_a-0", 2: "g_b-0", 3: "g_b-0"}
    assert told == [("release", {}), ("g_a", of_all), ("release", {TOPIC: {0, 1}}), ("g_a", of_all)]
    assert second.rebalance() == [2, 3]


def test_an_error_in_the_listener_costs_one_attempt(members: Members) -> None:
    member = Member(members, "a")

    class Listener:
        failures = 2

        def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
            self.failures -= 1
            if self.failures >= 0:
                raise ValueError("of the user's")

        def before_starting_fetchers(
            self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
        ) -> None:
            """Only records its calls."""

    member.listener.consumer_rebalance_listener = Listener()
    assert member.rebalance() == [0, 1, 2, 3]
    assert members.owners() == ["g_a-0"] * 4


def test_simultaneous_events_cause_one_rebalance() -> None:
    done: list[str] = []
    both_rung, begun = threading.Event(), threading.Event()

    def rebalance() -> None:
        done.append("rebalance")
        begun.set()
        both_rung.wait(patient_s(30))
        if len(done) == 1:
            raise ValueError("the first fails, which does not end the thread")

    thread = WatcherExecutorThread("watcher", rebalance)
    thread.start()
    thread.trigger()
    assert begun.wait(patient_s(30))
    thread.trigger()
    thread.trigger()
    thread.execute(lambda: done.append("task"))
    both_rung.set()
    while len(done) < 3:
        thread.join(0.01)
    thread.shutdown(30)
    assert done == ["rebalance", "rebalance", "task"]


def test_a_filters_streams_are_reinitialized_when_its_topics_change() -> None:
    class Count:
        def topics(self, all_topics: Iterable[str] = ("a1", "b")) -> list[str]:
            return [topic for topic in all_topics if topic.startswith("a")]

    begun: list[int] = []
    count: Any = Count()
    handler = WildcardStreamsHandler(count, lambda: begun.append(1))
    handler.handle_topic_event(["a1", "b", "c"])
    assert begun == []
    handler.handle_topic_event(["a1", "a2"])
    handler.handle_topic_event(["a2"])
    handler.handle_topic_event(["a2", "c"])
    assert len(begun) == 2
