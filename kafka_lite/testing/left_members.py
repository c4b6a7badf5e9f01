"""Members of consumer groups that a test leaves behind in a cluster it shares, and that hold up a later one.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (prepareRebalance), which waits for every member · book 5.3.2
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import NamedTuple

from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest
from kafka_lite.testing.cluster import Cluster


class Member(NamedTuple):
    """A member of a group, as its coordinator knows it."""

    group: str
    member_id: str
    client_id: str
    host: str


class LeftMembers:
    """Remembers which test left which member in which cluster.

    A consumer that is neither closed nor dead stays in its group, and one that has died without leaving stays until its
    session times out. Each rebalance waits for it, and the partitions that it is assigned reach no other member.
    """

    def __init__(self) -> None:
        self._left: weakref.WeakKeyDictionary[Cluster, dict[Member, str]] = weakref.WeakKeyDictionary()

    def note(self, cluster: Cluster, test: str) -> None:
        """At the end of a test: its members are those that no earlier test has left."""
        earlier = self._left.get(cluster, {})
        self._left[cluster] = {member: earlier.get(member, test) for member in members(cluster)}

    def in_the_way(self, cluster: Cluster) -> list[str]:
        """A line for each member that an earlier test left in a group which another member has joined in this test."""
        left = self._left.get(cluster, {})
        if not left:
            return []
        still_there = set(members(cluster))
        known = {member.member_id for member in left}
        bodies = [seen.body for seen in cluster.requests.of("JoinGroup")]
        joined = {
            body.group_id for body in bodies if isinstance(body, JoinGroupRequest) and body.member_id not in known
        }
        return [
            _line(member, test) for member, test in left.items() if member in still_there and member.group in joined
        ]


def _line(member: Member, test: str) -> str:
    return (
        f"group {member.group!r} has the member {member.member_id!r} (client.id {member.client_id!r} at {member.host})"
        f", left by {test}: a new member waits for it, and gets none of its partitions. Close the consumer at the "
        "end of that test, or give each test a group.id of its own"
    )


def members(cluster: Cluster) -> Iterator[Member]:
    """The members of all groups, from the brokers that coordinate them."""
    for broker in cluster.brokers:
        if not broker.is_running:
            continue
        for group in broker.server.groups.coordinator.group_manager.current_groups:
            with group.lock:
                for member in group.members.values():
                    yield Member(group.group_id, member.member_id, member.client_id, member.client_host.lstrip("/"))
