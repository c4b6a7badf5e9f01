"""A member of a group: joining, heartbeats, commits, leaving; the coordinator is a script."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import (
    CommitFailedError,
    WakeupError,
)
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from tests.support.scripted_broker import KAFKA_0_10_2, ScriptedBroker
from tests.support.scripted_members import T0, T1, Listener, joined, member, poll, reading
from tests.unit.consumer.conftest import ConsumerFactory


def test_an_old_broker_does_not_require_a_member_id(
    broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory
) -> None:
    old = ScriptedBroker(time, KAFKA_0_10_2)
    old.create("t", 2)
    broker.__dict__.update(old.__dict__)
    for key, handler in old.handlers.items():
        broker.handlers[key] = handler
    old.append(T0, b"a")
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    assert poll(consumer, 20) == [b"a"]
    consumer.commit_sync()
    assert consumer.committed([T0]) == {T0: OffsetAndMetadata(1)}


def test_a_static_member_needs_a_broker_with_static_membership(
    broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory
) -> None:
    broker.handlers[ApiKey.API_VERSIONS] = ScriptedBroker(time, KAFKA_0_10_2).handlers[ApiKey.API_VERSIONS]
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


def test_a_join_longer_than_a_poll_continues_in_the_next_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[Any, ...]] = []
    answer = broker.answer
    is_parked = True

    def respond_late(*response: Any) -> None:
        late = is_parked and isinstance(response[2], SyncGroupResponse)
        held.append(response) if late else answer(*response)

    monkeypatch.setattr(broker, "answer", respond_late)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 10)
    assert len(held) == 1
    assert member(consumer).state is MemberState.REBALANCING
    is_parked = False
    answer(*held[0])
    joined(consumer, polls=2)
    assert (broker.generation, len(broker.of(ApiKey.SYNC_GROUP))) == (1, 1)


def test_a_wakeup_during_a_join_loses_nothing(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    class WakesUp(Listener):
        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_assigned(partitions)
            if len(self.events) == 2:
                raise WakeupError

    listener = WakesUp()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    with pytest.raises(WakeupError):
        poll(consumer)
    joined(consumer)
    assert [event for event, _ in listener.events] == ["revoked", "assigned", "assigned"]
    assert broker.generation == 1


def test_one_heartbeat_is_sent_per_interval(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", heartbeat_interval_ms=1000)
    consumer.subscribe(["t"])
    joined(consumer)
    start = len(broker.of(ApiKey.HEARTBEAT))
    wait_ms = member(consumer).heartbeat_turn()
    assert wait_ms is not None
    assert 0 < wait_ms <= 1000
    time.sleep(1001)
    member(consumer).heartbeat_turn()
    member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.HEARTBEAT)) == start + 1
    assert broker.of(ApiKey.HEARTBEAT)[-1].generation_id == 1


def test_a_removed_member_sends_no_more_heartbeats(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", retry_backoff_ms=10)
    consumer.subscribe(["t"])
    joined(consumer)
    answer = broker.handlers[ApiKey.HEARTBEAT]

    def refuse_late(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = Errors.UNKNOWN_MEMBER_ID.code
        time.sleep(11)  # the next heartbeat would be due, had the member not been removed
        return response

    broker.handlers[ApiKey.HEARTBEAT] = refuse_late
    time.sleep(3001)
    start = len(broker.of(ApiKey.HEARTBEAT))
    for _ in range(4):
        member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.HEARTBEAT)) == start + 1


def test_a_removed_member_keeps_its_group_metadata(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    """Without a generation, the group coordinator would not check its transactions."""
    consumer = new_consumer("g")
    assert consumer.group_metadata() == ConsumerGroupMetadata("g")
    consumer.subscribe(["t"])
    joined(consumer)
    generation = member(consumer).generation
    metadata = consumer.group_metadata()
    assert metadata == ConsumerGroupMetadata("g", generation.generation_id, "me")
    assert generation.generation_id >= 0
    member(consumer).reset_generation("the coordinator has removed the member")
    assert consumer.group_metadata() == metadata


def test_a_member_that_does_not_poll_leaves(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    listener = Listener()
    consumer = new_consumer("g", max_poll_interval_ms=5000)
    consumer.subscribe(["t"], listener)
    joined(consumer)
    time.sleep(5001)
    assert member(consumer).heartbeat_turn() is None
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert member(consumer).state is MemberState.UNJOINED
    with pytest.raises(CommitFailedError):
        consumer.commit_sync({T0: OffsetAndMetadata(1)})
    joined(consumer)
    assert [event for event, _ in listener.events] == ["revoked", "assigned", "lost", "assigned"]


def test_a_closing_consumer_leaves(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    listener = Listener()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    consumer.close()
    (leave,) = broker.of(ApiKey.LEAVE_GROUP)
    assert [each.member_id for each in leave.members] == ["me"]
    assert listener.events[-1] == ("revoked", [T0, T1])


def test_a_closing_static_member_does_not_leave(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.close()
    assert broker.of(ApiKey.LEAVE_GROUP) == []


def test_unsubscribe_leaves_and_subscribe_joins(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.unsubscribe()
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert consumer.assignment == frozenset()
    consumer.subscribe(["t"])
    joined(consumer)
    assert broker.generation == 2


def test_close_ends_in_time_without_responses(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = reading(broker, new_consumer("g"))
    for key in (ApiKey.OFFSET_COMMIT, ApiKey.LEAVE_GROUP, ApiKey.FIND_COORDINATOR):
        broker.handlers[key] = lambda _request, _version: None
    started = time.hi_res_ms()
    consumer.close(2000)
    assert time.hi_res_ms() - started <= 2500
