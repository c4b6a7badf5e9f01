"""What a member does about errors, lost connections and responses that come too late."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.group.modern.heartbeat_errors import Reaction, heartbeat_error, reaction_to
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import TODAY
from tests.support.scripted_members import T0, T1, Listener, poll
from tests.support.scripted_modern_group import (
    HEARTBEAT,
    INTERVAL_MS,
    ScriptedModernGroup,
    heartbeat_turns,
    manager,
)
from tests.unit.consumer.group.modern.conftest import MemberFactory
from tests.unit.consumer.group.modern.test_consumer_membership_manager import next_heartbeat, reading

FATAL = [
    Errors.GROUP_AUTHORIZATION_FAILED, Errors.UNSUPPORTED_ASSIGNOR, Errors.UNRELEASED_INSTANCE_ID,
    Errors.FENCED_INSTANCE_ID, Errors.GROUP_MAX_SIZE_REACHED, Errors.INVALID_REGULAR_EXPRESSION,
    Errors.INVALID_REQUEST, Errors.UNSUPPORTED_VERSION,
]  # fmt: skip


@pytest.mark.parametrize("error", FATAL)
def test_every_poll_raises_an_error_that_nothing_mends(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, error: Errors
) -> None:
    consumer = new_member(enable_auto_commit=False)
    listener = reading(broker, consumer)
    broker.fail_next(HEARTBEAT, error)
    for _ in range(2):
        with pytest.raises(ApiError) as raised:
            next_heartbeat(consumer, time)
        assert raised.value.error is error
    assert (manager(consumer).state, consumer.assignment) == (MemberState.FATAL, frozenset())
    assert listener.events[1:] == [("lost", [T0, T1])]
    consumer.unsubscribe()
    consumer.close()
    assert broker.heartbeats[-1].member_epoch > 0, "it is no member, and need not leave"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Errors.UNSUPPORTED_VERSION, "Set group.protocol=classic"),
        (Errors.GROUP_AUTHORIZATION_FAILED, "Not authorized to access group: g"),
        (Errors.INVALID_REGULAR_EXPRESSION, "Invalid SubscriptionPattern .* said"),
        (Errors.UNRELEASED_INSTANCE_ID, "said Close the other consumer with group.instance.id=i"),
        (Errors.FENCED_INSTANCE_ID, "said .* group.instance.id=i has joined"),
        (Errors.UNSUPPORTED_ASSIGNOR, "group g: said"),
    ],
)
def test_errors_say_what_to_do(error: Errors, words: str) -> None:
    with pytest.raises(ApiError, match=words):
        raise heartbeat_error(error, "said", "g", "i")
    assert reaction_to(error) is Reaction.GIVE_UP


def test_a_broker_without_the_protocol_is_named(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    without = {key: versions for key, versions in TODAY.items() if key is not HEARTBEAT}
    broker.handlers[ApiKey.API_VERSIONS] = ScriptedModernGroup(MockTime(), without).handlers[ApiKey.API_VERSIONS]
    consumer.subscribe(["t"])
    with pytest.raises(ApiError, match=r"Set group\.protocol=classic") as raised:
        poll(consumer, 6)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


@pytest.mark.parametrize(
    "error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS]
)
def test_a_member_stays_while_its_coordinator_moves(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, error: Errors
) -> None:
    consumer = new_member()
    listener = reading(broker, consumer)
    lookups, before = len(broker.of(ApiKey.FIND_COORDINATOR)), len(broker.heartbeats)
    broker.fail_next(HEARTBEAT, error, error)
    next_heartbeat(consumer, time)
    poll(consumer, 10)
    assert (manager(consumer).state, listener.events[1:]) == (MemberState.STABLE, [])
    accepted = broker.heartbeats[before + 2]
    assert (accepted.member_epoch, accepted.subscribed_topic_names) == (1, ["t"]), "another coordinator gets everything"
    assert [each.partitions for each in accepted.topic_partitions] == [[0, 1]]
    moved = error is not Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) - lookups == (2 if moved else 0)


def test_an_error_about_topics_is_raised_once_and_the_member_stays(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    broker.fail_next(HEARTBEAT, Errors.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(ApiError, match="as the test says"):
        next_heartbeat(consumer, time)
    poll(consumer, 4)
    assert (manager(consumer).state, consumer.assignment) == (MemberState.STABLE, {T0, T1})


def test_a_lost_connection_is_not_the_end_of_the_membership(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member(request_timeout_ms=1000)
    reading(broker, consumer)
    broker.is_silent = True
    before = len(broker.heartbeats)
    time.sleep(INTERVAL_MS)
    poll(consumer, 30)
    broker.is_silent = False
    poll(consumer, 30)
    assert (manager(consumer).state, manager(consumer).membership.epoch) == (MemberState.STABLE, 1)
    assert [each.subscribed_topic_names for each in broker.heartbeats[before : before + 2]] == [None, ["t"]]


def test_the_response_to_a_request_of_an_earlier_membership_is_ignored(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    broker.is_silent = True
    time.sleep(INTERVAL_MS)
    heartbeat_turns(consumer)
    member, late = manager(consumer), broker.heartbeats[-1]
    assert late.member_epoch == 1
    joins = member.membership.joins
    consumer.unsubscribe()
    broker.is_silent = False
    consumer.subscribe(["t"], Listener())
    poll(consumer, 6)
    assert member.membership.joins == joins + 1
    assert member.state is MemberState.STABLE
    handler = member._heartbeats
    handler._on_failure(Errors.UNKNOWN_SERVER_ERROR.exception("late"), joins)
    assert (member.state, handler.failure) == (MemberState.STABLE, None)


def test_what_waits_for_nothing_needs_no_heartbeat(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    heartbeats = manager(consumer)._heartbeats
    assert heartbeats.time_to_next_ms(0) == float("inf")
    assert not heartbeats.send_if_due(0)
    reading(broker, consumer)
    assert 0 <= heartbeats.time_to_next_ms(manager(consumer)._time.hi_res_ms()) <= INTERVAL_MS
