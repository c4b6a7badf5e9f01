"""The topics of the cluster as an assignor sees them: ids and numbers of partitions.

Kafka 4.1: group-coordinator/.../group/modern/TopicMetadata.java, group/Utils.java (computeGroupHash) · book 7.3.1
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """A topic. A change of any field makes another assignment necessary."""

    name: str
    topic_id: UUID
    num_partitions: int


class TopicsImage(Protocol):
    """The broker's metadata cache at one moment."""

    @property
    def version(self) -> object:
        """An object that is another one after any change of topics or brokers."""
        ...

    def topic(self, name: str) -> TopicMetadata | None:
        """The topic; None if it does not exist or has no id."""
        ...

    def topic_name(self, topic_id: UUID) -> str | None:
        """The name of the topic with this id."""
        ...

    def topic_names(self) -> Iterable[str]:
        """The names of all topics."""
        ...


CurrentTopics = Callable[[], TopicsImage]
"""Returns the newest image."""


def metadata_hash(topics: Iterable[TopicMetadata]) -> int:
    """A number that changes with the topics of a group, as int64; 0 without topics.

    Kafka takes XXH3 for it, which the standard library does not have. The number only has to differ after a change:
    a broker of another kind that takes the group over computes its own, and the group gets one more epoch. (Kafka adds
    the racks of the replicas, which no assignor of 4.1 looks at.)
    """
    digest = hashlib.blake2b(digest_size=8)
    found = False
    for topic in sorted(topics, key=lambda each: each.name):
        found = True
        described = (topic.topic_id.bytes.hex(), topic.name, topic.num_partitions)
        digest.update(repr(described).encode())
    hashed: int = struct.unpack(">q", digest.digest())[0]
    return hashed if found else 0


def hash_of_topics(names: Iterable[str], topics: TopicsImage) -> int:
    """One hash over the topics with these names; a name without a topic does not count."""
    found = (topics.topic(name) for name in names)
    return metadata_hash(topic for topic in found if topic is not None)
