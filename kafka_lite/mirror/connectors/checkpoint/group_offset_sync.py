"""Commits translated offsets in the target, for groups that nobody reads with there.

Kafka 2.7: connect/mirror/.../connect/mirror/MirrorCheckpointTask.java (refreshIdleConsumerGroupOffset,
syncGroupOffset) · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.checkpoint_store import CheckpointStore

logger = logging.getLogger(__name__)

EMPTY, DEAD = "Empty", "Dead"
GroupOffsets = Mapping[TopicPartition, OffsetAndMetadata]


class TargetGroups(Protocol):
    """The part of MirrorAdmin that it needs, for the target."""

    def group_state(self, group: str) -> str: ...  # noqa: D102  see MirrorAdmin
    def group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]: ...  # noqa: D102
    def commit(self, group: str, offsets: GroupOffsets) -> None: ...  # noqa: D102


class GroupOffsetSync:
    """A group may fail over at any time: as soon as it has members in the target, its offsets are its own.

    The coordinator refuses a commit from outside then, so that no moment lies between the look and the commit. Nor are
    offsets ever set back: the group may have read in the target, and left.
    """

    def __init__(self, target: TargetGroups, checkpoints: CheckpointStore) -> None:
        self._target = target
        self._checkpoints = checkpoints

    def sync(self) -> None:
        """Once, for all groups. A group that fails does not keep the others."""
        for group, translated in self._checkpoints.translated().items():
            try:
                self._sync(group, translated)
            except KafkaError as error:
                logger.warning("Unable to sync offsets for consumer group %s: %s", group, error)

    def _sync(self, group: str, translated: GroupOffsets) -> None:
        if not translated:
            return
        state = self._target.group_state(group)
        if state in (EMPTY, DEAD):
            known = self._target.group_offsets(group) if state == EMPTY else {}
            ahead = offsets_ahead(translated, known)
            if ahead:
                self._target.commit(group, ahead)


def offsets_ahead(translated: GroupOffsets, known: GroupOffsets) -> dict[TopicPartition, OffsetAndMetadata]:
    """The offsets that are after the group's own in the target, or that it does not have there."""
    return {
        partition: offset
        for partition, offset in translated.items()
        if partition not in known or offset.offset > known[partition].offset
    }
