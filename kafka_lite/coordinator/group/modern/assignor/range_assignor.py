"""Gives each member neighbouring partitions of every topic, so that the same member has the same numbers of all.

Kafka 4.1: group-coordinator/.../group/assignor/RangeAssignor.java · book 5.1.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.coordinator.group.modern.assignor.group_spec import Assignment, GroupSpec


class RangeAssignor:
    """Static members come first, by instance id, so that a restart moves nothing; the others follow by member id.

    With three members, and topics of five and three partitions::

        a  0 1   0          The first (partitions mod members) members get one partition more.
        b  2 3   1
        c  4     2
    """

    name = "range"

    def assign(self, group: GroupSpec) -> Assignment:
        """See ConsumerGroupPartitionAssignor."""
        order = sorted(group.members, key=lambda member_id: _sort_key(group, member_id))
        subscribers: dict[UUID, list[str]] = {}
        for member_id in order:
            for topic_id in group.members[member_id].topic_ids:
                subscribers.setdefault(topic_id, []).append(member_id)
        target: Assignment = {member_id: {} for member_id in order}
        for topic_id in sorted(subscribers):
            members = subscribers[topic_id]
            quota, extra = divmod(group.num_partitions[topic_id], len(members))
            start = 0
            for position, member_id in enumerate(members):
                end = start + quota + (position < extra)
                if start < end:
                    target[member_id][topic_id] = frozenset(range(start, end))
                start = end
        return target


def _sort_key(group: GroupSpec, member_id: str) -> tuple[bool, str]:
    instance_id = group.members[member_id].instance_id
    return instance_id is None, member_id if instance_id is None else instance_id
