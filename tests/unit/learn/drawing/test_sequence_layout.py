"""Which lanes and steps a run becomes, before anything is drawn."""

import dataclasses
from xml.etree import ElementTree

import pytest

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.sequence_layout import StepKind, lay_out
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from tests.support.recorded_runs import small_run

SVG = "{http://www.w3.org/2000/svg}"


LANES = ("producer", "Processor", "RequestChannel", "KafkaRequestHandler", "KafkaApis", "Log")


def steps(layout):
    return [(step.kind.name, step.source, step.target, step.label) for step in layout.steps]


def texts(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_way_of_a_request_from_lane_to_lane():
    assert steps(lay_out(small_run(), lanes=LANES)) == [
        ("HAND_OVER", "producer", "Processor", "request: PRODUCE v9, acks=1"),
        ("HAND_OVER", "Processor", "RequestChannel", "queue: PRODUCE v9"),
        ("HAND_OVER", "RequestChannel", "KafkaRequestHandler", "queue: after 0 µs"),
        ("CALL", "KafkaRequestHandler", "KafkaApis", "handle()"),
        ("CALL", "KafkaApis", "Log", "append(89 bytes)"),
        ("CALL", "Log", "Log", "check()"),
        ("NOTE", None, "Log", "append …0000.log: position 0, 89 bytes"),
        ("RETURN", "Log", "KafkaApis", "offsets 0–0"),
        ("HAND_OVER", "KafkaApis", "producer", "response: ProduceResponse, frame_bytes=51"),
    ]


def test_without_lanes_all_objects_are_shown_in_order_of_appearance():
    assert lay_out(small_run()).lanes == list(LANES)


def test_a_run_may_suggest_lanes():
    run = dataclasses.replace(small_run(), lanes=("producer", "Log"), hide=("file",))
    layout = lay_out(run)
    assert layout.lanes == ["producer", "Log"]
    assert all(step.kind is not StepKind.NOTE for step in layout.steps)
    assert lay_out(run, lanes=["Log"]).lanes == ["Log"]


def test_the_calls_of_a_hidden_object_are_drawn_from_its_caller():
    run = small_run()
    without_apis = [lane for lane in LANES if lane != "KafkaApis"]
    assert ("CALL", "KafkaRequestHandler", "Log", "append(89 bytes)") in steps(lay_out(run, lanes=without_apis))
    hidden = steps(lay_out(run, lanes=LANES, hide=["KafkaApis.handle"]))
    assert ("CALL", "KafkaRequestHandler", "Log", "append(89 bytes)") in hidden
    assert ("CALL", None, "Log", "append(89 bytes)") in steps(lay_out(run, lanes=["Log"]))


def test_returns_are_shown_as_requested():
    run = small_run()

    def count(returns):
        return sum(step.kind is StepKind.RETURN for step in lay_out(run, lanes=LANES, returns=returns).steps)

    assert [count("none"), count("results"), count("all")] == [0, 1, 2]  # a loop never gets a return
    with pytest.raises(ValueError, match="returns=some: must be one of all, results, none"):
        lay_out(run, returns="some")


def test_threads_may_be_the_lanes():
    layout = lay_out(small_run(), by="threads")
    assert layout.lanes == ["producer", "network-thread-PLAINTEXT", "request-handler"]
    assert steps(layout) == [
        ("HAND_OVER", "producer", "network-thread-PLAINTEXT", "request: PRODUCE v9, acks=1"),
        ("HAND_OVER", "network-thread-PLAINTEXT", "request-handler", "queue: PRODUCE v9, after 0 µs"),
        ("CALL", "request-handler", "request-handler", "KafkaApis.handle()"),
        ("CALL", "request-handler", "request-handler", "Log.append(89 bytes)"),
        ("CALL", "request-handler", "request-handler", "Log.check()"),
        ("NOTE", None, "request-handler", "append …0000.log: position 0, 89 bytes"),
        ("HAND_OVER", "request-handler", "producer", "response: ProduceResponse, frame_bytes=51"),
    ]
    assert len(lay_out(small_run(), by="threads", hide=["Log"]).steps) == 5
    with pytest.raises(ValueError, match="by=cores: must be one of objects, threads"):
        lay_out(small_run(), by="cores")


def test_repeated_steps_are_counted_instead_of_repeated():
    rows = []
    for number in range(1, 5):
        rows.append(
            Event(10 * number, "main", Kind.CALL, "Log", "append", number, 0, "", {"records": f"{number} bytes"})
        )
        rows.append(Event(10 * number + 5, "main", Kind.RETURN, "Log", "append", number, 0))
    run = RecordedRun(tuple(rows), actors={"main": "main"})
    layout = lay_out(run)
    assert [(step.label, step.times) for step in layout.steps] == [("append(1 bytes)", 4)]
    assert "append(1 bytes) ×4" in texts(sequence_diagram(run).svg())


def test_bars_show_when_threads_work_and_items_wait():
    layout = lay_out(small_run(), lanes=LANES)
    bars = {(bar.lane, bar.waiting): (bar.first_row, bar.last_row) for bar in layout.bars if bar.slot == 0}
    assert bars["RequestChannel", "queue"] == (1, 2)
    assert bars["producer", ""] == (0, 8)
    assert bars["KafkaRequestHandler", ""][0] == 2
    first, last = bars["KafkaApis", ""]
    assert first == 3
    assert last > 7, "the call ends after its last step"
    assert {bar.slot for bar in layout.bars if bar.lane == "Log"} == {0, 1}, "append, and check beside it"
