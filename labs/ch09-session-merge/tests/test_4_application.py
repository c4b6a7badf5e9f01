"""Task 4: applications count sessions on a real broker, with your code."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.session_windows import SessionWindows

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}


@pytest.fixture
def sessions(broker, counting, tmp_path):
    """``sessions("name", times, so_many)``: start, publish, return the sessions that are left, stop."""
    created = set()

    def run(name, times, so_many):
        if name not in created:
            created.add(name)
            create_topic(broker, f"{name}-in")
            create_topic(broker, f"{name}-out")
        builder = counting(SessionWindows.with_gap(5), f"{name}-in", f"{name}-out")
        with Application(broker, builder, tmp_path, f"sessions-{name}", **SERDES) as application:
            publish(
                broker, 0, len(times), lambda n: {"key": "a", "value": "x", "timestamp": times[n]}, topic=f"{name}-in"
            )
            table = dict(application.output(f"{name}-out", so_many))
        return {key.decode(): int(count) for key, count in table.items() if count != b"None"}

    return run


@pytest.mark.points(5, task=4)
def test_one_long_session(sessions):
    """Fifty records, each near the one before"""
    found = sessions("long", range(1000, 1250, 5), 99)
    assert found == {"a[1000,1245]": 50}, f"one session is left; yours: {found}"


@pytest.mark.points(5, task=4)
def test_a_late_record(sessions):
    """It merges two of three sessions"""
    found = sessions("late", [1000, 1003, 1009, 1020, 1006], 8)
    assert found == {"a[1000,1009]": 4, "a[1020,1020]": 1}, f"1006 merges two sessions; yours: {found}"


@pytest.mark.points(5, task=4)
def test_a_restart(sessions):
    """The restored store has the sessions that are left, and no others"""
    assert sessions("restart", [1000, 1003, 1010], 4) == {"a[1000,1003]": 2, "a[1010,1010]": 1}
    found = sessions("restart", [1006], 7)
    assert found == {"a[1000,1010]": 4}, f"after a restart, 1006 merges what was there before; yours: {found}"
