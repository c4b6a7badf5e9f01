"""Recorded runs of Streams show what chapter 9 says about them."""

from __future__ import annotations

from chapters.ch09_streams.figures import standby_runs, streams_runs, task_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun


def calls(run: RecordedRun) -> list[str]:
    """Each call that begins, ``who.what``."""
    return [f"{event.who}.{event.what}" for event in run if event.kind is Kind.CALL]


def test_a_record_is_processed_depth_first() -> None:
    run = streams_runs.record_through_topology()
    word = ["StreamTask._process", "words.process", "count.process", "store.get", "store.put", "changelog.log_change"]
    assert calls(run) == [
        "StreamTask._process", "lines.process", "split.process", "to-words.process", "to-words.process",
        "StreamTask.commit", *[*word, "counted.process", "StreamTask.commit"] * 2,
    ]  # fmt: skip
    records = [event.detail["record"] for event in run if event.who == "counted" and event.kind is Kind.CALL]
    assert records == ["to: 1", "be: 1"]


def test_the_next_record_is_of_the_queue_with_the_least_time() -> None:
    run = task_runs.next_record()
    processed = [event.detail["record"] for event in run if event.who == "source node" and event.kind is Kind.CALL]
    assert processed == ["orders 9", "orders 2", "prices 4", "orders 7"]
    times = [(event.who, event.detail["before"], event.detail["after"]) for event in run if event.kind is Kind.STATE]
    assert times == [("queue orders-0", -1, 2), ("queue prices-0", -1, 4), ("queue orders-0", 2, 7)]
    assert calls(run)[-3:] == ["StreamTask.commit", "StreamTask.flush_state", "StreamTask.commit_offsets"]


def test_a_value_that_moves_to_another_group_is_subtracted_and_added() -> None:
    run = streams_runs.repartition()
    records = [
        event.detail["record"] for event in run if event.who in ("to topic", "count") and event.kind is Kind.CALL
    ]
    assert records == ["Rome: (None<-Ann)", "Oslo: (Ann<-None)"] * 2
    puts = [event.detail["record"] for event in run if event.what == "put" and event.kind is Kind.CALL]
    assert puts == ["Ann: Oslo", "Rome: 1", "Oslo: 1"]


def test_a_task_moves_with_its_counts() -> None:
    run = streams_runs.task_moves()
    states = [(event.what, event.detail["after"]) for event in run if event.kind is Kind.STATE]
    assert {what for what, after in states if after == "closed"} == {"instance 1, task 0_1", "instance 1, task 1_0"}
    assert {what for what, after in states if after == "active"} == {"instance 2, task 0_1", "instance 2, task 1_0"}
    for instance in streams_runs.INSTANCES:
        changes = [after for what, after in states if what == instance]
        assert changes[-3:] == ["PARTITIONS_REVOKED", "ASSIGNING_PARTITIONS", "RUNNING"]
    (restored,) = (event for event in run if event.kind is Kind.PUT)
    assert (restored.what, restored.detail["says"]) == ("restore counts-changelog-0", "5 records")


def test_a_standby_that_has_followed_restores_nothing() -> None:
    run = standby_runs.standby_takes_over()
    arrows = [(event.what, event.detail["says"]) for event in run if event.kind is Kind.PUT]
    assert arrows == [("follow counts-changelog-0", "10 records"), ("restore counts-changelog-0", "0 records")]
    states = [(event.what, event.detail["after"]) for event in run if event.kind is Kind.STATE]
    of_task = [(what, after) for what, after in states if "task" in what]
    assert of_task == [
        ("instance 2, task 1_0", "closed"), ("instance 1, task 1_0", "handed over"), ("instance 1, task 1_0", "active"),
    ]  # fmt: skip
    (assigned,) = (event for event in run if event.kind is Kind.CALL and event.what == "assign")
    assert assigned.detail == {"tasks": "0_0 1_0", "standby": "–"}
