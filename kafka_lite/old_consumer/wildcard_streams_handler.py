"""The streams of a consumer with a filter: all of its topics share them, and topics may come and go.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala (WildcardStreamsHandler) · book 3.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from kafka_lite.old_consumer.topic_count import WildcardTopicCount

logger = logging.getLogger(__name__)


class WildcardStreamsHandler:
    """Compares the topics that the filter lets through with those of before, and begins anew if they differ."""

    def __init__(self, topic_count: WildcardTopicCount, reinitialize: Callable[[], None]) -> None:
        self._topic_count = topic_count
        self._reinitialize = reinitialize
        self._wildcard_topics = topic_count.topics()

    def handle_topic_event(self, all_topics: Sequence[str]) -> None:
        """Called in the thread that rebalances; raises what a rebalance raises."""
        updated = self._topic_count.topics(all_topics)
        added = [topic for topic in updated if topic not in self._wildcard_topics]
        deleted = [topic for topic in self._wildcard_topics if topic not in updated]
        self._wildcard_topics = updated
        if added or deleted:
            logger.info("Topic event: added topics = %s, deleted topics = %s", added, deleted)
            logger.info("Topics to consume = %s", updated)
            self._reinitialize()
