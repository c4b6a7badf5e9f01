"""Time lines: a lane for each thread and queue, the phases of a request, and an axis with gaps."""

import dataclasses
from xml.etree import ElementTree

import pytest
from rich.console import Console

from kafka_learn.drawing.time_line import WIDTH, Axis, time_line
from kafka_learn.recording.recorded_run import Event, Kind
from tests.support.recorded_runs import small_run

SVG = "{http://www.w3.org/2000/svg}"


def rendered(table):
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(table)
    return console.export_text()


def test_a_time_line_has_a_lane_for_each_thread_and_queue():
    lanes = {lane.label: lane.spans for lane in time_line(small_run()).lanes}
    assert list(lanes) == ["producer", "network-thread-PLAINTEXT", "request-handler", "queue"]
    assert [(span.label, span.depth) for span in lanes["request-handler"]] == [
        ("PRODUCE v9", 0),
        ("KafkaApis.handle", 1),
        ("Log.append", 2),
        ("Log.check", 3),
    ]
    [waiting] = lanes["queue"]
    assert (waiting.start_ns, waiting.end_ns, waiting.hollow) == (200, 300, True)
    assert [lane.label for lane in time_line(small_run(), threads=["producer"], hide=["RequestChannel"]).lanes] == [
        "producer"
    ]


def test_the_phases_of_a_request_are_contiguous_and_end_with_it():
    run = small_run()
    phases = {"request_queue_ms": 0.0002, "local_ms": 0.0005, "remote_ms": 0, "total_ms": 0.0007}
    done = Event(1200, "producer", Kind.PHASES, "RequestChannel", "PRODUCE v9", detail=phases)
    lane = time_line(dataclasses.replace(run, events=(*run.events, done))).lanes[0]
    assert [(span.label, span.start_ns, span.end_ns) for span in lane.spans] == [
        ("request queue", 500, 700),
        ("local", 700, 1200),
    ]


def test_a_handler_that_returns_late_does_not_delay_the_phases_of_its_response():
    run = small_run()
    phases = {"request_queue_ms": 0.0002, "local_ms": 0.0009, "response_send_ms": 0.0003, "total_ms": 0.001}
    done = Event(1200, "producer", Kind.PHASES, "RequestChannel", "PRODUCE v9", detail=phases)
    lane = time_line(dataclasses.replace(run, events=(*run.events, done))).lanes[0]
    assert [(span.start_ns, span.end_ns) for span in lane.spans] == [(200, 400), (400, 900), (900, 1200)]


def test_the_axis_is_linear_except_for_long_gaps():
    axis = Axis([0, 100, 200, 300, 400], 400)
    assert [axis.x(time) for time in (0, 100, 150, 400)] == [0, 100, 150, 400]
    cut = Axis([0, 100, 200, 100_000, 100_100], 400)
    assert cut.breaks == [(200, 100_000)]
    places = [cut.x(time) for time in (0, 100, 200, 50_000, 100_000, 100_100)]
    assert places == sorted(places)
    assert places[-1] == pytest.approx(400)
    assert places[1] - places[0] == pytest.approx(places[-1] - places[-2])
    assert all(tick <= 200 or tick >= 100_000 for tick in cut.ticks(10))


def test_a_time_line_for_the_terminal():
    text = rendered(time_line(small_run()).to_rich())
    assert "█" in text
    assert "░" in text
    assert "Log.append" in text


def test_on_a_page_the_names_stay_left_and_the_spans_are_played_in_the_order_of_their_starts():
    diagram = time_line(small_run())
    figure = diagram.playable()
    heads, body = ElementTree.fromstring(figure.heads), ElementTree.fromstring(figure.body)
    assert [element.text for element in heads.iter(f"{SVG}text")] == figure.lanes
    left, _, width, height = map(float, body.get("viewBox").split())
    assert heads.get("viewBox") == f"0 0 {left:g} {height:g}"
    assert left + width == WIDTH
    assert sorted(step.words for step in figure.steps) == sorted(diagram.in_words())
    starts = [span.start_ns for _, span in diagram._in_order]
    assert starts == sorted(starts)
    assert figure.steps[0].words.startswith("producer: PRODUCE v9")
    places = [step.at for step in figure.steps]
    assert places == sorted(places)
    assert left <= places[0] < places[-1] == diagram._x(1200) <= WIDTH
    queue = [step.changes for step in figure.steps if ("queue", "1") in step.changes]
    assert len(queue) == 1
