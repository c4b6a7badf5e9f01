"""A group whose members do nothing by themselves: every request is made by hand.

It shows what a real consumer would not do, or not at the right moment: book 5.2 to 5.4. The coordinator is that of a
running broker, with its log and its clock. Requests reach it without a network, so each one has its response or is
parked when the call returns::

    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann = group.member("ann")
        ann.join()
        print(ann.response, group.state)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_learn.recording.run_brokers import wait_until
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import Subscription, serialize_subscription
from kafka_lite.coordinator.group.group_coordinator import JoiningClient
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_offsets import Committer, Outcomes
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_13_leave_group import MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

if TYPE_CHECKING:
    from kafka_lite.testing.cluster import Cluster

PARTITION = TopicPartition("demo", 0)
PARKED = "…"
"""Stands for a response that has not arrived."""
SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 60_000


class GroupByHand:
    """A group at the coordinator of a broker."""

    def __init__(self, cluster: Cluster, group_id: str = "readers") -> None:
        """Finds the coordinator, as every client does first; this creates ``__consumer_offsets``."""
        self.group_id = group_id
        groups = cluster.server.groups
        self.coordinator, self.offsets = groups.coordinator, groups.offsets
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        with BlockingChannel(host, int(port)) as channel:
            channel.exchange(FindCoordinatorRequest(key=group_id), 0)
        wait_until(lambda: self.coordinator.check_group(group_id) is Errors.NONE)

    def member(self, name: str, **settings: int) -> MemberByHand:
        """A client that can join; ``settings``: ``session_timeout_ms``, ``rebalance_timeout_ms``, ``version``."""
        return MemberByHand(self, name, **settings)

    @property
    def metadata(self) -> GroupMetadata | None:
        """The coordinator's metadata of the group; None before the first member has joined."""
        return self.coordinator.group_manager.get_group(self.group_id)

    @property
    def state(self) -> str:
        """The name of the group's state."""
        return self.metadata.state.name if self.metadata is not None else "none"

    def wait_for(self, state: str) -> None:
        """Wait until the group is in this state. Other threads run the tasks that are due."""
        wait_until(lambda: self.state == state)

    def __str__(self) -> str:
        """Generation, state and members. Brackets mean that the member's JoinGroup or SyncGroup is parked."""
        group = self.metadata
        if group is None:
            return "no such group"
        members = ", ".join(
            f"[{member.client_id}]" if member.is_awaiting_join or member.is_awaiting_sync else member.client_id
            for member in group.members.values()
        )
        return f"generation {group.generation_id}, {group.state.name}, members: {members or 'none'}"


class MemberByHand:
    """A member: its ids and the last response it received."""

    def __init__(
        self,
        group: GroupByHand,
        name: str,
        *,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
        rebalance_timeout_ms: int = REBALANCE_TIMEOUT_MS,
        version: int = 1,
    ) -> None:
        """``version`` is JoinGroup's: 1 as in the book; from 4 on, a new member first gets its id."""
        self.name = name
        self.member_id = ""
        self.generation_id = -1
        self.response = PARKED
        self.assignment = b""
        self._group = group
        self._timeouts_ms = (session_timeout_ms, rebalance_timeout_ms)
        self._version = version

    def join(self, *assignors: str, topics: tuple[str, ...] = ("demo",)) -> MemberByHand:
        """Send JoinGroup with the assignors that the member supports (default ``range``) and its subscription."""
        self.response = PARKED
        session_ms, rebalance_ms = self._timeouts_ms
        metadata = serialize_subscription(Subscription(topics))
        request = JoinGroupRequest(
            group_id=self._group.group_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name in assignors or ("range",)],
        )
        client = JoiningClient(self.name, "/127.0.0.1", self._version >= 4, self._version >= 9)
        self._group.coordinator.handle_join_group(request, client, self._joined)
        return self

    def _joined(self, response: JoinGroupResponse) -> None:
        error = Errors.for_code(response.error_code)
        if error in (Errors.NONE, Errors.MEMBER_ID_REQUIRED):
            self.member_id = response.member_id
        if error is Errors.NONE:
            self.generation_id = response.generation_id
            leads = response.leader == response.member_id
            role = f"leader of {len(response.members)}" if leads else "follower"
            self.response = f"generation {response.generation_id}, {role}"
        else:
            self.response = error.name

    def sync(self, assignment: Mapping[MemberByHand, bytes] | None = None) -> MemberByHand:
        """Send SyncGroup; a leader includes the assignment."""
        self.response = PARKED
        request = SyncGroupRequest(
            group_id=self._group.group_id,
            generation_id=self.generation_id,
            member_id=self.member_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=member.member_id, assignment=part)
                for member, part in (assignment or {}).items()
            ],
        )
        self._group.coordinator.handle_sync_group(request, self._synced)
        return self

    def _synced(self, response: SyncGroupResponse) -> None:
        error = Errors.for_code(response.error_code)
        self.assignment = bytes(response.assignment)
        part = self.assignment.decode(errors="backslashreplace")
        self.response = f"assignment {part!r}" if error is Errors.NONE else error.name

    def heartbeat(self) -> MemberByHand:
        """Send Heartbeat."""
        coordinator = self._group.coordinator
        error = coordinator.handle_heartbeat(self._group.group_id, self.member_id, None, self.generation_id)
        self.response = error.name
        return self

    def leave(self) -> MemberByHand:
        """Send LeaveGroup."""
        identity = MemberIdentity(member_id=self.member_id)
        response = self._group.coordinator.handle_leave_group(self._group.group_id, [identity])
        code = response.members[0].error_code if response.members else response.error_code
        self.response = Errors.for_code(code).name
        return self

    def commit(self, offset: int, partition: TopicPartition = PARTITION) -> MemberByHand:
        """Send OffsetCommit."""
        self.response = PARKED

        def committed(outcomes: Outcomes) -> None:
            self.response = outcomes[partition].name

        self._group.offsets.handle_commit_offsets(
            self._group.group_id,
            Committer(self.member_id, self.generation_id),
            {partition: OffsetAndMetadata(offset, "", commit_timestamp_ms=0)},
            committed,
        )
        return self

    def __str__(self) -> str:
        """Name and last response."""
        return f"{self.name}: {self.response}"
