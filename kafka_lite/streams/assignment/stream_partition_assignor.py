"""Assigns tasks, with the partitions that they read, to the threads of all instances of an application.

Kafka 0.10.2: streams/.../processor/internals/StreamPartitionAssignor.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kafka_lite.clients.cluster import Cluster, PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import Assignment, PartitionAssignor, Subscription
from kafka_lite.streams.assignment.assignment_info import AssignmentInfo
from kafka_lite.streams.assignment.client_state import ClientState
from kafka_lite.streams.assignment.internal_topic_manager import InternalTopicManager
from kafka_lite.streams.assignment.repartition_topics import (
    changelog_partition_counts,
    ensure_copartitioning,
    repartition_partition_counts,
)
from kafka_lite.streams.assignment.subscription_info import CURRENT_VERSION, SubscriptionInfo
from kafka_lite.streams.assignment.task_assignor import TaskAssignor
from kafka_lite.streams.errors import MissingSourceTopicError, TaskAssignmentError
from kafka_lite.streams.processor.partition_grouper import PartitionGrouper
from kafka_lite.streams.processor.topology_builder import TopicsInfo, TopologyBuilder
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.task_id import TaskId

logger = logging.getLogger(__name__)

STREAM_THREAD_INSTANCE = "__stream.thread.instance__"
"""The configuration key under which the consumer passes a StreamsAssignorContext to the assignor that it creates."""

TaskPartitions = dict[TaskId, frozenset[TopicPartition]]


@dataclass
class StreamsAssignorContext:
    """The state that the assignor and its thread share."""

    builder: TopologyBuilder
    process_id: UUID
    partition_grouper: PartitionGrouper
    internal_topic_manager: InternalTopicManager
    prev_tasks: Callable[[], frozenset[TaskId]]
    """The tasks that the thread had before the rebalance."""
    cached_tasks: Callable[[], frozenset[TaskId]]
    """The tasks whose state is in the state directory."""
    user_end_point: str | None = None
    """The ``application.server`` of the instance."""
    on_hosts: Callable[[Mapping[HostInfo, frozenset[TopicPartition]]], None] = lambda _: None
    """Called after each assignment with the partitions of all instances that have an end point."""
    num_standby_replicas: int = 0
    """How many other instances follow the changelogs of a task, if there are so many."""
    active_tasks: TaskPartitions = field(default_factory=dict)
    """The thread's tasks, after an assignment."""
    standby_tasks: TaskPartitions = field(default_factory=dict)
    """The tasks whose state it keeps on standby."""
    generation: int = -1
    """The generation of the group that the assignment belongs to."""


@dataclass
class _Client:
    """An instance with its members, one for each thread."""

    state: ClientState = field(default_factory=ClientState)
    members: list[str] = field(default_factory=list)
    host: HostInfo | None = None

    def add(self, member: str, info: SubscriptionInfo) -> None:
        self.members.append(member)
        self.state.prev_active_tasks |= info.prev_tasks
        self.state.prev_assigned_tasks |= info.prev_tasks | info.standby_tasks
        self.state.capacity += 1


class StreamPartitionAssignor(PartitionAssignor):
    """In the leader of the group: create the internal topics, divide the partitions into tasks, assign the tasks.

    Members may be threads of Kafka's own Streams 0.10: the data has their format.
    """

    name = "stream"

    def __init__(self) -> None:
        self._context: StreamsAssignorContext | None = None

    def configure(self, configs: Mapping[str, object]) -> None:
        """Find the context. Raises TaskAssignmentError in a consumer that is not a stream thread's."""
        context = configs.get(STREAM_THREAD_INSTANCE)
        if not isinstance(context, StreamsAssignorContext):
            raise TaskAssignmentError("StreamThread is not specified")
        self._context = context

    @property
    def context(self) -> StreamsAssignorContext:
        """The thread's context."""
        assert self._context is not None, "not configured"
        return self._context

    # ── a member ──────────────────────────────────────────────────────────────────────────────────────────────────

    def subscription_user_data(self, topics: Iterable[str]) -> bytes:
        """Report the tasks that were here, and tell the builder which topics its patterns match."""
        context = self.context
        context.builder.update_subscriptions(topics)
        prev_tasks = context.prev_tasks()
        cached_tasks = context.cached_tasks() - prev_tasks
        return SubscriptionInfo(context.process_id, prev_tasks, cached_tasks, context.user_end_point).encode()

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:
        """Note the partitions of each task. Raises TaskAssignmentError if they do not match."""
        info, partitions = AssignmentInfo.decode(assignment.user_data or b""), sorted(assignment.partitions)
        if len(partitions) != len(info.active_tasks):
            raise TaskAssignmentError(
                f"Number of assigned partitions {len(partitions)} is not equal to the number of active taskIds "
                f"{len(info.active_tasks)}, assignmentInfo={info}"
            )
        tasks: dict[TaskId, set[TopicPartition]] = {}
        for task, partition in zip(info.active_tasks, partitions, strict=True):
            tasks.setdefault(task, set()).add(partition)
        self.context.active_tasks = {task: frozenset(found) for task, found in tasks.items()}
        self.context.standby_tasks = dict(info.standby_tasks)
        self.context.generation = generation_id
        self.context.on_hosts(info.partitions_by_host)

    # ── the leader ────────────────────────────────────────────────────────────────────────────────────────────────

    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        """The assignment of each member. Raises StreamsError, TopologyBuilderError and TaskAssignmentError."""
        infos = {member: SubscriptionInfo.decode(each.user_data or b"") for member, each in subscriptions.items()}
        clients = _clients_of(infos)
        context = self.context
        topic_groups = context.builder.topic_groups()
        known = self._prepare_repartition_topics(topic_groups, cluster)
        source_topics = {group: info.source_topics for group, info in topic_groups.items()}
        tasks = context.partition_grouper.partition_groups(source_topics, known)
        context.internal_topic_manager.make_ready(changelog_partition_counts(topic_groups, tasks))
        states = {process: client.state for process, client in clients.items()}
        TaskAssignor.assign(states, tasks, context.num_standby_replicas)
        logger.info(
            "Assigned active and standby tasks to clients as %s",
            {str(process): (sorted(of.active_tasks), sorted(of.standby_tasks)) for process, of in states.items()},
        )
        hosts = {
            client.host: frozenset(partition for task in client.state.active_tasks for partition in tasks[task])
            for client in clients.values()
            if client.host is not None
        }
        version = min((info.version for info in infos.values()), default=CURRENT_VERSION)
        return {
            member: _assignment(own, client.state.active_tasks, tasks, hosts, version)
            for client in clients.values()
            for member, own in _divided(client).items()
        }

    def _prepare_repartition_topics(self, topic_groups: Mapping[int, TopicsInfo], cluster: Cluster) -> Cluster:
        """Create the repartition topics. Returns the cluster with them.

        Raises MissingSourceTopicError if another source topic does not exist (KAFKA-10355), so that nothing looks as if
        all its records were processed. This ends the leader, and each member that becomes the leader after it: 0.10.2's
        assignments have no error code that would tell all of them at once.
        """
        context = self.context
        sources = {topic for info in topic_groups.values() for topic in info.source_topics}
        internal = {topic for info in topic_groups.values() for topic in info.repartition_source_topics}
        missing = {topic for topic in sources - internal if cluster.partition_count_for_topic(topic) is None}
        if missing:
            raise MissingSourceTopicError(missing)
        counts = repartition_partition_counts(topic_groups, cluster)
        ensure_copartitioning(context.builder.copartition_groups(), counts, cluster)
        configs = {
            topic: config for info in topic_groups.values() for topic, config in info.repartition_source_topics.items()
        }
        context.internal_topic_manager.make_ready({configs[topic]: count for topic, count in counts.items()})
        others = [info for info in cluster.partitions if info.topic not in counts]
        created = [PartitionInfo(topic, number, None) for topic, count in counts.items() for number in range(count)]
        return Cluster(cluster.nodes, (*others, *created))


def _clients_of(infos: Mapping[str, SubscriptionInfo]) -> dict[UUID, _Client]:
    """The members by their process."""
    clients: dict[UUID, _Client] = {}
    for member, info in sorted(infos.items()):
        client = clients.setdefault(info.process_id, _Client(host=HostInfo.parse(info.user_end_point)))
        client.add(member, info)
    return clients


def _divided(client: _Client) -> dict[str, list[TaskId]]:
    """The tasks of an instance, dealt out to its threads in turn: first the active ones, then the others."""
    tasks = [*sorted(client.state.active_tasks), *sorted(client.state.standby_tasks)]
    return {member: tasks[number :: len(client.members)] for number, member in enumerate(client.members)}


def _assignment(
    own: Iterable[TaskId],
    active: Collection[TaskId],
    tasks: Mapping[TaskId, frozenset[TopicPartition]],
    hosts: Mapping[HostInfo, frozenset[TopicPartition]],
    version: int,
) -> Assignment:
    """The partitions of a member's active tasks, sorted, and the task of each."""
    pairs = sorted((partition, task) for task in own if task in active for partition in tasks[task])
    standby = {task: tasks[task] for task in own if task not in active}
    info = AssignmentInfo(tuple(task for _, task in pairs), standby, hosts, version)
    return Assignment(tuple(partition for partition, _ in pairs), info.encode())
