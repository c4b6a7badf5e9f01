"""A partition that is addressed by the id of its topic.

Kafka 2.8: clients/.../common/TopicIdPartition.java (which has the name, too) · book 1.2.1
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID


class TopicIdPartition(NamedTuple):
    """The key of maps of partitions in requests without names. The metadata cache knows the name of the id."""

    topic_id: UUID
    partition: int
