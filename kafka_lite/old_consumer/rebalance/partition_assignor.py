"""Assigns partitions to the members of a group. Every member computes the assignment itself, from the same data.

Kafka 0.10.2: core/.../consumer/PartitionAssignor.scala (AssignmentContext, RangeAssignor, RoundRobinAssignor)
· book 3.2.2
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_string_hash
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, TopicCount

logger = logging.getLogger(__name__)

Assignment = dict[str, dict[TopicPartition, ConsumerThreadId]]
"""Partitions and their threads by consumer. A consumer without partitions has an empty map."""


@dataclass(frozen=True)
class AssignmentContext:
    """The input of an assignment: members, subscriptions and partitions."""

    consumer_id: str
    """The member that computes."""
    my_topics: Collection[str]
    """The topics that it subscribes to."""
    consumers_for_topic: Mapping[str, Sequence[ConsumerThreadId]]
    """The threads of all members that subscribe to a topic, sorted."""
    partitions_for_topic: Mapping[str, Sequence[int]]
    """The partitions, sorted; empty for a topic that does not exist."""
    consumers: Sequence[str]
    """All members, sorted."""

    @classmethod
    def of(
        cls, consumer_id: str, topic_counts: Iterable[TopicCount], partitions_for_topic: Mapping[str, Sequence[int]]
    ) -> AssignmentContext:
        """From the subscriptions of all members. Raises KafkaError if ``consumer_id`` is not among them."""
        threads: dict[str, list[ConsumerThreadId]] = {}
        my_topics: Collection[str] | None = None
        members = sorted(topic_counts, key=lambda each: each.consumer_id)
        for topic_count in members:
            per_topic = topic_count.get_consumer_thread_ids_per_topic()
            for topic, thread_ids in per_topic.items():
                threads.setdefault(topic, []).extend(thread_ids)
            if topic_count.consumer_id == consumer_id:
                my_topics = sorted(per_topic)
        if my_topics is None:
            raise KafkaError(f"{consumer_id} is not registered in its group")
        sorted_threads = {topic: sorted(thread_ids) for topic, thread_ids in threads.items()}
        consumers = [member.consumer_id for member in members]
        return cls(consumer_id, my_topics, sorted_threads, partitions_for_topic, consumers)


class PartitionAssignor(ABC):
    """An assignment strategy (``partition.assignment.strategy``). All members of a group must use the same."""

    @abstractmethod
    def assign(self, context: AssignmentContext) -> Assignment:
        """The assignment of all members."""

    @staticmethod
    def create_instance(strategy: str) -> PartitionAssignor:
        """The assignor named ``roundrobin`` or ``range``."""
        return RoundRobinAssignor() if strategy == "roundrobin" else RangeAssignor()


class RangeAssignor(PartitionAssignor):
    """Assigns topic by topic: each thread gets a run of consecutive partitions, and the first threads get one more.

    Five partitions, consumers C1 and C2 with two threads each: 5 = 4 · 1 + 1, so only the first thread gets two::

        partitions   0     1     2     3     4
        threads     C1-0  C1-0  C1-1  C2-0  C2-1

    Only the topics that this member subscribes to are considered. Threads in excess of the partitions get none.
    """

    def assign(self, context: AssignmentContext) -> Assignment:
        """The assignment of this member's topics."""
        assignment: Assignment = {consumer: {} for consumer in context.consumers}
        for topic in context.my_topics:
            threads, partitions = context.consumers_for_topic[topic], context.partitions_for_topic.get(topic, [])
            logger.info(
                "Consumer %s rebalancing the following partitions: %s for topic %s with consumers: %s",
                context.consumer_id,
                list(partitions),
                topic,
                [str(thread) for thread in threads],
            )
            for thread, run in zip(threads, runs(partitions, len(threads)), strict=True):
                if not run:
                    logger.warning("No broker partitions consumed by consumer thread %s for topic %s", thread, topic)
                assignment[thread.consumer].update({TopicPartition(topic, number): thread for number in run})
        return assignment


def runs(partitions: Sequence[int], count: int) -> Iterator[Sequence[int]]:
    """Cut partitions into ``count`` runs of consecutive ones, as equal as possible, the longer ones first."""
    per_thread, with_one_more = divmod(len(partitions), count)
    for position in range(count):
        start = per_thread * position + min(position, with_one_more)
        yield partitions[start : start + per_thread + (position < with_one_more)]


class RoundRobinAssignor(PartitionAssignor):
    """Deals out all partitions of all topics to all threads in turn, and skips threads without the topic.

    The partitions are sorted by the hash code of ``[topic,partition]``. That is a shuffle with the same result
    everywhere, so that not all partitions of a topic go to the member with the most threads.
    """

    def assign(self, context: AssignmentContext) -> Assignment:
        """The assignment of all topics."""
        assignment: Assignment = {consumer: {} for consumer in context.consumers}
        threads = sorted({thread for each in context.consumers_for_topic.values() for thread in each})
        turns = cycle(threads)
        for partition in shuffled(context.partitions_for_topic):
            subscribed = context.consumers_for_topic[partition.topic]
            thread = next(thread for thread in turns if thread in subscribed)
            assignment[thread.consumer][partition] = thread
        return assignment


def shuffled(partitions_for_topic: Mapping[str, Sequence[int]]) -> list[TopicPartition]:
    """All partitions, sorted by Java's hash code of their text; those with the same code by topic and number."""
    partitions = [TopicPartition(topic, p) for topic, numbers in sorted(partitions_for_topic.items()) for p in numbers]
    return sorted(partitions, key=lambda each: java_string_hash(f"[{each.topic},{each.partition}]"))
