"""The runs discussed in the chapter on the new consumer show what it says about them."""

from collections.abc import Callable

import pytest

from chapters.ch04_new_consumer.figures import consumer_figures, consumer_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.consumer import KafkaConsumer

pytestmark = pytest.mark.timeout(120)


def wire(run: RecordedRun) -> list[str]:
    """The requests in order."""
    things = (event.detail["thing"] for event in run if event.kind is Kind.PUT and event.what == "request")
    return [thing.split(" ")[0] for thing in things]


def changes(run: RecordedRun, what: str) -> list[tuple[object, object]]:
    """Before and after of each state change."""
    found = (event for event in run if event.kind is Kind.STATE and event.what == what)
    return [(event.detail["before"], event.detail["after"]) for event in found]


def results(run: RecordedRun, name: str) -> list[object]:
    """What the calls of a method returned or raised."""
    ends = (span.end for span in run.calls() if span.begin.what == name and span.end is not None)
    return [end.detail.get("result", end.detail.get("error")) for end in ends]


def notes(run: RecordedRun) -> list[str]:
    """What was remarked, by whom."""
    return [f"{event.who}: {event.what}" for event in run if event.kind is Kind.NOTE]


def test_the_first_poll_finds_the_coordinator_joins_looks_up_a_position_and_fetches():
    run = consumer_runs.first_poll()
    assert wire(run) == ["FIND_COORDINATOR", "JOIN_GROUP", "SYNC_GROUP", "OFFSET_FETCH", "LIST_OFFSETS", "FETCH"]
    assert changes(run, "position") == [(None, 0), (0, 3)]
    assert changes(run, "state") == [("UNJOINED", "REBALANCING"), ("REBALANCING", "STABLE")]
    assert "offsets 0–2" in results(run, "poll")


def test_a_poll_that_empties_the_buffer_sends_the_next_fetch_before_it_returns():
    run = consumer_runs.polls_in_a_row()
    assert changes(run, "position") == [(0, 3), (3, 5), (5, 8)]
    polls = [span for span in run.calls() if (span.begin.who, span.begin.what) == ("KafkaConsumer", "poll")]
    sent = [event for event in run if event.kind is Kind.PUT and event.what == "request"]
    within = [
        [number for number, span in enumerate(polls, 1) if span.begin.time_ns < event.time_ns <= span.end.time_ns]
        for event in sent
        if "FETCH" in event.detail["thing"]
    ]
    assert within == [[1], [2]], "poll 1 fetches for itself, poll 2 for poll 3; poll 3 has records left"


def test_the_last_response_of_a_join_completes_the_future_of_the_first_request():
    run = consumer_runs.futures_of_a_join()
    completed = [event.who for event in run if event.kind is Kind.CALL and event.what == "complete"]
    assert completed == [
        "1 JoinGroup response",
        "3 SyncGroup response",
        "4 by SyncGroupResponseHandler",
        "2 by JoinGroupResponseHandler",
    ]
    [chain] = [event for event in run if event.kind is Kind.CALL and event.what == "chain"]
    assert (chain.who, chain.detail) == ("4 by SyncGroupResponseHandler", {"to": "2 by JoinGroupResponseHandler"})


def test_the_heartbeat_thread_sends_heartbeats_while_the_user_processes():
    run = consumer_runs.heartbeats_beside_work()
    senders = {run.actors[event.thread] for event in run if "HEARTBEAT" in str(event.detail.get("thing", ""))}
    assert "HeartbeatThread" in senders
    assert "user" not in senders
    [work] = [span for span in run.calls() if span.begin.what == "work"]
    turns = [span for span in run.calls() if span.begin.what == "_send_heartbeat"]
    assert turns
    assert all(work.begin.time_ns < span.begin.time_ns < work.end.time_ns for span in turns)


def test_a_consumer_that_does_not_poll_leaves_and_may_not_commit():
    run = consumer_runs.work_for_too_long()
    [leave] = [event for event in run if event.kind is Kind.PUT and "LEAVE_GROUP" in str(event.detail.get("thing"))]
    assert run.actors[leave.thread] == "HeartbeatThread"
    assert results(run, "commit_sync") == ["CommitFailedError"]
    assert "OFFSET_COMMIT" not in wire(run), "it fails without a request"
    assert results(run, "poll") == ["offsets 0–2", "offsets 0–2"]


@pytest.mark.parametrize("busy", [False, True], ids=["a quiet machine", "a busy machine"])
def test_each_poll_commits_the_records_of_the_previous_one(busy: bool, monkeypatch: pytest.MonkeyPatch):
    if busy:
        monkeypatch.setattr(consumer_runs, "_forget_fetches", _slowly(consumer_runs._forget_fetches))
    run = consumer_runs.automatic_commits()
    assert wire(run) == ["OFFSET_COMMIT", "OFFSET_COMMIT"]
    assert changes(run, "position") == [(0, 3), (3, 6), (6, 8)]
    assert changes(run, "committed")[0] == (None, 3)


def _slowly(forget_fetches: Callable[[KafkaConsumer], None]) -> Callable[[KafkaConsumer], None]:
    """The set-up of a run as on a busy machine: it polls once more, when an interval for commits would be over."""

    def forget(consumer: KafkaConsumer) -> None:
        forget_fetches(consumer)
        SYSTEM_TIME.sleep(2 * consumer_runs.COMMIT_INTERVAL_MS)
        consumer.pause([consumer_runs.PARTITION])
        consumer.poll(0)
        forget_fetches(consumer)

    return forget


def test_a_synchronous_commit_is_retried_until_it_succeeds():
    run = consumer_runs.commit_repeated()
    assert wire(run) == ["OFFSET_COMMIT", "OFFSET_COMMIT"]
    assert changes(run, "committed") == [(None, 3)]


@pytest.mark.parametrize(
    ("name", "first", "second", "words"),
    [
        ("at_most_once", [1], [4, 5, 6], "lost"),
        ("at_least_once", [1, 2, 3, 4, 5, 6], [4, 5, 6], "twice"),
    ],
)
def test_a_crash_loses_or_repeats_records(name: str, first: list[int], second: list[int], words: str):
    run = getattr(consumer_runs, name)()
    assert notes(run) == [
        *(f"consumer 1: record {number}" for number in first),
        "consumer 1: dies",
        *(f"consumer 2: record {number}" for number in second),
        "consumer 2: ends",
    ]
    figure = consumer_figures.deliveries(run)
    assert figure.count(f">{words}<") == (2 if words == "lost" else 3)
    assert "committed: 3" in figure
    assert "已提交：3" in consumer_figures.deliveries(run, "zh")


def test_responses_to_heartbeats_change_the_state_of_the_member():
    rows = [[cell.strip("` ") for cell in row.strip("|").split("|")] for row in _table("en")]
    told = {row[0]: row[1:] for row in rows[2:]}
    assert told["REBALANCE_IN_PROGRESS"] == ["STABLE", "kept", "known", "joins"]
    assert told["ILLEGAL_GENERATION"] == ["UNJOINED", "kept", "known", "joins"]
    assert told["UNKNOWN_MEMBER_ID"] == ["UNJOINED", "forgotten", "known", "joins"]
    assert told["NOT_COORDINATOR"] == told["COORDINATOR_NOT_AVAILABLE"] == ["STABLE", "kept", "looked for", "–"]
    assert told["FENCED_INSTANCE_ID"][-1] == told["GROUP_AUTHORIZATION_FAILED"][-1] == "raises"


def _table(language: str) -> list[str]:
    return consumer_figures.heartbeat_responses(language).splitlines()


def test_results_and_offsets_in_one_transaction_are_exactly_once():
    run = consumer_runs.exactly_once_in_kafka()
    outputs = {event.what: event.detail["values"] for event in run if "values" in event.detail}
    assert outputs["read_committed"] == ["1", "2", "3", "4", "5", "6"]
    assert outputs["read_uncommitted"] == ["1", "2", "3", "4", "4", "5", "6"]
    assert notes(run)[:6] == [*(f"consumer 1: record {number}" for number in range(1, 6)), "consumer 1: dies"]
    assert [note for note in notes(run) if note.startswith("consumer 2: record")] == [
        f"consumer 2: record {number}" for number in (4, 5, 6)
    ]
    assert consumer_figures.results_once(run).count(">once<") >= 6
