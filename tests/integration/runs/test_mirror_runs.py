"""The recorded run of MirrorMaker shows what its page says about it."""

from __future__ import annotations

from chapters.ch08_pipelines.figures.mirror_runs import flush_and_commit
from kafka_learn.recording.recorded_run import Kind


def test_records_are_acknowledged_before_their_offset_is_committed() -> None:
    run = flush_and_commit()
    steps = [event.what for event in run if event.kind is Kind.CALL]
    assert steps == [
        *("do_work", "receive", "send", "receive", "send", "receive"),
        *("do_work", "receive", "flush_and_commit", "flush", "__call__", "__call__", "commit"),
    ]
    (commit,) = (event for event in run if event.kind is Kind.CALL and event.what == "commit")
    assert commit.detail["demo-0"] == 2
    assert {event.thread for event in run if event.what == "__call__"}.isdisjoint({commit.thread})
