"""Drawings of recorded runs show what the run contains, and are legible on every page."""

import dataclasses
import re
from xml.etree import ElementTree

import pytest
from rich.console import Console

from kafka_learn.drawing.sequence_diagram import GUTTER, LABEL, sequence_diagram
from kafka_learn.drawing.sequence_layout import StepKind, lay_out
from kafka_learn.drawing.svg import shorten, text_width
from kafka_learn.drawing.time_line import Axis, time_line
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun, thread_names
from tests.support.recorded_runs import small_run

SVG = "{http://www.w3.org/2000/svg}"
LANES = ("producer", "Processor", "RequestChannel", "KafkaRequestHandler", "KafkaApis", "Log")


def steps(layout):
    return [(step.kind.name, step.source, step.target, step.label) for step in layout.steps]


def texts(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def bold(element):
    return element.get("font-weight") == "bold"


def rendered(table):
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(table)
    return console.export_text()


# -- layout ----------------------------------------------------------------------------------------------------------


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


# -- sequence diagrams ------------------------------------------------------------------------------------------------


def test_a_sequence_diagram_is_well_formed_and_shows_every_step():
    diagram = sequence_diagram(small_run(), lanes=LANES)
    root = ElementTree.fromstring(diagram.svg())
    titles = [element.text for element in root.iter(f"{SVG}title")]
    for number, words in enumerate(diagram.in_words(), 1):
        assert f"{number}. {words}" in titles
    words = texts(diagram.svg())
    assert "Kafka Request Handler" in " ".join(words), "a long name is broken into several lines"
    assert {"producer", "Processor", "handle()", "append(89 bytes)", "request-handler"} <= set(words)
    assert root.get("role") == "img"
    assert (
        root.get("aria-label") == f"Sequence diagram: A small run. {len(diagram.in_words())} steps: {', '.join(LANES)}."
    )


def test_a_drawing_works_on_light_and_dark_pages_and_beside_others():
    for svg in (sequence_diagram(small_run()).svg(), time_line(small_run()).svg()):
        assert "black" not in svg
        assert "white" not in svg
        assert not re.search(r"\sid=|<style|\n\s*\n", svg)
        assert "currentColor" in svg
        assert "var(--md-default-bg-color" in svg


def test_nothing_is_drawn_outside_the_canvas():
    run = small_run()
    long = "a_method_with_a_name_that_is_" + "much_" * 15 + "longer_than_any_method_should_have"
    events = tuple(dataclasses.replace(event, what=long if event.what == "append" else event.what) for event in run)
    for given in (run, dataclasses.replace(run, events=events)):
        for lanes, by in ((LANES, "objects"), (("producer", "Log"), "objects"), ((), "objects"), ((), "threads")):
            root = ElementTree.fromstring(sequence_diagram(given, lanes=lanes, by=by).svg())
            width, height = map(float, root.get("viewBox").split()[2:])
            for element in root.iter():
                for name, limit in (
                    ("x", width),
                    ("x1", width),
                    ("x2", width),
                    ("y", height),
                    ("y1", height),
                    ("y2", height),
                ):
                    assert 0 <= float(element.get(name, 0)) <= limit
                if element.tag == f"{SVG}text":
                    size = text_width(element.text, float(element.get("font-size")))
                    x = float(element.get("x"))
                    left = x - size * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")]
                    assert left >= (
                        GUTTER - 2 if float(element.get("font-size")) == LABEL and not bold(element) else -1
                    )
                    assert left + size <= width + 1, element.text


def test_a_diagram_may_be_drawn_twice():
    diagram = sequence_diagram(small_run())
    assert diagram.svg() == diagram.svg()
    bundle = diagram._repr_mimebundle_()
    assert bundle["text/html"] == bundle["image/svg+xml"] == diagram.svg()
    assert bundle["text/plain"].startswith("1. producer → Processor: request: PRODUCE v9, acks=1 (producer, 0.00 ms)")


def test_words_are_translated_and_names_are_not():
    words = texts(sequence_diagram(small_run(), language="zh").svg())
    assert "追加 …0000.log: 位置 0, 89 字节" in words
    assert "请求: PRODUCE v9, acks=1" in words
    assert "时序图" in sequence_diagram(small_run(), language="zh").alt


def test_a_long_pause_between_steps_is_marked():
    assert not any(word.startswith("⋯") for word in texts(sequence_diagram(small_run()).svg()))
    assert "⋯ 2 ms" in texts(sequence_diagram(small_run(delay_ns=2_000_000)).svg())


def test_the_terminal_shows_the_steps_as_a_table():
    text = rendered(sequence_diagram(small_run(), lanes=LANES).to_rich())
    assert re.search(r"5 +0.00 +KafkaApis ─▶ Log +append\(89 bytes\)", text)
    assert re.search(r"1 +0.00 +producer ┄▶ Processor +request: PRODUCE v9", text)


def test_an_empty_run_gives_an_empty_drawing():
    assert texts(sequence_diagram(RecordedRun(())).svg()) == ["ms"]
    assert ElementTree.fromstring(time_line(RecordedRun(())).svg()) is not None


def test_threads_get_short_names():
    names = thread_names(["kafka-network-thread-0-PLAINTEXT-1", "kafka-network-thread-0-PLAINTEXT-2", "MainThread"])
    assert list(names.values()) == ["network-thread-PLAINTEXT 1", "network-thread-PLAINTEXT 2", "main"]


def test_words_are_shortened_to_fit():
    assert shorten("append_records", 200) == "append_records"
    assert shorten("append_records", 60).endswith("…")
    assert text_width(shorten("追加记录到日志", 60)) <= 60


# -- time lines --------------------------------------------------------------------------------------------------------


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
