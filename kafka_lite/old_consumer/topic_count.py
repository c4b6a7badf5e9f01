"""The subscription of a group's member: topics, or a topic filter, with a number of threads for each.

Kafka 0.10.2: core/.../consumer/TopicCount.scala (ConsumerThreadId, StaticTopicCount, WildcardTopicCount) · book 3.1.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import total_ordering

from kafka_lite.common.errors import KafkaError
from kafka_lite.old_consumer.topic_filter import Blacklist, TopicFilter, Whitelist
from kafka_lite.zookeeper.data import ConsumerRegistration

STATIC_PATTERN = "static"
_FILTERS: dict[str, type[TopicFilter]] = {kind.pattern: kind for kind in (Whitelist, Blacklist)}

ThreadIdsPerTopic = dict[str, list["ConsumerThreadId"]]
"""Thread ids by topic, in the order of their numbers."""


@total_ordering
@dataclass(frozen=True)
class ConsumerThreadId:
    """A thread of a consumer, written ``consumer-thread``. Partitions are assigned to, and owned by, threads.

    Threads are ordered by their text, so thread 10 comes before thread 2. All members must agree on the order, and this
    is Kafka's.
    """

    consumer: str
    thread_id: int

    def __str__(self) -> str:
        return f"{self.consumer}-{self.thread_id}"

    def __lt__(self, other: ConsumerThreadId) -> bool:
        return str(self) < str(other)


class TopicCount(ABC):
    """A subscription. ``get_topic_count_map`` and ``pattern`` form its registration in ZooKeeper
    (ConsumerRegistration)."""

    pattern: str
    """``static``, ``white_list`` or ``black_list``."""

    def __init__(self, consumer_id: str) -> None:
        self.consumer_id = consumer_id

    @abstractmethod
    def get_consumer_thread_ids_per_topic(self) -> ThreadIdsPerTopic:
        """The current threads for each topic."""

    @abstractmethod
    def get_topic_count_map(self) -> Mapping[str, int]:
        """The number of threads by topic or regular expression."""

    def registration(self, timestamp_ms: int) -> ConsumerRegistration:
        """The member's registration."""
        return ConsumerRegistration(self.get_topic_count_map(), self.pattern, timestamp_ms)


class StaticTopicCount(TopicCount):
    """A subscription to topics by name, whether they exist or not."""

    pattern = STATIC_PATTERN

    def __init__(self, consumer_id: str, topic_count_map: Mapping[str, int]) -> None:
        super().__init__(consumer_id)
        for topic, count in topic_count_map.items():
            if count < 1:
                raise KafkaError(f"{count} streams of topic {topic}: must be at least 1")
        self._topic_count_map = dict(topic_count_map)

    def get_consumer_thread_ids_per_topic(self) -> ThreadIdsPerTopic:
        """The requested number of threads for each topic."""
        return make_consumer_thread_ids_per_topic(self.consumer_id, self._topic_count_map)

    def get_topic_count_map(self) -> Mapping[str, int]:
        """The number of threads by topic, as given."""
        return self._topic_count_map


class WildcardTopicCount(TopicCount):
    """A subscription to the existing topics that a filter allows. All topics share the same threads."""

    def __init__(
        self,
        consumer_id: str,
        topic_filter: TopicFilter,
        num_streams: int,
        all_topics: Callable[[], Iterable[str]],
        exclude_internal_topics: bool,
    ) -> None:
        super().__init__(consumer_id)
        if num_streams < 1:
            raise KafkaError(f"{num_streams} streams: must be at least 1")
        self.pattern = topic_filter.pattern
        self._filter = topic_filter
        self._num_streams = num_streams
        self._all_topics = all_topics
        self._exclude_internal_topics = exclude_internal_topics

    def topics(self, all_topics: Iterable[str] | None = None) -> list[str]:
        """The topics, out of these or all current ones, that the filter allows; sorted."""
        candidates = self._all_topics() if all_topics is None else all_topics
        allowed = (topic for topic in candidates if self._filter.is_topic_allowed(topic, self._exclude_internal_topics))
        return sorted(allowed)

    def get_consumer_thread_ids_per_topic(self) -> ThreadIdsPerTopic:
        """The same threads for every topic."""
        return make_consumer_thread_ids_per_topic(self.consumer_id, dict.fromkeys(self.topics(), self._num_streams))

    def get_topic_count_map(self) -> Mapping[str, int]:
        """The number of threads by regular expression."""
        return {self._filter.regex: self._num_streams}


def make_consumer_thread_ids_per_topic(consumer_id: str, topic_count_map: Mapping[str, int]) -> ThreadIdsPerTopic:
    """Threads 0, 1, … for each topic."""
    return {
        topic: [ConsumerThreadId(consumer_id, number) for number in range(count)]
        for topic, count in topic_count_map.items()
    }


def construct_topic_count(
    consumer_id: str,
    registration: ConsumerRegistration,
    all_topics: Callable[[], Iterable[str]],
    exclude_internal_topics: bool,
) -> TopicCount:
    """The subscription of any member, from its registration. Raises InvalidRegexError."""
    kind = _FILTERS.get(registration.pattern)
    if kind is None or not registration.subscription:
        return StaticTopicCount(consumer_id, registration.subscription)
    regex, num_streams = next(iter(registration.subscription.items()))
    return WildcardTopicCount(consumer_id, kind(regex), num_streams, all_topics, exclude_internal_topics)
