"""Helpers that the tests of this lab share."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import MemberMetadata


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def group():
    """A group without members."""
    return GroupMetadata("group", MockTime(start_ms=5000))


@pytest.fixture
def member():
    """``member("a", "range roundrobin", instance="i")``: a member that supports these protocols."""

    def make(member_id, protocols="range", instance=None):
        said = [(name, b"") for name in protocols.split()]
        return MemberMetadata(member_id, instance, "client", "/host", 60_000, 10_000, "consumer", said)

    return make


@pytest.fixture
def join(group, member):
    """``join("a", …)``: a member whose JoinGroup waits."""

    def add(member_id, *args, **options):
        joined = member(member_id, *args, **options)
        group.add(joined, lambda _response: None)
        return joined

    return add


@pytest.fixture
def error_of():
    """``error_of(work)``: the name of the protocol error that it raises, or None."""

    def of(work):
        try:
            work()
        except ApiError as error:
            return error.error.name
        return None

    return of
