"""The name of a task: the number of its sub-topology and of the partition that it reads.

Kafka 0.10.2: streams/.../processor/TaskId.java · book 9.1.3
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafka_lite.streams.errors import TaskIdFormatError

_FORMAT = re.compile(r"(\d+)_(\d+)")


class TaskId(NamedTuple):
    """Its ``str`` names the task's state directory: ``0_1``. Ordered by sub-topology, then by partition."""

    topic_group_id: int
    partition: int

    def __str__(self) -> str:
        return f"{self.topic_group_id}_{self.partition}"

    @classmethod
    def parse(cls, text: str) -> TaskId:
        """The inverse of ``str``. Raises TaskIdFormatError."""
        match = _FORMAT.fullmatch(text)
        if match is None:
            raise TaskIdFormatError(text)
        return cls(int(match[1]), int(match[2]))
