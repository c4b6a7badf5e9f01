"""What has happened to the reader's clients."""

from __future__ import annotations

from kafka_learn.live.clients.client_figures import ClientFigures


def test_records_are_counted_on_their_way() -> None:
    notes: list[str] = []
    figures = ClientFigures(notes.append)
    for value in ("record-1", "record-2", "record-3"):
        figures.sent(value)
    figures.acknowledged("record-1", 2, 17)
    figures.failed("record-2", "TimeoutError()")
    assert figures.as_json()["producer"] == {"sent": 3, "acknowledged": 1, "failed": 1}
    assert notes == ["producer: record-1 acknowledged, partition 2, offset 17", "record-2 failed: TimeoutError()"]


def test_a_consumer_has_partitions_and_a_last_record_until_it_ends() -> None:
    notes: list[str] = []
    figures = ClientFigures(notes.append)
    figures.assigned("consumer-1", [])
    figures.assigned("consumer-1", [0, 2])
    figures.assigned("consumer-1", [0, 2])
    figures.read("consumer-1", "record-1", 2, 17)
    row = {"partitions": [0, 2], "records": 1, "last": "record-1 at 2/17"}
    assert figures.as_json()["consumers"] == {"consumer-1": row}
    assert notes[0] == "consumer-1: has partitions 0, 2"
    assert len(notes) == 2
    figures.ended("consumer-1")
    figures.ended("consumer-1")
    assert figures.as_json()["consumers"] == {}
