"""The assignment that the leader of the group sends to an instance.

Kafka 0.10.2: streams/.../processor/internals/assignment/AssignmentInfo.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.assignment.info_bytes import InfoReader, int32, partitions, task_ids, utf
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.task_id import TaskId

CURRENT_VERSION = 2


@dataclass(frozen=True)
class AssignmentInfo:
    """The user data of an assignment::

        version   int32   2; 1 (of 0.10.0) has no hosts
        active    int32 n, then n × (int32 group, int32 partition)    the task of each assigned partition
        standby   int32 n, then n × (task id, partitions)
        hosts     int32 n, then n × (utf host, int32 port, partitions)

    ``partitions`` is an int32 n, then n × (utf topic, int32 partition). ``utf`` has its length in two bytes. The active
    tasks are in the order of their sorted partitions.
    """

    active_tasks: tuple[TaskId, ...]
    standby_tasks: Mapping[TaskId, frozenset[TopicPartition]] = field(default_factory=dict)
    partitions_by_host: Mapping[HostInfo, frozenset[TopicPartition]] = field(default_factory=dict)
    version: int = CURRENT_VERSION

    def encode(self) -> bytes:
        """The bytes."""
        data = int32(self.version) + task_ids(self.active_tasks) + int32(len(self.standby_tasks))
        for task_id, of_task in sorted(self.standby_tasks.items()):
            data += int32(task_id.topic_group_id) + int32(task_id.partition) + partitions(of_task)
        if self.version >= 2:
            data += int32(len(self.partitions_by_host))
            for host, of_host in sorted(self.partitions_by_host.items()):
                data += utf(host.host) + int32(host.port) + partitions(of_host)
        return data

    @classmethod
    def decode(cls, data: bytes) -> AssignmentInfo:
        """The inverse. Raises TaskAssignmentError for another version, and for data that is too short."""
        reader = InfoReader(data)
        version = reader.int32()
        if not 0 <= version <= CURRENT_VERSION:
            raise TaskAssignmentError(f"Unknown assignment data version: {version}")
        active = tuple(reader.task_id() for _ in range(reader.int32()))
        standby = {reader.task_id(): reader.partitions() for _ in range(reader.int32())}
        hosts = {}
        if version >= 2:
            hosts = {HostInfo(reader.utf(), reader.int32()): reader.partitions() for _ in range(reader.int32())}
        return cls(active, standby, hosts, version)
