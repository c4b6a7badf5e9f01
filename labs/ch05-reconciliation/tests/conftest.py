"""Helpers that the tests of this lab share."""

from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.current_assignment_builder import NO_EPOCH
from kafka_lite.coordinator.group.modern.member_state import MemberState

TOPIC, OTHER = UUID(int=1), UUID(int=2)
HEARTBEAT_MS = "100"


@pytest.fixture(scope="session")
def broker_settings():
    """Groups whose members send heartbeats often."""
    return {
        "offsets.topic.num.partitions": "1",
        "group.consumer.min.heartbeat.interval.ms": HEARTBEAT_MS,
        "group.consumer.heartbeat.interval.ms": HEARTBEAT_MS,
    }


@pytest.fixture
def topics():
    """Two topic ids."""
    return TOPIC, OTHER


@pytest.fixture
def some():
    """``some(*numbers)``: partitions of one topic."""
    return lambda *numbers: {TOPIC: frozenset(numbers)} if numbers else {}


@pytest.fixture
def member(some):
    """``member(*numbers, epoch=5, state=STABLE, pending=())``: a member with these partitions."""

    def make(*numbers, epoch=5, state=MemberState.STABLE, pending=()):
        return ConsumerGroupMember(
            "m",
            member_epoch=epoch,
            previous_member_epoch=epoch - 1,
            state=state,
            assigned=some(*numbers),
            pending_revocation=some(*pending),
        )

    return make


@pytest.fixture
def owners():
    """``owners(*numbers)``: the function that gives the epoch of a partition's owner; these partitions have one.

    It is in epoch 0, which is an epoch like any other.
    """
    return lambda *numbers: lambda _topic, number: 0 if number in numbers else NO_EPOCH


@pytest.fixture
def error_of():
    """``error_of(work)``: the protocol error that it raises, or None."""

    def of(work):
        try:
            work()
        except ApiError as error:
            return error.error
        return None

    return of
