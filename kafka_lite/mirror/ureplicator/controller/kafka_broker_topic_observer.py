"""The topics of a Kafka cluster with their numbers of partitions, from its ZooKeeper.

    /brokers/topics          watched: new topics are read, and deleted ones forgotten, at once
    /brokers/topics/T        read once; all of them again after an hour, which is when an expansion is noticed

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/KafkaBrokerTopicObserver.java
(KafkaBrokerTopicObserver) · book 8.2.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.zookeeper.data import TopicAssignment

logger = logging.getLogger(__name__)

REFRESH_INTERVAL_S = 3600
"""All topics are read again after this time at the earliest."""
CHECK_INTERVAL_S = 600


class KafkaTopics(Protocol):
    """The part of KafkaZkClient that it needs."""

    def get_all_topics(self) -> list[str]:
        """All topics, sorted."""
        ...

    def get_topic_assignments(self, topics: Iterable[str]) -> Mapping[str, TopicAssignment]:
        """The replica assignments of these topics; one that cannot be read is logged and left out."""
        ...

    def watch_topics(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when topics are created or deleted."""
        ...


class KafkaBrokerTopicObserver:
    """Reads in the scheduler, which waits while the cluster's ZooKeeper cannot be reached. Any thread may ask it."""

    def __init__(self, cluster: str, zk: KafkaTopics, scheduler: Scheduler, time: Time = SYSTEM_TIME) -> None:
        """``cluster`` is its name in the log; the scheduler has one thread."""
        self._cluster = cluster
        self._zk = zk
        self._scheduler = scheduler
        self._time = time
        self._lock = threading.Lock()
        self._partitions: dict[str, int] = {}
        self._refreshed_ms: float | None = None

    def start(self) -> None:
        """Read the topics, and follow them."""
        self._scheduler.schedule("check-topics", self.check, period_ms=CHECK_INTERVAL_S * 1000)

    def num_partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None if the cluster has no such topic, or it was not read so far."""
        with self._lock:
            return self._partitions.get(topic)

    def topics(self) -> dict[str, int]:
        """All topics that were read, with their numbers of partitions."""
        with self._lock:
            return dict(self._partitions)

    # ------------------------------------------------------------------------------------------- in the scheduler

    def check(self) -> None:
        """Read all topics if that was long ago. A cluster without a broker so far has nothing to watch: try again."""
        self._zk.watch_topics(self._on_change)
        now_ms = self._time.hi_res_ms()
        if self._refreshed_ms is None or now_ms - self._refreshed_ms >= REFRESH_INTERVAL_S * 1000:
            self._read(known=())
            self._refreshed_ms = now_ms
            logger.info("Now serving %d topics in Kafka cluster: %s", len(self._partitions), self._cluster)
        else:
            self.read_new_topics()

    def read_new_topics(self) -> None:
        """Read the topics that came, and forget those that went."""
        self._read(known=self.topics())

    def _on_change(self) -> None:
        self._scheduler.schedule("read-new-topics", self.read_new_topics)

    def _read(self, known: Iterable[str]) -> None:
        names = self._zk.get_all_topics()
        read = self._zk.get_topic_assignments(sorted(set(names) - set(known)))
        with self._lock:
            kept = {topic: self._partitions[topic] for topic in names if topic in self._partitions}
            self._partitions = kept | {topic: len(assignment.partitions) for topic, assignment in read.items()}
