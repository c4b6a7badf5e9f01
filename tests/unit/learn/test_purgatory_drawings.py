"""Wheels and purgatories are drawn as they are, and the recorded runs show what their pages say."""

import html
import re

import pytest

from chapters.ch06_storage.figures.purgatory_drawings import (
    NamedOperation,
    SteppedTimer,
    draw_wheels,
    left_behind_figure,
    purgatory_figure,
    way_down_figure,
    wheels_figure,
)
from chapters.ch06_storage.figures.purgatory_runs import RUNS
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.recorded_run import Kind


def texts(svg):
    """The words of a drawing, in order."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [html.unescape(text).replace("\xa0", " ") for text in found]


def where(state, due_ms):
    """(level, first millisecond of the bucket) of a task, or None."""
    for number, level in enumerate(state.levels, 1):
        for bucket in level:
            if due_ms in bucket.due_ms:
                return number, bucket.first_ms
    return None


def test_a_task_moves_down_the_levels_and_runs_at_its_time():
    stepped = SteppedTimer(start_ms=9)
    stepped.add(41)
    states = list(stepped.steps())
    assert [(state.time_ms, where(state, 41)) for state in states] == [
        (9, (3, 32)), (32, (2, 40)), (40, (1, 41)), (41, None),
    ]  # fmt: skip
    assert [state.armed_ms for state in states] == [(32,), (40,), (41,), ()]
    assert states[-1].ran == ("41",)


def test_the_bucket_of_the_current_tick_is_first_and_empty():
    stepped = SteppedTimer(start_ms=9)
    for due_ms in (10, 14, 41, 63):
        stepped.add(due_ms)
    for state in stepped.steps():
        for level in state.levels:
            assert level[0].first_ms <= state.time_ms <= level[0].last_ms
            assert level[0].due_ms == ()


def test_a_cancelled_task_leaves_its_bucket_and_the_bucket_stays_in_the_queue():
    stepped = SteppedTimer(start_ms=9)
    stepped.add(41).cancel()
    assert where(stepped.state(), 41) is None
    assert stepped.state().armed_ms == (32,)
    assert list(stepped.steps())[-1].ran == ()


def test_drawings_in_both_languages():
    words = texts(wheels_figure("en"))
    assert {"time 9", "level 3, tick 16", "[32–47]", "●41", "queue: 10, 12, 32"} <= set(words)
    assert "第 3 层，刻度 16" in texts(wheels_figure("zh"))
    assert texts(way_down_figure("en")).count("●41") == 3
    assert texts(purgatory_figure("en")).count("due 300") == 1
    left_behind = texts(left_behind_figure("en"))
    assert {"t-0: 1", "t-1: 2", "completed", "timer: 2"} <= set(left_behind)
    assert "due 300" not in left_behind


def test_a_drawing_has_a_text_alternative():
    stepped = SteppedTimer(start_ms=9)
    stepped.add(14)
    assert "14 in [12-15] of level 2" in draw_wheels(stepped.state()).svg()


def test_a_named_operation_records_its_history():
    operation = NamedOperation("fetch")
    assert not operation.safe_try_complete()
    operation.run()
    assert operation.history == ["tried", "completed", "expired"]
    assert repr(operation) == "fetch"


@pytest.fixture(scope="module")
def runs():
    return {name: record() for name, record in RUNS.items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_shows_all_its_lanes(runs, name):
    diagram = sequence_diagram(runs[name])
    busy = {lane for step in diagram.layout.steps for lane in (step.source, step.target)}
    assert set(runs[name].lanes) == set(diagram.layout.lanes) <= busy


def results(run, what):
    """The thread and the result of each call of a method."""
    return [
        (event.thread, event.detail.get("result")) for event in run if event.kind is Kind.RETURN and event.what == what
    ]


def test_the_followers_handler_completes_the_produce_request(runs):
    run = runs["produce-waits-for-a-follower"]
    [completing] = [event for event in run if event.kind is Kind.CALL and event.what == "on_complete"]
    assert completing.thread == "follower's handler"


def test_an_event_before_the_watch_is_seen_by_the_second_check(runs):
    run = runs["event-between-try-and-lists"]
    assert results(run, "check_and_complete") == [("event", 0)]
    assert results(run, "safe_try_complete") == [("request", False), ("request", True)]


def test_the_second_event_does_not_block_and_the_first_checks_again(runs):
    run = runs["note-for-the-one-who-checks"]
    assert results(run, "check_and_complete") == [("event 2", 0), ("event 1", 1)]
    assert results(run, "try_complete") == [("event 1", False), ("event 1", True)]


def test_an_expiring_operation_moves_down_two_wheels(runs):
    run = runs["operation-expires"]
    adds = [
        event.detail
        for event in run
        if event.kind is Kind.CALL and event.who == "TimingWheel" and "due" in event.detail
    ]
    assert [detail["tick"] for detail in adds] == [1, 20, 1, 1]
    assert [event.what for event in run if event.kind is Kind.CALL and event.who == "Operation"] == [
        "on_complete", "on_expiration",
    ]  # fmt: skip
