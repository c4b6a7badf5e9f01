"""Tasks: how partitions are divided into them, the data that members exchange, and which instance gets which."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import islice
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import Assignment, Subscription
from kafka_lite.streams.assignment.assignment_info import AssignmentInfo
from kafka_lite.streams.assignment.client_state import ClientState
from kafka_lite.streams.assignment.internal_topic_manager import InternalTopicManager
from kafka_lite.streams.assignment.repartition_topics import (
    changelog_partition_counts,
    ensure_copartitioning,
    repartition_partition_counts,
)
from kafka_lite.streams.assignment.stream_partition_assignor import (
    STREAM_THREAD_INSTANCE,
    StreamPartitionAssignor,
    StreamsAssignorContext,
)
from kafka_lite.streams.assignment.streams_kafka_client import ClusterTopics
from kafka_lite.streams.assignment.subscription_info import SubscriptionInfo
from kafka_lite.streams.assignment.task_assignor import TaskAssignor
from kafka_lite.streams.errors import MissingSourceTopicError, StreamsError, TaskAssignmentError, TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.partition_grouper import DefaultPartitionGrouper
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.task_id import TaskId

ONE, TWO = UUID(int=1), UUID(int=2)


def cluster_of(**partitions: int) -> Cluster:
    node = Node(0, "localhost", 9092)
    infos = [PartitionInfo(topic, number, node) for topic, count in partitions.items() for number in range(count)]
    return Cluster((node,), tuple(infos))


class Nothing(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        pass


class FakeTopics:
    """The topics of a cluster. The first ``failures`` calls fail. Brokers know created topics after ``late`` calls."""

    errors: Mapping[str, Errors] = {}
    """Topics that the first ``late`` responses have an error for."""

    def __init__(self, failures: int = 0, brokers: int = 1, late: int = 0, **partitions: int) -> None:
        self.failures = failures
        self.brokers = brokers
        self.late = late
        self.partition_counts = dict(partitions)
        self.created: list[str] = []

    def fetch_topics(self) -> ClusterTopics:
        if self.failures:
            self.failures -= 1
            raise StreamsError("no broker")
        counts = dict(self.partition_counts)
        if self.created and self.late:
            self.late -= 1
            counts |= {entry.split(":")[0]: 1 for entry in self.created}  # the first partition is known already
        if self.errors and self.late:
            self.late -= 1
            known = {topic: count for topic, count in counts.items() if topic not in self.errors}
            return ClusterTopics(self.brokers, ("localhost", 9092), known, self.errors)
        return ClusterTopics(self.brokers, ("localhost", 9092), counts, {})

    def create_topics(
        self, topics: Mapping[InternalTopicConfig, int], replication_factor: int, cluster: ClusterTopics
    ) -> None:
        assert cluster.brokers >= replication_factor
        for topic, count in topics.items():
            assert topic.name not in self.partition_counts
            self.partition_counts[topic.name] = count
            self.created.append(f"{topic.name}:{count}:{topic.to_properties()['cleanup.policy']}")


# ── the data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bytes_of_a_subscription() -> None:
    info = SubscriptionInfo(UUID(int=258), frozenset({TaskId(0, 1)}), frozenset({TaskId(1, 2), TaskId(0, 3)}), "h:1")
    data = (
        "00000002" "00000000000000000000000000000102"
        "00000001" "0000000000000001"
        "00000002" "0000000000000003" "0000000100000002"
        "00000003" "683a31"
    )  # fmt: skip
    assert info.encode().hex() == data
    assert SubscriptionInfo.decode(info.encode()) == info


def test_a_subscription_of_version_1_has_no_end_point() -> None:
    info = SubscriptionInfo(ONE, frozenset(), frozenset(), None, version=1)
    assert len(info.encode()) == 4 + 16 + 4 + 4
    assert SubscriptionInfo.decode(info.encode()) == info


def test_bytes_of_an_assignment() -> None:
    info = AssignmentInfo(
        (TaskId(0, 1),),
        {TaskId(1, 0): frozenset({TopicPartition("t", 0)})},
        {HostInfo("h", 80): frozenset({TopicPartition("t", 1)})},
    )
    data = (
        "00000002"
        "00000001" "0000000000000001"
        "00000001" "0000000100000000" "00000001" "000174" "00000000"
        "00000001" "000168" "00000050" "00000001" "000174" "00000001"
    )  # fmt: skip
    assert info.encode().hex() == data
    assert AssignmentInfo.decode(info.encode()) == info
    old = AssignmentInfo((TaskId(0, 1),), version=1)
    assert AssignmentInfo.decode(old.encode()) == old


def test_damaged_data_is_refused() -> None:
    subscription = SubscriptionInfo(ONE, frozenset({TaskId(0, 0)}), frozenset()).encode()
    assignment = AssignmentInfo((TaskId(0, 1),), {TaskId(1, 0): frozenset()}).encode()
    for end in range(len(subscription)):
        with pytest.raises(TaskAssignmentError, match="ends after"):
            SubscriptionInfo.decode(subscription[:end])
    for end in range(len(assignment)):
        with pytest.raises(TaskAssignmentError, match="ends after"):
            AssignmentInfo.decode(assignment[:end])
    for version in (0, 3):
        with pytest.raises(TaskAssignmentError, match=f"version={version}"):
            SubscriptionInfo.decode(b"\0\0\0%c" % version + subscription[4:])
    with pytest.raises(TaskAssignmentError, match="ends after"):
        SubscriptionInfo.decode(subscription[:-4] + b"\xff" * 4)  # the length of the end point is -1
    with pytest.raises(TaskAssignmentError, match="Unknown assignment data version: 3"):
        AssignmentInfo.decode(b"\0\0\0\3" + assignment[4:])


# ── partitions and topics ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_task_reads_the_same_partition_of_all_topics() -> None:
    groups = {0: ["a", "b"], 1: ["c"], 2: ["a", "missing"]}
    tasks = DefaultPartitionGrouper().partition_groups(groups, cluster_of(a=1, b=2, c=1))
    assert tasks == {
        TaskId(0, 0): {TopicPartition("a", 0), TopicPartition("b", 0)},
        TaskId(0, 1): {TopicPartition("b", 1)},
        TaskId(1, 0): {TopicPartition("c", 0)},
    }


def chain(*internal: str) -> TopologyBuilder:
    """in ─▶ first internal topic ─▶ the next one …"""
    builder = TopologyBuilder().set_application_id("app").add_source("0", "in")
    for number, topic in enumerate(internal):
        builder.add_internal_topic(topic).add_sink(f"to-{topic}", topic, str(number)).add_source(str(number + 1), topic)
    return builder


def test_repartition_topics_have_as_many_partitions_as_what_their_writers_read() -> None:
    builder = chain("x", "y").add_source("big", "big").add_sink("too", "y", "big")
    groups = builder.topic_groups()
    counts = repartition_partition_counts(groups, cluster_of(**{"in": 3, "big": 5}))
    assert counts == {"app-x": 3, "app-y": 5}
    counts = repartition_partition_counts(groups, cluster_of(**{"in": 7, "big": 5}))
    assert counts == {"app-x": 7, "app-y": 7}, "first x, which a writer of y reads"
    assert repartition_partition_counts(groups, cluster_of(big=5)) == {"app-y": 5}, "what is known counts"
    assert repartition_partition_counts(groups, cluster_of()) == {}


def test_a_repartition_topic_that_its_own_reader_writes() -> None:
    builder = chain("x").add_sink("again", "x", "1")
    assert repartition_partition_counts(builder.topic_groups(), cluster_of(**{"in": 3})) == {"app-x": 3}


def test_copartitioned_topics() -> None:
    cluster = cluster_of(a=2, b=2, c=3)
    counts = {"r": 7, "s": 4}
    ensure_copartitioning([["a", "b", "r"]], counts, cluster)
    assert counts == {"r": 2, "s": 4}
    counts = {"r": 7, "s": 4}
    ensure_copartitioning([["r", "s"]], counts, cluster)
    assert counts == {"r": 7, "s": 7}
    with pytest.raises(TopologyBuilderError, match=r"Topics not co-partitioned: \[b \(2\),c \(3\)\]"):
        ensure_copartitioning([["b", "c"]], {}, cluster)
    with pytest.raises(TopologyBuilderError, match="Topic not found: d"):
        ensure_copartitioning([["a", "d"]], {}, cluster)


def manager_of(topics: FakeTopics, replication_factor: int = 1) -> InternalTopicManager:
    return InternalTopicManager(topics, replication_factor, MockTime())


def test_missing_internal_topics_are_created() -> None:
    topics = FakeTopics(failures=2, there=3)
    wanted = {InternalTopicConfig("there", "compact"): 3, InternalTopicConfig("new", "delete"): 2}
    manager_of(topics).make_ready(wanted)
    assert topics.created == ["new:2:delete"]


def test_an_internal_topic_that_is_being_created_is_waited_for() -> None:
    topics = FakeTopics(late=3, there=3)
    topics.errors = {"there": Errors.LEADER_NOT_AVAILABLE}
    manager_of(topics).make_ready({InternalTopicConfig("there", "compact"): 3})
    assert (topics.created, topics.late) == ([], 0)


def test_an_internal_topic_that_cannot_be_described_is_an_error() -> None:
    topics = FakeTopics(late=9, there=3)
    topics.errors = {"there": Errors.TOPIC_AUTHORIZATION_FAILED}
    with pytest.raises(StreamsError, match="Could not describe topic there: TOPIC_AUTHORIZATION_FAILED"):
        manager_of(topics).make_ready({InternalTopicConfig("there", "compact"): 3})
    assert topics.created == []


def test_internal_topics_that_cannot_be_made_ready() -> None:
    for count in (3, 5):
        with pytest.raises(StreamsError, match=rf"there has invalid partitions. Expected: 4 Actual: {count}"):
            manager_of(FakeTopics(there=count)).make_ready({InternalTopicConfig("there", "compact"): 4})
    with pytest.raises(StreamsError, match="Found only 1 brokers,  but replication factor is 3"):
        manager_of(FakeTopics(), 3).make_ready({InternalTopicConfig("new", "compact"): 4})
    with pytest.raises(StreamsError, match=r"Could not create internal topics\. no broker"):
        manager_of(FakeTopics(failures=100)).make_ready({InternalTopicConfig("new", "compact"): 4})


def test_new_internal_topics_are_awaited_with_all_their_partitions() -> None:
    topics = FakeTopics(late=100)
    manager_of(topics).make_ready({InternalTopicConfig("new", "delete"): 2})
    assert topics.late == 0
    with pytest.raises(StreamsError, match=r"topics \['new'\] were created, but are not in the brokers' metadata"):
        manager_of(FakeTopics(late=2000)).make_ready({InternalTopicConfig("new", "delete"): 2})


def test_a_repartition_topic_that_nobody_writes_is_refused() -> None:
    builder = TopologyBuilder().set_application_id("app").add_internal_topic("x").add_source("source", "x")
    with pytest.raises(TopologyBuilderError, match=r"Topics \['app-x'\] are internal, but no sink writes them"):
        repartition_partition_counts(builder.topic_groups(), cluster_of())


# ── which instance gets which task ────────────────────────────────────────────────────────────────────────────────────


def assigned(tasks: int, *clients: ClientState, standby: int = 0) -> dict[UUID, ClientState]:
    states = {UUID(int=number): client for number, client in enumerate(clients, 1)}
    TaskAssignor.assign(states, [TaskId(0, number) for number in range(tasks)], standby)
    return states


def numbers(state: ClientState) -> set[int]:
    return {task.partition for task in state.active_tasks}


def test_every_task_is_assigned_once_and_evenly() -> None:
    chosen = random.Random(3)
    for _ in range(100):
        tasks, capacities = chosen.randint(0, 12), [chosen.randint(1, 3) for _ in range(chosen.randint(1, 5))]
        states = assigned(tasks, *(ClientState(capacity) for capacity in capacities)).values()
        got = sorted(number for state in states for number in numbers(state))
        assert got == list(range(tasks))
        per_thread = [len(state.active_tasks) / state.capacity for state in states]
        assert max(per_thread) - min(per_thread) <= 1


def test_tasks_stay_where_they_were() -> None:
    before = [{TaskId(0, 0), TaskId(0, 3)}, {TaskId(0, 1), TaskId(0, 2)}]
    states = assigned(4, *(ClientState(1, set(tasks), set(tasks)) for tasks in before))
    assert [numbers(state) for state in states.values()] == [{0, 3}, {1, 2}]


def test_a_free_thread_beside_the_state_of_a_task_gets_it() -> None:
    tasks = {TaskId(0, 0), TaskId(0, 1)}
    states = assigned(2, ClientState(2, set(tasks), set(tasks)), ClientState(2))
    assert numbers(states[ONE]) == {0, 1}


def test_a_task_that_two_instances_have_stays_where_it_was_active() -> None:
    before = [{TaskId(0, 0), TaskId(0, 1)}, {TaskId(0, 2), TaskId(0, 3), TaskId(0, 4)}]
    clients = ClientState(1, before[0], before[0] | {TaskId(0, 2)}), ClientState(1, before[1], set(before[1]))
    assert 2 in numbers(assigned(5, *clients)[TWO])


def test_no_two_instances_have_the_same_tasks() -> None:
    """So the work of one that fails goes to several others."""
    states = assigned(8, *(ClientState(1) for _ in range(8)), standby=1).values()
    assert len({frozenset(state.assigned_tasks) for state in states}) == 8


def test_of_two_instances_with_a_free_thread_the_one_without_work_gets_the_task() -> None:
    states = assigned(2, ClientState(2), ClientState(1)).values()
    assert [len(state.active_tasks) for state in states] == [1, 1]


@pytest.mark.parametrize("sizes", [(1, 3), (6, 2, 2)], ids=["half of the average", "twice the average"])
def test_tasks_move_if_they_were_not_balanced(sizes: tuple[int, ...]) -> None:
    tasks = iter([TaskId(0, number) for number in range(sum(sizes))])
    before = [set(islice(tasks, size)) for size in sizes]
    states = assigned(sum(sizes), *(ClientState(1, set(each), set(each)) for each in before)).values()
    counts = [len(state.active_tasks) for state in states]
    assert max(counts) - min(counts) <= 1


def test_a_task_that_stays_has_its_standby_elsewhere() -> None:
    before = [{TaskId(0, 0), TaskId(0, 3)}, {TaskId(0, 1), TaskId(0, 2)}]
    one, two = assigned(4, *(ClientState(1, set(tasks), set(tasks)) for tasks in before), standby=1).values()
    assert one.active_tasks == two.standby_tasks == before[0]
    assert two.active_tasks == one.standby_tasks == before[1]


def test_a_task_goes_where_its_state_is() -> None:
    task = {TaskId(0, 0)}
    states = assigned(1, ClientState(1), ClientState(1, set(), set(task)), ClientState(1))
    assert numbers(states[TWO]) == {0}
    states = assigned(1, ClientState(1, set(), set(task)), ClientState(1, set(task), set(task)))
    assert numbers(states[TWO]) == {0}, "the complete state is better than a copy"


def test_a_new_instance_gets_a_share() -> None:
    tasks = {TaskId(0, number) for number in range(4)}
    states = assigned(4, ClientState(1, set(tasks), set(tasks)), ClientState(1))
    assert len(states[ONE].active_tasks) == len(states[TWO].active_tasks) == 2


def test_standby_tasks_are_on_other_instances() -> None:
    states = assigned(4, ClientState(1), ClientState(1), ClientState(1), standby=1)
    for state in states.values():
        assert not state.active_tasks & state.standby_tasks
    assert sum(len(state.standby_tasks) for state in states.values()) == 4
    alone = assigned(2, ClientState(1), standby=1)
    assert not alone[ONE].standby_tasks


def test_without_an_instance_nothing_can_be_assigned() -> None:
    with pytest.raises(TaskAssignmentError, match="failed to find an assignable client"):
        assigned(1)


# ── the assignor ──────────────────────────────────────────────────────────────────────────────────────────────────────


def assignor_of(builder: TopologyBuilder, topics: FakeTopics, process: UUID = ONE) -> StreamPartitionAssignor:
    context = StreamsAssignorContext(
        builder.set_application_id("app"),
        process,
        DefaultPartitionGrouper(),
        manager_of(topics),
        lambda: frozenset({TaskId(0, 0)}),
        lambda: frozenset({TaskId(0, 0), TaskId(0, 1)}),
    )
    assignor = StreamPartitionAssignor()
    assignor.configure({STREAM_THREAD_INSTANCE: context})
    return assignor


def counting() -> TopologyBuilder:
    builder = chain("x").add_processor("count", Nothing, "1")
    return builder.add_state_store(Stores.in_memory_key_value("store"), "count")


def test_an_assignor_needs_its_thread() -> None:
    with pytest.raises(TaskAssignmentError, match="StreamThread is not specified"):
        StreamPartitionAssignor().configure({})


def test_a_member_reports_its_tasks() -> None:
    builder = TopologyBuilder().add_source("logs", pattern="log-.*")
    assignor = assignor_of(builder, FakeTopics())
    assignor.context.user_end_point = "host:80"
    assert SubscriptionInfo.decode(assignor.subscription_user_data(["log-1"])) == SubscriptionInfo(
        ONE, frozenset({TaskId(0, 0)}), frozenset({TaskId(0, 1)}), "host:80"
    )
    assert builder.topic_groups()[0].source_topics == {"log-1"}


def test_the_leader_creates_topics_and_every_member_gets_its_tasks() -> None:
    topics = FakeTopics()
    assignor = assignor_of(counting(), topics)
    told: list[Mapping[HostInfo, frozenset[TopicPartition]]] = []
    assignor.context.on_hosts = told.append
    infos = {
        "a": SubscriptionInfo(ONE, frozenset(), frozenset()),
        "b": SubscriptionInfo(TWO, frozenset(), frozenset(), "host:80"),
        "c": SubscriptionInfo(TWO, frozenset(), frozenset(), "host:80"),
    }
    subscriptions = {member: Subscription(("in", "app-x"), info.encode()) for member, info in infos.items()}
    result = assignor.assign(cluster_of(**{"in": 3}), subscriptions)
    assert topics.created == ["app-x:3:delete", "app-store-changelog:3:compact"]
    tasks: dict[TaskId, set[TopicPartition]] = {}
    for member in "abc":
        assignor.on_assignment(Assignment(result[member].partitions[::-1], result[member].user_data), 7)
        assert assignor.context.generation == 7
        assert len(assignor.context.active_tasks) == 2
        assert not assignor.context.standby_tasks
        for task, partitions in assignor.context.active_tasks.items():
            assert task not in tasks
            tasks[task] = set(partitions)
    topic_of = {0: "in", 1: "app-x"}
    wanted = {
        TaskId(group, number): {TopicPartition(topic_of[group], number)} for group in (0, 1) for number in range(3)
    }
    assert tasks == wanted
    hosts = AssignmentInfo.decode(result["a"].user_data or b"").partitions_by_host
    assert {host: len(partitions) for host, partitions in hosts.items()} == {HostInfo("host", 80): 4}
    assert told == [hosts] * 3


def active_tasks(assignor: StreamPartitionAssignor, cluster: Cluster, *infos: SubscriptionInfo) -> list[set[TaskId]]:
    """The active tasks of each member that the leader assigns."""
    subscriptions = {str(number): Subscription(("in",), info.encode()) for number, info in enumerate(infos)}
    result = assignor.assign(cluster, subscriptions)
    return [set(AssignmentInfo.decode(result[member].user_data or b"").active_tasks) for member in subscriptions]


def test_a_repartition_topic_of_a_former_run_makes_no_more_tasks() -> None:
    topics = FakeTopics(**{"app-x": 3, "app-store-changelog": 3})
    cluster = cluster_of(**{"in": 3, "app-x": 3})
    [tasks] = active_tasks(assignor_of(counting(), topics), cluster, SubscriptionInfo(ONE, frozenset(), frozenset()))
    assert tasks == {TaskId(group, number) for group in (0, 1) for number in range(3)}
    assert topics.created == []


@pytest.mark.parametrize("owner", [0, 1])
def test_a_task_is_assigned_to_the_instance_that_has_its_state_on_disk(owner: int) -> None:
    assignor, task = assignor_of(TopologyBuilder().add_source("source", "in"), FakeTopics()), frozenset({TaskId(0, 0)})
    infos = [SubscriptionInfo(of, frozenset(), frozenset()) for of in (ONE, TWO)]
    infos[owner] = SubscriptionInfo(infos[owner].process_id, frozenset(), task)
    assert active_tasks(assignor, cluster_of(**{"in": 1}), *infos)[owner] == task


def test_the_leader_refuses_topics_that_are_not_copartitioned() -> None:
    builder = TopologyBuilder().add_source("a", "in").add_source("b", "other").copartition_sources(["a", "b"])
    assignor = assignor_of(builder, FakeTopics())
    with pytest.raises(TopologyBuilderError, match=r"not co-partitioned: \[in \(1\),other \(2\)\]"):
        active_tasks(assignor, cluster_of(**{"in": 1, "other": 2}), SubscriptionInfo(ONE, frozenset(), frozenset()))


def test_the_leader_refuses_a_topology_whose_source_topics_do_not_all_exist() -> None:
    """KAFKA-10355. Repartition topics need not exist: the leader creates them."""
    builder = counting().add_source("gone", "gone").add_source("lost", "lost")
    topics, info = FakeTopics(), SubscriptionInfo(ONE, frozenset(), frozenset())
    with pytest.raises(MissingSourceTopicError, match="The source topics gone, lost are missing"):
        active_tasks(assignor_of(builder, topics), cluster_of(**{"in": 1}), info)
    assert topics.created == []


def test_each_task_has_standbys_at_other_instances() -> None:
    assignor = assignor_of(counting(), FakeTopics())
    assignor.context.num_standby_replicas = 1
    infos = {
        member: SubscriptionInfo(of, frozenset(), frozenset()) for member, of in (("a", ONE), ("b", TWO), ("c", TWO))
    }
    subscriptions = {member: Subscription(("in", "app-x"), info.encode()) for member, info in infos.items()}
    result = assignor.assign(cluster_of(**{"in": 3}), subscriptions)
    active: dict[TaskId, str] = {}
    standby: dict[TaskId, str] = {}
    for member in "abc":
        assignor.on_assignment(Assignment(result[member].partitions, result[member].user_data), 1)
        active.update(dict.fromkeys(assignor.context.active_tasks, member))
        standby.update(dict.fromkeys(assignor.context.standby_tasks, member))
        for task, partitions in assignor.context.standby_tasks.items():
            assert {partition.partition for partition in partitions} == {task.partition}
            assert not partitions & set(result[member].partitions), "the consumer of the group does not read them"
    assert len(active) == len(standby) == 6
    assert all((active[task] == "a") != (standby[task] == "a") for task in active)
    assert set(standby.values()) == set("abc"), "the threads of an instance share its standby tasks"


def test_the_tasks_of_an_unchanged_application_stay_where_they_were() -> None:
    assignor = assignor_of(counting(), FakeTopics())
    tasks = [TaskId(group, number) for group in (0, 1) for number in range(4)]
    before = {"a": frozenset([*tasks[:3], tasks[7]]), "b": frozenset(tasks[3:7])}
    infos = {"a": SubscriptionInfo(ONE, before["a"], frozenset()), "b": SubscriptionInfo(TWO, before["b"], frozenset())}
    subscriptions = {member: Subscription(("in", "app-x"), info.encode()) for member, info in infos.items()}
    result = assignor.assign(cluster_of(**{"in": 4}), subscriptions)
    assert {
        member: set(AssignmentInfo.decode(each.user_data or b"").active_tasks) for member, each in result.items()
    } == before


def test_a_changelog_has_a_partition_for_each_task_in_whatever_order_they_come() -> None:
    groups = counting().topic_groups()
    [(config, count)] = changelog_partition_counts(groups, [TaskId(1, 2), TaskId(1, 0)]).items()
    assert (config.name, count) == ("app-store-changelog", 3)


def test_an_old_member_gets_an_old_assignment() -> None:
    assignor = assignor_of(counting(), FakeTopics())
    infos = [SubscriptionInfo(ONE, frozenset(), frozenset(), None, 1), SubscriptionInfo(TWO, frozenset(), frozenset())]
    subscriptions = {str(info.version): Subscription(("in",), info.encode()) for info in infos}
    result = assignor.assign(cluster_of(**{"in": 1}), subscriptions)
    assert [AssignmentInfo.decode(each.user_data or b"").version for each in result.values()] == [1, 1]


def test_an_assignment_must_have_a_task_for_each_partition() -> None:
    data = AssignmentInfo((TaskId(0, 0),)).encode()
    with pytest.raises(TaskAssignmentError, match="partitions 0 is not equal to the number of active taskIds 1"):
        assignor_of(counting(), FakeTopics()).on_assignment(Assignment((), data), 1)


def test_end_points_are_hosts_with_a_port() -> None:
    assert HostInfo.parse("host:80") == ("host", 80)
    assert HostInfo.parse("[::1]:80") == ("::1", 80)
    assert HostInfo.parse("") is None
    for text in (":80", "host:", "host:x", "host"):
        with pytest.raises(TaskAssignmentError, match="Expected format host:port"):
            HostInfo.parse(text)


def test_a_host_without_a_port_is_refused() -> None:
    assignor = assignor_of(counting(), FakeTopics())
    info = SubscriptionInfo(ONE, frozenset(), frozenset(), "host")
    with pytest.raises(TaskAssignmentError, match=r"host address host\. Expected format host:port"):
        assignor.assign(cluster_of(), {"a": Subscription((), info.encode())})
