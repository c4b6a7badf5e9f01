"""What a recording shows of a group at its coordinator: states, members, and the operations that wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.recording import group_watches as watches
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.coordinator.group.delayed_join import DelayedJoin
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_rebalancer import GroupRebalancer
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.groups import subscription


def told(recording: Recording) -> list[tuple[Any, ...]]:
    return [(event.kind, event.who, event.what) for event in recording.run]


def member(member_id: str, client_id: str) -> MemberMetadata:
    return MemberMetadata(
        member_id, None, client_id, "/host", 60_000, 10_000, "consumer", [("range", subscription("t"))]
    )


def test_members_and_states_of_a_group_are_told() -> None:
    with Recording(watches.watch_groups()) as recording:
        group = GroupMetadata("billing", MockTime())
        group.add(member("a-1", "a"))
        group.transition_to(GroupState.PREPARING_REBALANCE)
        group.remove("a-1")
        group.remove("nobody")
    run = recording.run
    assert told(recording)[-3:] == [
        (Kind.NOTE, "GroupMetadata", "+ a"),
        (Kind.STATE, "GroupMetadata", "state"),
        (Kind.NOTE, "GroupMetadata", "− a"),
    ]
    assert {event.where for event in run if event.kind is Kind.NOTE} == {"billing"}
    assert [event.detail["after"] for event in run if event.kind is Kind.STATE][-1] == "PREPARING_REBALANCE"


def test_a_delayed_join_waits_from_its_watch_to_its_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watches.watch_delayed_joins()
    monkeypatch.setattr(GroupRebalancer, "watch_join", lambda _self, _group, delayed_join: None)
    monkeypatch.setattr(DelayedJoin, "on_complete", lambda _self: None)
    rebalancer, waiting, unknown = (object.__new__(kind) for kind in (GroupRebalancer, DelayedJoin, DelayedJoin))
    waiting.delay_ms = 3000.0
    with Recording(watched) as recording:
        rebalancer.watch_join(None, delayed_join=waiting)  # type: ignore[call-arg]
        rebalancer.watch_join(None, delayed_join=waiting)  # type: ignore[call-arg]
        unknown.on_complete()
        waiting.on_complete()
    assert told(recording) == [
        (Kind.PUT, "DelayedJoin", "waits"),
        (Kind.TAKE, "DelayedJoin", "waits"),
        (Kind.NOTE, "DelayedJoin", "complete"),
    ]
    assert recording.run.events[0].detail == {"thing": "DelayedJoin, ≤ 3000 ms"}


def test_a_member_tells_what_it_owns_before_and_after_a_rebalance(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watches.watch_members()
    for name in ("on_join_prepare", "on_join_complete"):
        monkeypatch.setattr(ConsumerCoordinator, name, lambda _self: None)
    monkeypatch.setattr(ConsumerCoordinator, "perform_assignment", lambda _self, protocol_name: None)
    coordinator: Any = object.__new__(ConsumerCoordinator)
    coordinator._subscriptions = SimpleNamespace(assigned_partitions={TopicPartition("t", 2), TopicPartition("t", 0)})
    with Recording(watched) as recording:
        coordinator.on_join_prepare()
        coordinator._subscriptions.assigned_partitions = set()
        coordinator.perform_assignment(protocol_name="range")
        coordinator.on_join_complete()
    assert [event.what for event in recording.run] == [
        "on_join_prepare, had 0 2", "perform_assignment: range", "on_join_complete, has nothing",
    ]  # fmt: skip
    assert recording.run.events[0].detail == {"partitions": [0, 2]}


COMMIT = OffsetCommitRequest(
    group_id="g", generation_id_or_member_epoch=4,
    topics=[OffsetCommitRequestTopic(name="t", partitions=[
        OffsetCommitRequestPartition(partition_index=number, committed_offset=10 + number) for number in (1, 0)
    ])],
)  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (JoinGroupRequest(group_id="g", member_id=""), "without an id"),
        (JoinGroupRequest(group_id="g", member_id="a-1"), "with its id"),
        (HeartbeatRequest(group_id="g", generation_id=3), "generation 3"),
        (COMMIT, "generation 4: t-0=10 t-1=11"),
    ],
)
def test_a_request_is_told_in_words(request_: Any, words: str) -> None:
    assert watches._request_in_words(request_) == words


def joined(member_id: str, members: int) -> JoinGroupResponse:
    others = [JoinGroupResponseMember(member_id=f"m-{number}", metadata=b"") for number in range(members)]
    return JoinGroupResponse(generation_id=7, protocol_name="range", leader="m-0", member_id=member_id, members=others)


def committed(*codes: int) -> OffsetCommitResponse:
    partitions = [OffsetCommitResponsePartition(partition_index=n, error_code=code) for n, code in enumerate(codes)]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=partitions)])


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (joined("m-0", 2), "generation 7, leader of 2"),
        (joined("m-1", 0), "generation 7"),
        (HeartbeatResponse(), "NONE"),
        (HeartbeatResponse(error_code=Errors.REBALANCE_IN_PROGRESS.code), "REBALANCE_IN_PROGRESS"),
        (committed(0, 0), "NONE"),
        (committed(0, Errors.ILLEGAL_GENERATION.code), "ILLEGAL_GENERATION"),
    ],
)
def test_a_response_is_told_in_words(response: Any, words: str) -> None:
    assert watches._response_in_words(response) == words
