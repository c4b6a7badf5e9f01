"""A replay sends its records on time, in turns that are acknowledged one after the other."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from pipeline.events import Event
from pipeline.replay import TURN_MS, Replay, ReplayThread
from pipeline.replay_plan import Fault, FaultMix, PlannedRecord, plan

MINUTE_MS = 60_000


class Sender:
    """Records what it is given, turn by turn; rejects an event with a certain key."""

    def __init__(self, refused_key: str = "") -> None:
        self.turns: list[list[str]] = [[]]
        self._refused_key = refused_key

    def send(self, event: Event) -> None:
        if event.key == self._refused_key:
            raise KafkaError("no leader")
        self.turns[-1].append(event.key)

    def flush(self) -> None:
        self.turns.append([])

    @property
    def sent(self) -> list[str]:
        return [key for turn in self.turns for key in turn]


def records(*minutes: int) -> list[PlannedRecord]:
    events = [Event("flights", str(minute), "{}", minute * MINUTE_MS, []) for minute in minutes]
    return plan(events, {"flights": 4}, FaultMix(), seed=0)


def run(replay: Replay, time: MockTime) -> list[float]:
    """Run a replay to its end; returns how long it paused after each turn, ms."""
    pauses = []
    while not replay.status.is_done:
        pauses.append(replay.turn())
        time.sleep(pauses[-1])
    return pauses


def test_a_record_is_not_sent_before_its_time() -> None:
    time, sender = MockTime(), Sender()
    replay = Replay(records(0, 1, 3), sender, speed=60.0, time=time)  # a minute in a second
    assert replay.turn() == 200  # the longest pause
    assert sender.sent == ["0"]
    time.sleep(999)
    assert replay.turn() == pytest.approx(1)
    assert sender.sent == ["0"]
    time.sleep(1)
    replay.turn()
    assert sender.sent == ["0", "1"]
    time.sleep(2000)
    assert replay.turn() == 0
    assert sender.sent == ["0", "1", "3"]
    assert replay.status.is_done


def test_a_replay_takes_as_long_as_its_events_divided_by_the_speed() -> None:
    for speed, expected_ms in ((1.0, 600_000), (1440.0, 600_000 / 1440)):
        time = MockTime()
        assert sum(run(Replay(records(0, 4, 10), Sender(), speed, time=time), time)) == pytest.approx(expected_ms)


def test_after_a_stall_the_backlog_is_sent_in_turns_of_ten_minutes_of_events() -> None:
    time, sender = MockTime(), Sender()
    replay = Replay(records(*range(0, 60, 2)), sender, speed=1440.0, time=time)
    replay.turn()
    time.sleep(1_000_000)
    run(replay, time)
    for turn in sender.turns:
        assert not turn or (int(turn[-1]) - int(turn[0])) * MINUTE_MS <= TURN_MS
    assert sender.sent == [str(minute) for minute in range(0, 60, 2)]


def test_a_resumed_replay_sends_the_rest_and_counts_what_was_sent() -> None:
    everything = plan(
        [Event("flights", str(minute), "{}", minute * MINUTE_MS, []) for minute in range(20)],
        {"flights": 4}, FaultMix(late=0.2, duplicates=0.1), seed=5,
    )  # fmt: skip
    time, sender = MockTime(), Sender()
    replay = Replay(everything[15:], sender, speed=1440.0, sent=everything[:15], time=time)
    assert (replay.status.sent, replay.status.total) == (15, 22)
    assert replay.status.clock_ms == everything[15].due_ms
    run(replay, time)
    assert sender.sent == [record.event.key for record in everything[15:]]
    assert (replay.status.sent, replay.status.is_done) == (22, True)
    assert replay.status.faults == {Fault.LATE: 4, Fault.DUPLICATE: 2, Fault.GARBAGE: 0}


def test_an_empty_replay_is_done_at_once() -> None:
    assert Replay([], Sender(), speed=1.0).status.is_done


def test_the_clock_waits_for_overdue_records() -> None:
    time = MockTime()
    replay = Replay(records(0, 1, 30, 31), Sender(), speed=1440.0, time=time)
    time.sleep(0)
    replay.turn()
    time.sleep(1_000_000)
    replay.turn()
    assert replay.status.clock_ms == 30 * MINUTE_MS  # sent up to minute 1: a turn spans ten minutes


def test_a_thread_runs_a_replay_to_its_end() -> None:
    sender = Sender()
    thread = ReplayThread(Replay(records(0, 1, 2), sender, speed=20_000.0))
    thread.start()
    thread.join()
    assert sender.sent == ["0", "1", "2"]
    assert thread.status.is_done
    assert thread.status.failure is None


def test_a_rejected_record_ends_the_thread_with_the_reason() -> None:
    thread = ReplayThread(Replay(records(0, 1, 2), Sender(refused_key="1"), speed=20_000.0))
    thread.start()
    thread.join()
    assert thread.status.failure == "no leader"
    assert not thread.status.is_done
