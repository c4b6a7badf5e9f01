"""Recorded runs of Connect show what the section on its tasks says about them."""

from __future__ import annotations

import pytest

from chapters.ch08_pipelines.figures import connect_runs, worker_group_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun

ONE, TWO = worker_group_runs.WORKERS


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


def steps(run: RecordedRun) -> list[str]:
    """The records that are written, then the rebalances as the workers see them: who is first of the two is chance."""
    rows = [
        f"{event.who}: {event.what} {event.detail.get('work', '')}".strip() for event in run if event.kind is Kind.CALL
    ]
    writes = [f"{event.who} writes {event.what}" for event in run if event.kind is Kind.PUT]
    return [*writes, *rows]


def test_a_new_connector_makes_two_rebalances_each_of_which_stops_everything() -> None:
    run = worker_group_runs.new_connector()
    found = steps(run)
    assert found[:3] == [f"{ONE} writes {key}" for key in ("connector-lines", "task-lines-0", "commit-lines")]
    for worker, first, second in ((ONE, "lines", "lines"), (TWO, "–", "lines-0")):
        own = [row.removeprefix(f"{worker}: ") for row in found[3:] if row.startswith(worker)]
        assert own == ["on_revoked", f"on_assigned {first}", "on_revoked", f"on_assigned {second}"]


@pytest.mark.nightly  # a session of six seconds
def test_the_work_of_a_worker_that_dies_goes_to_the_other_one() -> None:
    run = worker_group_runs.worker_dies()
    assert steps(run) == [f"{ONE}: on_revoked", f"{ONE}: on_assigned lines, lines-0"]
