"""The last checkpoint of each group and partition: those of earlier tasks, and the task's own.

Kafka 3.5: connect/mirror/.../connect/mirror/CheckpointStore.java · book 8.1.1
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.mirror_records import Checkpoint


class CheckpointStore:
    """Two threads use it: one emits checkpoints, the other one commits them in the target."""

    def __init__(self, groups: Collection[str]) -> None:
        """``groups``: those of the task. Checkpoints of others are not kept."""
        self._lock = threading.Lock()
        self._groups: dict[str, dict[TopicPartition, Checkpoint]] = {group: {} for group in groups}

    def update(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Keep the last ones."""
        with self._lock:
            for each in checkpoints:
                if each.group in self._groups:
                    self._groups[each.group][each.topic_partition] = each

    def is_news(self, checkpoint: Checkpoint) -> bool:
        """Whether to emit it: the translated offset is greater than that of the last one, or the group went back.

        With fewer offset syncs than an earlier task had, a translation may be smaller than before although the group
        did not go back. It is left out.
        """
        with self._lock:
            last = self._groups[checkpoint.group].get(checkpoint.topic_partition)
        if last is None or checkpoint.upstream_offset < last.upstream_offset:
            return True
        return checkpoint.downstream_offset > last.downstream_offset

    def translated(self) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """The offsets that each group has in the target. Kafka: computeConvertedUpstreamOffset."""
        with self._lock:
            return {
                group: {
                    partition: OffsetAndMetadata(each.downstream_offset, each.metadata)
                    for partition, each in checkpoints.items()
                }
                for group, checkpoints in self._groups.items()
            }
