"""Recorded runs of transactions show what the section on transactions says about them."""

from __future__ import annotations

from chapters.ch10_advanced.figures import killed_runs, transaction_runs
from kafka_learn.recording.recorded_run import Kind, RecordedRun


def states(run: RecordedRun) -> list[str]:
    """The states of the transactional id, one after the other."""
    found = [event.detail for event in run if event.kind is Kind.STATE]
    return [found[0]["before"], *(each["after"] for each in found)]


def arrows(run: RecordedRun) -> list[tuple[str, str, str]]:
    """Sender, what it sends and what that says."""
    return [(event.who, event.what, event.detail.get("says", "")) for event in run if event.kind is Kind.PUT]


def test_a_transaction_over_two_brokers_is_decided_before_its_markers_are_written() -> None:
    run = transaction_runs.transaction()
    assert states(run) == ["Empty", "Ongoing", "PrepareCommit", "CompleteCommit"]
    sent = arrows(run)
    for partition, value in enumerate(("-100", "+100")):
        added, produced = ("producer", "AddPartitionsToTxn", f"demo-{partition}"), ("producer", "Produce", value)
        assert sent.index(added) < sent.index(produced)
    assert sent[-3:] == [("producer", "EndTxn", "commit")] + [("coordinator", "WriteTxnMarkers", "commit")] * 2


def test_a_transaction_that_timed_out_is_aborted_and_its_producer_fenced() -> None:
    run = transaction_runs.abort_after_timeout()
    assert states(run) == ["Empty", "Ongoing", "PrepareAbort", "CompleteAbort"]
    assert arrows(run)[-2:] == [("coordinator", "WriteTxnMarkers", "abort"), ("producer", "EndTxn", "commit")]
    assert [event.what for event in run if event.kind is Kind.NOTE][-1] == "the producer gets PRODUCER_FENCED"


def test_a_program_killed_at_any_step_and_started_again_writes_each_result_exactly_once() -> None:
    rows = {event.what: event.detail for event in killed_runs.killed_at_each_step() if event.kind is Kind.NOTE}
    assert list(rows) == list(killed_runs.STEPS)
    assert all(row["alive"][::2] == ["A B C", "3"] for row in rows.values())
    aborted = [step for step, row in rows.items() if row["alive"][1] == "A B C A B C"]
    assert aborted == [killed_runs.SENT, killed_runs.OFFSETS, killed_runs.LOST]
    visible = [step for step, row in rows.items() if row["dead"] == ["A B C", "A B C", "3"]]
    assert visible == [killed_runs.COMMITTED]
    nothing_but_records = [step for step, row in rows.items() if row["dead"] == ["–", "A B C", "–"]]
    assert nothing_but_records == [killed_runs.SENT, killed_runs.OFFSETS, killed_runs.LOST, killed_runs.DECIDED]


def test_the_coordinator_finishes_a_decided_transaction_of_a_killed_program() -> None:
    run = killed_runs.killed_after_the_decision()
    assert states(run) == ["Empty", "Ongoing", "PrepareCommit", "CompleteCommit", "Empty"]
    sent = arrows(run)
    assert [each for each in sent if each[1] == "WriteTxnMarkers"] == [("coordinator", "WriteTxnMarkers", "commit")] * 2
    assert [what for who, what, _ in sent if who == killed_runs.HEIR] == ["InitProducerId"]
