"""Sequence diagrams of recorded runs: complete, inside the canvas, and legible on every page."""

import dataclasses
import re
from xml.etree import ElementTree

from rich.console import Console

from kafka_learn.drawing.sequence_diagram import GUTTER, HEADING, LABEL, sequence_diagram
from kafka_learn.drawing.svg import text_width
from kafka_learn.drawing.time_line import time_line
from kafka_learn.recording.recorded_run import Kind, RecordedRun, thread_names
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
                    letters = float(element.get("font-size", HEADING))
                    size = text_width(element.text, letters)
                    x = float(element.get("x"))
                    left = x - size * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")]
                    assert left >= (GUTTER - 2 if letters == LABEL and not bold(element) else -1)
                    assert left + size <= width + 1, element.text


def test_a_diagram_may_be_drawn_twice():
    diagram = sequence_diagram(small_run())
    assert diagram.svg() == diagram.svg()
    bundle = diagram._repr_mimebundle_()
    assert bundle["image/svg+xml"] == diagram.svg()
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


def test_on_a_page_the_names_of_the_lanes_are_a_drawing_of_their_own_above_the_steps():
    figure = sequence_diagram(small_run(), lanes=LANES).playable()
    heads, body = ElementTree.fromstring(figure.heads), ElementTree.fromstring(figure.body)
    assert texts(figure.heads)[-2:] == [["Kafka", "Apis"][-1], "Log"]
    assert not [element for element in heads.iter() if element.get("data-step")]
    numbers = [element.get("data-step") for element in body.iter() if element.get("data-step")]
    assert numbers == [str(number) for number in range(len(figure.steps))]
    _, top, width, height = map(float, body.get("viewBox").split())
    assert (top, width) == (float(heads.get("viewBox").split()[3]) - 1, float(heads.get("viewBox").split()[2]))
    assert all(top < step.at < top + height for step in figure.steps)


def test_the_steps_to_play_are_those_of_the_figure_with_what_each_changes():
    diagram = sequence_diagram(small_run(), lanes=LANES)
    figure = diagram.playable()
    assert figure.lanes == list(LANES)
    assert [step.words for step in figure.steps] == diagram.in_words()
    assert [step.lanes for step in figure.steps][:2] == [[0, 1], [1, 2]]
    changes = {step.words.partition(" (")[0]: step.changes for step in figure.steps if step.changes}
    assert changes["Processor → RequestChannel: queue: PRODUCE v9"] == [("queue", "1")]
    assert changes["Log: append …0000.log: position 0, 89 bytes"] == [("…0000.log", "append: position 0, 89 bytes")]


def test_a_returning_call_has_the_line_that_called():
    events = tuple(
        dataclasses.replace(event, source=f"kafka_lite/log/log.py:{event.number}") if event.kind is Kind.CALL else event
        for event in small_run()
    )
    figure = sequence_diagram(dataclasses.replace(small_run(), events=events), lanes=LANES, returns="all").playable()
    sources = {step.words.partition(" (")[0]: step.source for step in figure.steps}
    assert sources["Log → KafkaApis: offsets 0–0"] == "kafka_lite/log/log.py:4"
    assert figure.sources() == {"kafka_lite/log/log.py"}
