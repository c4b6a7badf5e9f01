"""The broker's cost of consumer group requests, heartbeats and commits, for ``python -m bench.request_costs``."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench.raw_client import TIMEOUT_S, RawClient, RawWorkload, frame_of
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafka_lite.server.broker_process import HOST

COMMIT_VERSION, HEARTBEAT_VERSION, JOIN_VERSION, SYNC_VERSION, LEAVE_VERSION = 7, 3, 3, 2, 2
"""In these versions, a commit's response ends with its error code, and the first JoinGroup returns the member id."""
SESSION_TIMEOUT_MS = 60_000
RETRY_S = 0.1


def group_workloads(scale: float = 1.0) -> list[RawWorkload]:
    """The workloads, each with a stable group of one member."""

    def count(requests: int) -> int:
        return max(200, int(requests * scale))

    return [
        RawWorkload("heartbeat, 1 in flight", count(8_000), _heartbeat),
        RawWorkload("offset commit, 1 in flight", count(6_000), _commit),
        RawWorkload("offset commit, 16 in flight", count(10_000), _commit_pipelined),
    ]


def commit_frame(topic: str, group_id: str, member_id: str = "", generation: int = -1, offset: int = 1) -> bytes:
    """A commit for partition 0; without a member id, that of a consumer with a manual assignment."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata="")
    request = OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[partition])],
    )
    return frame_of(request, COMMIT_VERSION)


def join(channel: BlockingChannel, group_id: str) -> tuple[str, int]:
    """Join as the only member of a new generation; returns the member id and generation. Raises TimeoutError."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        found = channel.exchange(FindCoordinatorRequest(key=group_id), 1)
        assert isinstance(found, FindCoordinatorResponse)
        if found.error_code == 0:
            request = JoinGroupRequest(
                group_id=group_id,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                rebalance_timeout_ms=1000,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
            )
            joined = channel.exchange(request, JOIN_VERSION)
            assert isinstance(joined, JoinGroupResponse)
            if joined.error_code == 0:
                _sync(channel, group_id, joined)
                return joined.member_id, joined.generation_id
        time.sleep(RETRY_S)
    raise TimeoutError(f"no coordinator for {group_id}")


def _sync(channel: BlockingChannel, group_id: str, joined: JoinGroupResponse) -> None:
    assignment = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all")
    request = SyncGroupRequest(
        group_id=group_id,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        assignments=[assignment],
    )
    channel.exchange(request, SYNC_VERSION)


def leave(channel: BlockingChannel, group_id: str, member_id: str) -> None:
    """Leave the group, so that the member does not expire in the middle of another measurement."""
    channel.exchange(LeaveGroupRequest(group_id=group_id, member_id=member_id), LEAVE_VERSION)


def _heartbeat(port: int, name: str, count: int) -> Sequence[float]:
    group_id = f"{name}-{count}"
    with BlockingChannel(HOST, port) as channel:
        member_id, generation = join(channel, group_id)
    request = HeartbeatRequest(group_id=group_id, generation_id=generation, member_id=member_id)
    with RawClient(port) as client:
        return client.one_in_flight(frame_of(request, HEARTBEAT_VERSION), count)


def _commit(port: int, name: str, count: int) -> Sequence[float]:
    _await_coordinator(port, name)
    with RawClient(port) as client:
        return client.one_in_flight(commit_frame(name, name), count)


def _commit_pipelined(port: int, name: str, count: int) -> None:
    _await_coordinator(port, name)
    with RawClient(port) as client:
        client.pipelined(commit_frame(name, name), count, 16)


def _await_coordinator(port: int, name: str) -> None:
    with BlockingChannel(HOST, port) as channel:
        join(channel, f"{name}-coordinator")
