"""The report of an instance about itself when it joins the group.

Kafka 0.10.2: streams/.../processor/internals/assignment/SubscriptionInfo.java · book 9.1.3
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kafka_lite.streams.assignment.info_bytes import InfoReader, int32, task_ids
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.task_id import TaskId

CURRENT_VERSION = 2


@dataclass(frozen=True)
class SubscriptionInfo:
    """The user data of a subscription::

    version      int32       2; 1 (of 0.10.0) has no end point
    process id   16 bytes    equal for all threads of an instance
    tasks        int32 n, then n × (int32 group, int32 partition)     that were active before the rebalance
    tasks        the same                                             whose state is on the instance's disk
    end point    int32 n, then n bytes host:port in UTF-8             application.server; n = 0: none
    """

    process_id: UUID
    prev_tasks: frozenset[TaskId]
    standby_tasks: frozenset[TaskId]
    user_end_point: str | None = None
    version: int = CURRENT_VERSION

    def encode(self) -> bytes:
        """The bytes."""
        data = int32(self.version) + self.process_id.bytes
        data += task_ids(sorted(self.prev_tasks)) + task_ids(sorted(self.standby_tasks))
        if self.version >= 2:
            end_point = (self.user_end_point or "").encode()
            data += int32(len(end_point)) + end_point
        return data

    @classmethod
    def decode(cls, data: bytes) -> SubscriptionInfo:
        """The inverse. Raises TaskAssignmentError for another version, and for data that is too short."""
        reader = InfoReader(data)
        version = reader.int32()
        if version not in (1, CURRENT_VERSION):
            raise TaskAssignmentError(f"unable to decode subscription data: version={version}")
        process_id = UUID(bytes=reader.take(16))
        prev_tasks = frozenset(reader.task_id() for _ in range(reader.int32()))
        standby_tasks = frozenset(reader.task_id() for _ in range(reader.int32()))
        end_point = reader.take(reader.int32()).decode() if version >= 2 else ""
        return cls(process_id, prev_tasks, standby_tasks, end_point or None, version)
