"""How fast the time of a live cluster passes."""

from __future__ import annotations

import pytest

from kafka_learn.live.pace import LONGEST_TURN_S, STEP_S, Pace


def test_time_passes_at_the_chosen_speed() -> None:
    pace = Pace()
    assert pace.due_s(0.02) == 0.02
    pace.set_speed(0.5)
    assert pace.due_s(0.02) == 0.01
    with pytest.raises(ValueError, match="3 is not among"):
        pace.set_speed(3)


def test_a_machine_that_cannot_keep_up_has_a_slower_world() -> None:
    assert Pace().due_s(30) == LONGEST_TURN_S


def test_a_pause_ends_with_resume_and_each_step_lets_a_little_time_pass() -> None:
    pace = Pace()
    pace.pause()
    assert pace.due_s(1) == 0
    pace.step()
    pace.step()
    assert pace.due_s(1) == 2 * STEP_S
    assert pace.due_s(1) == 0
    pace.resume()
    assert pace.due_s(0.05) == 0.05
    pace.step()  # stops the time, too
    assert pace.due_s(0.05) == STEP_S
    assert pace.is_paused


def test_time_hurries_to_the_state_of_a_link_and_stops_there() -> None:
    pace = Pace()
    pace.hurry(0.25)
    assert pace.is_hurrying(0.0)
    assert [pace.due_s(0.001, now_s) for now_s in (0.0, 0.1)] == [LONGEST_TURN_S, LONGEST_TURN_S]
    assert not pace.is_paused
    assert pace.due_s(0.001, 0.2) == pytest.approx(0.05)
    assert pace.is_paused
    assert not pace.is_hurrying(0.25)
    pace.resume()
    assert pace.due_s(0.001, 0.25) == 0.001


def test_a_reader_can_stop_the_time_on_its_way() -> None:
    pace = Pace()
    pace.hurry(5.0)
    pace.pause()
    assert pace.due_s(1.0, 1.0) == 0
    pace.resume()
    assert pace.due_s(0.001, 1.0) == LONGEST_TURN_S


@pytest.mark.parametrize("until_s", [9.3, 8.1, 8.2, 9.5, 17.0, 26.0, 0.05])
def test_time_stops_at_the_end_of_a_link_however_its_seconds_are_rounded(until_s: float) -> None:
    pace, now_ns = Pace(), 0
    pace.hurry(until_s)
    for _ in range(400):
        now_ns += round(pace.due_s(0.001, now_ns / 1e9) * 1e9)
    assert pace.is_paused
    assert now_ns == round(until_s * 1e9)
