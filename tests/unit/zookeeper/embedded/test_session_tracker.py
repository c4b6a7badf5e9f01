"""Session expiration under a mock clock."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.embedded.session_tracker import SessionTracker, first_session_id, session_password

TICK_MS = 2000


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def tracker(time: MockTime) -> SessionTracker:
    return SessionTracker(time, TICK_MS)


def test_a_session_expires_within_one_tick_after_its_timeout(time: MockTime, tracker: SessionTracker) -> None:
    time.sleep(700)
    session = tracker.create_session(5000)
    time.sleep(5000)
    assert tracker.expired_sessions() == []
    time.sleep(TICK_MS)
    assert tracker.expired_sessions() == [session]


def test_touching_a_session_extends_it(time: MockTime, tracker: SessionTracker) -> None:
    quiet, heard = tracker.create_session(4000), tracker.create_session(4000)
    for _ in range(10):
        time.sleep(2000)
        assert tracker.touch_session(heard)
    assert tracker.expired_sessions() == [quiet]


def test_a_removed_session_cannot_be_touched(tracker: SessionTracker) -> None:
    session = tracker.create_session(4000)
    tracker.remove_session(session)
    assert not tracker.is_tracking(session)
    assert not tracker.touch_session(session)
    assert tracker.ms_until_next_expiry() is None


def test_a_resumed_session_may_have_another_timeout(time: MockTime, tracker: SessionTracker) -> None:
    session = tracker.create_session(40_000)
    tracker.touch_session(session, 4000)
    time.sleep(4000 + TICK_MS)
    assert tracker.expired_sessions() == [session]


def test_restored_sessions_get_their_full_timeout(time: MockTime) -> None:
    time.sleep(1_000_000)
    tracker = SessionTracker(time, TICK_MS, {7: 4000, 8: 40_000})
    time.sleep(4000)
    assert tracker.expired_sessions() == []
    time.sleep(TICK_MS)
    assert tracker.expired_sessions() == [7]
    assert tracker.is_tracking(8)


def test_the_most_overdue_session_expires_first(time: MockTime, tracker: SessionTracker) -> None:
    late, early = tracker.create_session(20_000), tracker.create_session(4000)
    time.sleep(60_000)
    assert tracker.expired_sessions() == [early, late]


def test_ms_until_next_expiry(time: MockTime, tracker: SessionTracker) -> None:
    tracker.create_session(4000)
    assert tracker.ms_until_next_expiry() == 6000
    time.sleep(5500)
    assert tracker.ms_until_next_expiry() == 500
    time.sleep(1000)
    assert tracker.ms_until_next_expiry() == 0


def test_ids_are_unique_within_and_across_runs(time: MockTime) -> None:
    first = SessionTracker(time, TICK_MS)
    ids = {first.create_session(4000) for _ in range(100)}
    time.sleep(1)
    second = SessionTracker(time, TICK_MS, dict.fromkeys(ids, 4000))
    later = {second.create_session(4000) for _ in range(100)}
    assert len(ids | later) == 200
    assert all(0 < session < 1 << 56 for session in ids | later)


def test_ids_in_use_are_skipped_if_the_clock_went_back(time: MockTime) -> None:
    first = first_session_id(time.milliseconds())
    tracker = SessionTracker(time, TICK_MS, {first: 4000, first + 1: 4000})
    assert tracker.create_session(4000) == first + 2


def test_session_sets_are_the_expiry_buckets(time: MockTime, tracker: SessionTracker) -> None:
    a, b = tracker.create_session(4000), tracker.create_session(4000)
    c = tracker.create_session(10_000)
    assert tracker.session_sets() == {6000: [a, b], 12_000: [c]}


def test_passwords_match_those_of_java_util_random() -> None:
    # A real 3.8 server assigned this password to this session.
    assert session_password(0x10000380AB00000).hex() == "a2fffcbf879551fe50c08827a80a64f1"
    assert len({session_password(session) for session in range(1000)}) == 1000
    assert all(len(session_password(session)) == 16 for session in (0, 1, -1, 1 << 62))
