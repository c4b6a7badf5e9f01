"""What a transactional producer says of itself."""

from __future__ import annotations

from kafka_learn.live.clients.transaction_figures import TransactionFigures


def test_records_are_those_of_the_last_transaction() -> None:
    notes: list[str] = []
    figures = TransactionFigures(notes.append)
    figures.transaction("open")
    figures.sent_in_transaction("transactional-1", 1, 7)
    figures.transaction("open")
    figures.sent_in_transaction("transactional-2", 2, 3)
    assert figures.as_json() == {"state": "open", "records": 2}
    figures.transaction("committed")
    assert figures.as_json() == {"state": "committed", "records": 2}
    figures.transaction("open")
    assert figures.as_json() == {"state": "open", "records": 0}
    assert notes[:2] == ["transaction: open", "transaction: transactional-1 is in the log, partition 1, offset 7"]


def test_a_producer_that_is_gone_has_no_state_and_a_failure_has_a_reason() -> None:
    notes: list[str] = []
    figures = TransactionFigures(notes.append)
    figures.transaction("failed", "ProducerFencedError()")
    assert notes == ["transaction: failed, ProducerFencedError()"]
    figures.ended()
    assert figures.as_json()["state"] == "no producer"
