"""Recorded runs of Connect show what the section on its tasks says about them."""

from __future__ import annotations

from chapters.ch08_pipelines.figures import connect_runs
from kafka_learn.recording.recorded_run import Kind


def test_a_flush_stores_what_was_acknowledged_and_leaves_what_was_sent_meanwhile_to_the_next_one() -> None:
    run = connect_runs.flush_beside_sends()
    begins = [event.what for event in run if event.kind is Kind.CALL]
    assert begins.index("begin_flush") < begins.index("do_flush") < begins.index("commit")
    assert begins[begins.index("begin_flush") :].index("send") < begins[begins.index("begin_flush") :].index("do_flush")
    assert [event.detail for event in run if event.kind is Kind.CALL and event.what == "set"] == [
        {"offsets": '{"line":2}'}
    ]
    sets = {name: [event.detail["after"] for event in run if event.what == name] for name in ("outstanding", "backlog")}
    assert sets == {"outstanding": ["1", "1 2", "2", "–", "3"], "backlog": ["3", "–"]}
