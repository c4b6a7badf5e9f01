"""What a recording shows of a new consumer: positions, its state in the group, its futures, its end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.recording import consumer_watches as watches
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import Crash
from kafka_learn.recording.summaries import summary
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import TopicPartitionState
from kafka_lite.protocol.api_keys import ApiKey


def told(recording: Recording, *kinds: Kind) -> list[tuple[Any, ...]]:
    return [(event.who, event.what, event.detail) for event in recording.run if event.kind in (kinds or tuple(Kind))]


# ── positions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_position_is_told_when_it_changes_and_committed_offsets_by_their_number() -> None:
    state = TopicPartitionState()
    with Recording(watches.watch_positions()) as recording:
        for offset in (5, 5, 7):
            state.position = offset
        state.committed = OffsetAndMetadata(7)
        state.paused = True
    assert told(recording) == [
        ("SubscriptionState", "position", {"before": None, "after": 5}),
        ("SubscriptionState", "position", {"before": 5, "after": 7}),
        ("SubscriptionState", "committed", {"before": None, "after": 7}),
    ]


def test_only_the_named_attributes_are_watched() -> None:
    state = TopicPartitionState()
    with Recording(watches.watch_positions("position")) as recording:
        state.committed = OffsetAndMetadata(7)
        state.position = 1
    assert [what for _, what, _ in told(recording)] == ["position"]


def record(offset: int) -> ConsumerRecord:
    return ConsumerRecord("t", 0, offset, 0, 0, None, b"v", [])


def test_records_are_summed_up_by_their_offsets() -> None:
    assert watches.offsets_in_words([record(4)]) == "4"
    assert watches.offsets_in_words([record(0), record(1), record(2)]) == "0–2"
    assert summary(record(3)) == "@3"
    assert summary(ConsumerRecords({})) == "nothing"


# ── the group ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_members_state_is_told_when_it_changes() -> None:
    member = object.__new__(ConsumerCoordinator)
    member._state = MemberState.UNJOINED
    member.config = SimpleNamespace(group_id="g")
    with Recording(watches.watch_member_state()) as recording:
        member._transition_to(MemberState.REBALANCING)
        with pytest.raises(RuntimeError):
            member._transition_to(MemberState.REBALANCING)
        member._transition_to(MemberState.STABLE)
    assert told(recording) == [
        ("ConsumerCoordinator", "state", {"before": "UNJOINED", "after": "REBALANCING"}),
        ("ConsumerCoordinator", "state", {"before": "REBALANCING", "after": "STABLE"}),
    ]


def test_a_close_is_an_end_and_in_a_crash_a_death(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, consumer = watches.watch_deaths(), object.__new__(KafkaConsumer)
    monkeypatch.setattr(KafkaConsumer, "close", lambda _self: None)
    with Recording(watched) as recording:
        consumer.close()
        try:
            raise Crash
        except Crash:
            consumer.close()
    assert [what for _, what, _ in told(recording, Kind.NOTE)] == ["ends", "dies"]


# ── futures ───────────────────────────────────────────────────────────────────────────────────────────────────────


class ShortNameAdapter:
    """Stands in for an adapter: only its name is told."""


def test_futures_are_named_by_their_requests_and_adapters_in_order_of_creation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = watches.watch_futures()
    monkeypatch.setattr(ConsumerNetworkClient, "send", lambda _self, _node, builder: RequestFuture())
    monkeypatch.setattr(RequestFuture, "compose", lambda _self, adapter: RequestFuture())
    client = object.__new__(ConsumerNetworkClient)
    with Recording(watched) as recording:
        response = client.send(None, builder=SimpleNamespace(api_key=ApiKey.JOIN_GROUP))  # type: ignore[call-arg]
        composed = response.compose(adapter=ShortNameAdapter())  # type: ignore[arg-type]
        composed.fail(ApiError(Errors.REBALANCE_IN_PROGRESS))
        RequestFuture().complete(1)
    events = told(recording, Kind.CALL)
    assert events == [
        ("ConsumerNetworkClient", "send", {"request": "JoinGroup"}),
        ("1 JoinGroup response", "compose", {"adapter": "ShortNameAdapter"}),
        ("2 by ShortNameAdapter", "fail", {"reason": "REBALANCE_IN_PROGRESS"}),
        ("RequestFuture", "complete", {}),
    ]
