"""The recorded runs of chapter 2.2 show what its pages say about them, whenever they are recorded."""

from __future__ import annotations

from chapters.ch02_producer.figures.old_producer_runs import (
    BACKOFF_MS,
    QUEUE_TIME_MS,
    REQUEST_TIMEOUT_MS,
    collated,
    late_response,
    leader_moved,
    queued,
)
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun


def calls(run: RecordedRun, what: str) -> list[Event]:
    return [event for event in run if event.kind is Kind.CALL and event.what == what]


def appended(run: RecordedRun) -> list[tuple[object, object]]:
    return [(event.detail["partition"], event.detail["values"]) for event in calls(run, "append_as_leader")]


def test_one_request_per_broker_one_after_the_other() -> None:
    run = collated()
    assert [event.detail for event in calls(run, "_send")] == [
        {"broker": 0, "sends": "demo-0: m0 m4; demo-2: m2"},
        {"broker": 1, "sends": "demo-1: m1 m5; demo-3: m3"},
    ]
    first, second = (span for span in run.calls() if span.begin.who == "SyncProducer")
    assert first.end is not None
    assert first.end.time_ns < second.begin.time_ns


def test_a_batch_ends_by_number_or_by_time() -> None:
    run = queued()
    hand_ons = calls(run, "_hand_on")
    assert [event.detail["reason"] for event in hand_ons] == ["batch full", "queue time reached"]
    assert hand_ons[1].time_ns - hand_ons[0].time_ns >= QUEUE_TIME_MS * 1e6
    assert appended(run) == [("demo-0", "m0 m1 m2"), ("demo-0", "m3")]


def test_only_failed_messages_go_to_the_new_leader_after_the_backoff() -> None:
    run = leader_moved()
    assert appended(run) == [("demo-0", "m0"), ("demo-1", "m1 m5")]
    sends = calls(run, "_send")
    assert [event.detail["broker"] for event in sends] == [0, 1]
    assert sends[1].time_ns - sends[0].time_ns >= BACKOFF_MS * 1e6


def test_a_late_response_costs_a_connection_and_causes_a_duplicate() -> None:
    run = late_response()
    assert appended(run) == [("demo-0", "m0")] * 2
    (failed,) = (event for event in run if event.detail.get("error") and event.who == "SyncProducer")
    assert failed.time_ns >= REQUEST_TIMEOUT_MS * 1e6
    assert sum(event.kind is Kind.PUT and event.what == "connection" for event in run) == 1
