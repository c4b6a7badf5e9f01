"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.server.share.in_flight_batch import InFlightBatch
from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState

LOCK_MS = "1000"


@pytest.fixture(scope="session")
def broker_settings():
    """Share groups with short locks, in which a record is delivered at most twice."""
    return {
        "group.share.enable": "true",
        "group.share.delivery.count.limit": "2",
        "group.share.min.record.lock.duration.ms": LOCK_MS,
        "group.share.record.lock.duration.ms": LOCK_MS,
        "share.coordinator.state.topic.num.partitions": "1",
        "offsets.topic.num.partitions": "1",
    }


class Lock:
    """A lock that counts what it holds."""

    def __init__(self):
        self.held = 0
        self.is_expired = False

    def held_by(self, states):
        self.held += states


@pytest.fixture
def lock():
    return Lock()


@pytest.fixture
def other_lock():
    return Lock()


@pytest.fixture
def acquired(lock):
    """``acquired(deliveries=1, lock=lock)``: the state of a record that the member a has."""
    return lambda deliveries=1, lock=lock: InFlightState(RecordState.ACQUIRED, deliveries, "a", lock)


@pytest.fixture
def in_flight():
    """``in_flight(*(first, last, state))``: these batches of records."""

    def make(*batches):
        records = InFlightRecords(batches[0][0])
        for first, last, state in batches:
            records.batches.add(InFlightBatch(first, last, state))
            records.end_offset = last
        return records

    return make


@pytest.fixture
def seen():
    """``seen(state)``: state, deliveries and member, as ``ACQUIRED:2:a``."""
    return lambda state: f"{state.state.name}:{state.delivery_count}:{state.member_id}"
