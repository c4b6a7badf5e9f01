"""Tells a consumer with a filter when topics are created or deleted.

Kafka 0.10.2: core/.../consumer/ZookeeperTopicEventWatcher.scala, TopicEventHandler.scala,
ZookeeperConsumerConnector.scala (WildcardStreamsHandler) · book 3.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from kafka_lite.old_consumer.topic_count import WildcardTopicCount
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)


class TopicEventHandler(Protocol):
    """Handles changes of the topics."""

    def handle_topic_event(self, all_topics: Sequence[str]) -> None:
        """The topics have changed to these."""
        ...


class ZookeeperTopicEventWatcher:
    """Watches /brokers/topics, also in later sessions.

    ``execute`` runs the handler in another thread, because it rebalances, which takes too long for a watch callback.
    """

    def __init__(
        self, zk: KafkaZkClient, event_handler: TopicEventHandler, execute: Callable[[Callable[[], None]], None]
    ) -> None:
        self._zk = zk
        self._event_handler = event_handler
        self._execute = execute
        zk.zookeeper.ensure_path(paths.TOPICS)
        zk.watch_topics(self._topics_changed)
        self._topics_changed()  # for changes between the first read and the watch

    def shutdown(self) -> None:
        """Stop watching."""
        logger.info("Shutting down topic event watcher")
        self._zk.zookeeper.unwatch(paths.TOPICS)

    def _topics_changed(self) -> None:
        self._execute(lambda: self._event_handler.handle_topic_event(self._zk.get_all_topics()))


class WildcardStreamsHandler:
    """Compares the topics that the filter allows with the previous ones, and reinitializes the consumer if they
    differ."""

    def __init__(self, topic_count: WildcardTopicCount, reinitialize: Callable[[], None]) -> None:
        self._topic_count = topic_count
        self._reinitialize = reinitialize
        self._wildcard_topics = topic_count.topics()

    def handle_topic_event(self, all_topics: Sequence[str]) -> None:
        """Called in the rebalancing thread. Raises the errors of a rebalance."""
        updated = self._topic_count.topics(all_topics)
        added = [topic for topic in updated if topic not in self._wildcard_topics]
        deleted = [topic for topic in self._wildcard_topics if topic not in updated]
        self._wildcard_topics = updated
        if added or deleted:
            logger.info("Topic event: added topics = %s, deleted topics = %s", added, deleted)
            logger.info("Topics to consume = %s", updated)
            self._reinitialize()
