"""The names of the topics that the coordinator assigns by their ids.

Kafka 4.1: clients/.../consumer/internals/AbstractMembershipManager.java (findTopicNameInGlobalOrLocalCache),
ConsumerMetadata.java · book 2.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from kafka_lite.clients.metadata import Metadata
from kafka_lite.consumer.subscription_state import SubscriptionState, SubscriptionType


class TopicNames:
    """Looks names up in the consumer's metadata, and remembers those of assigned topics.

    A topic that the consumer subscribes to by its name is in its metadata anyway. What a regular expression means only
    the broker knows: then the metadata is asked for by ids.
    """

    def __init__(self, metadata: Metadata, subscriptions: SubscriptionState) -> None:
        self._metadata = metadata
        self._subscriptions = subscriptions
        self._known: dict[UUID, str] = {}

    def of(self, topic_ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """The names that are known, of these topics and of those looked up before. Asks for the missing ones."""
        wanted = frozenset(topic_ids)
        by_id = {topic_id: name for name, topic_id in self._metadata.fetch().topic_ids.items()}
        self._known |= {each: by_id[each] for each in wanted & by_id.keys()}
        if self._subscriptions.type is SubscriptionType.AUTO_PATTERN_RE2J:
            self._metadata.set_topic_ids(wanted)
        if wanted - self._known.keys():
            self._metadata.request_update()
        return self._known

    def keep(self, topic_ids: Iterable[UUID]) -> None:
        """Forget all others: these are assigned."""
        kept = frozenset(topic_ids)
        self._known = {topic_id: name for topic_id, name in self._known.items() if topic_id in kept}

    def clear(self) -> None:
        """The member joins again, or has left."""
        self._known = {}
        self._metadata.set_topic_ids(frozenset())
