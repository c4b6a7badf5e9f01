"""The topics of the metadata cache, as the coordinator's assignors need them.

Kafka 4.1: metadata/.../image/TopicsImage.java · book 7.3.1
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from kafka_lite.coordinator.group.modern.topics_image import CurrentTopics, TopicMetadata
from kafka_lite.server.metadata_cache import MetadataCache, MetadataSnapshot


class ClusterTopics:
    """One snapshot of the cache. Its partitions are those that the controller has announced."""

    def __init__(self, snapshot: MetadataSnapshot) -> None:
        self._snapshot = snapshot

    @property
    def version(self) -> object:
        """The snapshot itself: every UpdateMetadata makes another one."""
        return self._snapshot

    def topic(self, name: str) -> TopicMetadata | None:
        """See TopicsImage."""
        topic_id = self._snapshot.topic_ids.get(name)
        partitions = self._snapshot.partitions.get(name)
        if topic_id is None or not partitions:
            return None
        return TopicMetadata(name, topic_id, max(partitions) + 1)

    def topic_name(self, topic_id: UUID) -> str | None:
        """See TopicsImage."""
        return self._snapshot.topic_names.get(topic_id)

    def topic_names(self) -> Iterable[str]:
        """See TopicsImage."""
        return self._snapshot.partitions.keys()


def current_topics(cache: MetadataCache) -> CurrentTopics:
    """Returns the newest state of the cache each time."""
    return lambda: ClusterTopics(cache.snapshot)
