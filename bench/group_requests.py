"""What the requests of consumer groups cost a broker: heartbeats and commits, for ``python -m bench.raw_client``."""

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
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment

COMMIT_VERSION, HEARTBEAT_VERSION, JOIN_VERSION, SYNC_VERSION = 7, 3, 3, 2
SESSION_TIMEOUT_MS = 60_000
RETRY_S = 0.1


def group_workloads(scale: float = 1.0) -> list[RawWorkload]:
    """A group of one member each, that is stable."""

    def count(requests: int) -> int:
        return max(200, int(requests * scale))

    return [
        RawWorkload("heartbeat, 1 in flight", count(8_000), _heartbeat),
        RawWorkload("offset commit, 1 in flight", count(6_000), _commit),
        RawWorkload("offset commit, 16 in flight", count(10_000), _commit_pipelined),
    ]


def _commit_frame(topic: str) -> bytes:
    """A commit of a consumer that assigns itself."""
    offset = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    topics = [OffsetCommitRequestTopic(name=topic, partitions=[offset])]
    return frame_of(OffsetCommitRequest(group_id=topic, topics=topics), COMMIT_VERSION)


def _joined(port: int, group_id: str) -> tuple[str, int]:
    """Be the only member of a new generation; returns its id and the generation."""
    deadline = time.monotonic() + TIMEOUT_S
    with BlockingChannel("127.0.0.1", port) as channel:
        while time.monotonic() < deadline:
            found = channel.exchange(FindCoordinatorRequest(key=group_id), 1)
            assert isinstance(found, FindCoordinatorResponse)
            if found.error_code == 0:
                join = JoinGroupRequest(
                    group_id=group_id,
                    session_timeout_ms=SESSION_TIMEOUT_MS,
                    rebalance_timeout_ms=1000,
                    protocol_type="consumer",
                    protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
                )
                joined = channel.exchange(join, JOIN_VERSION)
                assert isinstance(joined, JoinGroupResponse)
                if joined.error_code == 0:
                    assignment = [SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all")]
                    sync = SyncGroupRequest(
                        group_id=group_id,
                        generation_id=joined.generation_id,
                        member_id=joined.member_id,
                        assignments=assignment,
                    )
                    channel.exchange(sync, SYNC_VERSION)
                    return joined.member_id, joined.generation_id
            time.sleep(RETRY_S)
    raise TimeoutError(f"no coordinator for {group_id}")


def _heartbeat(port: int, name: str, count: int) -> Sequence[float]:
    group_id = f"{name}-{count}"
    member_id, generation = _joined(port, group_id)
    request = HeartbeatRequest(group_id=group_id, generation_id=generation, member_id=member_id)
    with RawClient(port) as client:
        return client.one_in_flight(frame_of(request, HEARTBEAT_VERSION), count)


def _commit(port: int, name: str, count: int) -> Sequence[float]:
    _joined(port, f"{name}-coordinator")
    with RawClient(port) as client:
        return client.one_in_flight(_commit_frame(name), count)


def _commit_pipelined(port: int, name: str, count: int) -> None:
    _joined(port, f"{name}-coordinator")
    with RawClient(port) as client:
        client.pipelined(_commit_frame(name), count, 16)
