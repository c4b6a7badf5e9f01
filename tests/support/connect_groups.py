"""A stand-in for the coordinator of a sink's consumer group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition


class FakeGroupAdmin:
    """One group with its offsets. ``error`` is what the next change is refused with."""

    def __init__(self, offsets: Mapping[tuple[str, int], int]) -> None:
        self.offsets = {TopicPartition(*partition): offset for partition, offset in offsets.items()}
        self.error: Errors | None = None

    def committed(self, group: str) -> dict[TopicPartition, int]:
        return dict(self.offsets)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._maybe_refuse()
        self.offsets.update(offsets)

    def delete_offsets(self, group: str, partitions: Iterable[TopicPartition]) -> None:
        self._maybe_refuse()
        for partition in partitions:
            self.offsets.pop(partition, None)

    def delete_group(self, group: str) -> None:
        self._maybe_refuse()
        if not self.offsets:
            raise ApiError(Errors.GROUP_ID_NOT_FOUND)
        self.offsets.clear()

    def _maybe_refuse(self) -> None:
        if self.error is not None:
            raise ApiError(self.error)
