"""A group member that consists only of its requests: the test decides what it sends, and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Self

from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafka_lite.protocol.schema import Request
from tests.support.group_sequences import NEW_CLIENTS, Versions
from tests.support.groups import subscription

ANSWER_TIMEOUT_MS = 60_000
"""Every request is answered within this, or the test fails: JoinGroup waits for the others, but not for ever."""
SINCE_MANY_LEAVE = 3
Assign = Callable[[Sequence[str]], Mapping[str, bytes]]
"""What a leader does: from the ids of the members to the part of each."""


class RawMember:
    """One connection, and its member id and generation. Errors are returned, lost connections raised."""

    def __init__(
        self,
        bootstrap_servers: str,
        group_id: str,
        topic: str,
        name: str = "raw",
        *,
        versions: Versions = NEW_CLIENTS,
        instance_id: str | None = None,
        session_timeout_ms: int = 6000,
        rebalance_timeout_ms: int = 6000,
        protocol_type: str = "consumer",
    ) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self._channel = BlockingChannel(host, int(port), client_id=name, read_timeout_ms=ANSWER_TIMEOUT_MS)
        self._group_id, self._topic, self._versions = group_id, topic, versions
        self.set_timeouts(session_timeout_ms, rebalance_timeout_ms)
        self.instance_id = instance_id
        self._protocol_type = protocol_type
        self.member_id = ""
        self.generation = -1
        self.assignment = b""
        self._to_assign: list[str] = []

    def __enter__(self) -> Self:
        self._channel.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.vanish()

    def vanish(self) -> None:
        """Close the connection without LeaveGroup: for the group, the member was killed."""
        self._channel.close()

    def _exchange(self, request: Request, version: int) -> Any:
        return self._channel.exchange(request, version)

    def set_timeouts(self, session_timeout_ms: int, rebalance_timeout_ms: int) -> None:
        """Applies from the next join on."""
        self._timeouts_ms = session_timeout_ms, rebalance_timeout_ms

    # ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def send_join(self) -> None:
        """Send JoinGroup; its response is not awaited here."""
        session_timeout_ms, rebalance_timeout_ms = self._timeouts_ms
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self._protocol_type,
            protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription(self._topic))],
        )
        self._channel.send(request, self._versions.join)

    def receive_join(self) -> Errors:
        """Await the response."""
        answer: Any = self._channel.receive()
        error = Errors.for_code(answer.error_code)
        if error in (Errors.NONE, Errors.MEMBER_ID_REQUIRED):
            self.member_id = answer.member_id
        if error is Errors.NONE:
            self.generation = answer.generation_id
            assigns = answer.leader == answer.member_id and not answer.skip_assignment
            self._to_assign = [member.member_id for member in answer.members] if assigns else []
        return error

    def join(self) -> Errors:
        """JoinGroup; sent again if the first response only assigns an id."""
        self.send_join()
        if (error := self.receive_join()) is not Errors.MEMBER_ID_REQUIRED:
            return error
        self.send_join()
        return self.receive_join()

    def sync(self, assign: Assign) -> Errors:
        """SyncGroup; ``assign`` is called if this is the leader."""
        parts = assign(self._to_assign) if self._to_assign else {}
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self._protocol_type,
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=part) for member_id, part in parts.items()
            ],
        )
        answer = self._exchange(request, self._versions.sync)
        self.assignment = bytes(answer.assignment)
        return Errors.for_code(answer.error_code)

    # ── as a member ───────────────────────────────────────────────────────────────────────────────────────────────────

    def heartbeat(self) -> Errors:
        """Heartbeat."""
        request = HeartbeatRequest(
            group_id=self._group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        return Errors.for_code(self._exchange(request, self._versions.heartbeat).error_code)

    def commit(self, offsets: Mapping[int, int], metadata: str = "") -> Errors:
        """OffsetCommit of partitions, all with the same outcome."""
        partitions = [
            OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=metadata
            )
            for partition, offset in offsets.items()
        ]
        request = OffsetCommitRequest(
            group_id=self._group_id,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            topics=[OffsetCommitRequestTopic(name=self._topic, partitions=partitions)],
        )
        answer = self._exchange(request, self._versions.commit)
        (code,) = {partition.error_code for partition in answer.topics[0].partitions}
        return Errors.for_code(code)

    def committed(self, partitions: Collection[int]) -> dict[int, int]:
        """OffsetFetch; -1 if nothing is committed. AssertionError for errors: the coordinator may still be loading."""
        topic = OffsetFetchRequestTopic(name=self._topic, partition_indexes=list(partitions))
        request = OffsetFetchRequest(group_id=self._group_id, topics=[topic])
        answer = self._exchange(request, self._versions.fetch)
        assert answer.error_code == 0, answer
        found = answer.topics[0].partitions
        assert {partition.error_code for partition in found} == {0}, answer
        return {partition.partition_index: partition.committed_offset for partition in found}

    def leave(self) -> Errors:
        """LeaveGroup."""
        request = LeaveGroupRequest(group_id=self._group_id, member_id=self.member_id)
        if self._versions.leave >= SINCE_MANY_LEAVE:
            identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
            request = LeaveGroupRequest(group_id=self._group_id, members=[identity])
        answer = self._exchange(request, self._versions.leave)
        return Errors.for_code(answer.members[0].error_code if answer.members else answer.error_code)
