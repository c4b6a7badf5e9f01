"""What each error of the coordinator means to a member."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import T0, T1, Listener, heartbeat_with, joined, member, poll
from tests.unit.consumer.conftest import ConsumerFactory


@pytest.mark.parametrize(
    "error",
    [Errors.UNKNOWN_MEMBER_ID, Errors.REBALANCE_IN_PROGRESS, Errors.ILLEGAL_GENERATION, Errors.NOT_COORDINATOR,
     Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS],
)  # fmt: skip
@pytest.mark.parametrize("key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP])
def test_retriable_errors_only_delay_the_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, key: ApiKey, error: Errors
) -> None:
    broker.fail_next(key, error)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    assert consumer.assignment == {T0, T1}
    assert len(broker.of(key)) >= 2


@pytest.mark.parametrize(
    "error", [Errors.INCONSISTENT_GROUP_PROTOCOL, Errors.INVALID_SESSION_TIMEOUT, Errors.GROUP_AUTHORIZATION_FAILED,
              Errors.GROUP_MAX_SIZE_REACHED, Errors.FENCED_INSTANCE_ID]
)  # fmt: skip
def test_fatal_errors_are_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors) -> None:
    broker.fail_next(ApiKey.JOIN_GROUP, error)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is error


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (Errors.REBALANCE_IN_PROGRESS, "revoked"),
        (Errors.ILLEGAL_GENERATION, "lost"),
        (Errors.UNKNOWN_MEMBER_ID, "lost"),
    ],
)
def test_a_heartbeat_response_makes_the_member_join_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime, error: Errors, event: str
) -> None:
    listener = Listener()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    heartbeat_with(broker, consumer, time, error)
    assert member(consumer).rejoin_needed()
    joined(consumer)
    assert [each for each, _ in listener.events] == ["revoked", "assigned", event, "assigned"]
    assert broker.generation == 2


def test_a_fenced_static_member_raises(broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime) -> None:
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    joined(consumer)
    heartbeat_with(broker, consumer, time, Errors.FENCED_INSTANCE_ID)
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is Errors.FENCED_INSTANCE_ID
