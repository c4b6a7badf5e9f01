"""Histories of several clients, each in a file, are read as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.testing.chaos.history_files import HistoryFile, HistoryWriter
from kafka_lite.testing.history.checker import check
from kafka_lite.testing.history.history import Commit, CommittedRead, History, Place, Polled, Sent
from kafka_lite.testing.history.transactions import Outcome


def test_every_event_is_read_as_it_was_written(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path / "client.jsonl")
    first, second = writer.send("p", "t", 0, "p-0", "key"), writer.send("p", "t", 1, "p-1")
    writer.acknowledge(first, 7)
    writer.fail(second, "timeout")
    writer.poll("c", 1, "t", 0, 7, "p-0")
    writer.assign("g", 3, "member", [("t", 0), ("t", 1)])
    commits = writer.begin_commit("g", {("t", 0): 8, ("t", 1): 1})
    writer.end_commit(commits)
    began = writer.now()
    writer.read_committed("g", "t", 0, 8, began)

    history = History()
    file = HistoryFile(tmp_path / "client.jsonl", history)
    file.read()
    assert history.sent == [Sent("p", "t", 0, "p-0", "key"), Sent("p", "t", 1, "p-1")]
    assert history.acknowledged == [(history.sent[0], Place("t", 0, 7))]
    assert history.failed == [(history.sent[1], "timeout")]
    (polled,) = history.polled
    assert polled == Polled("c", 1, Place("t", 0, 7), "p-0", polled.moment)
    assert 0 < polled.moment < began
    assert [(given.member, given.partition, given.generation) for given in history.assignments] == [
        ("member", 0, 3), ("member", 1, 3),
    ]  # fmt: skip
    ended = history.commits[0].ended
    assert ended is not None
    assert commits[0].began < ended < began
    assert history.commits == [Commit("g", "t", n, o, commits[0].began, ended) for n, o in ((0, 8), (1, 1))]
    (read,) = history.committed_reads
    assert read == CommittedRead("g", "t", 0, 8, began, read.ended)
    assert read.ended > began
    assert file.progress == 2


def test_transactions_are_read_as_they_were_written(tmp_path: Path) -> None:
    writer = HistoryWriter(tmp_path / "client.jsonl")
    initialization = writer.begin_initialization("id", "p.0")
    writer.end_initialization(initialization)
    committed, aborted = (writer.begin_transaction(initialization, f"p.0-{number}") for number in (0, 1))
    sent = writer.send_in(committed, "t", 0, "p.0-0-0", "key")
    writer.acknowledge(sent, 3)
    writer.begin_to_commit(committed)
    writer.end_transaction(committed, Outcome.COMMITTED)
    writer.end_transaction(aborted, Outcome.ABORTED)

    history = History()
    HistoryFile(tmp_path / "client.jsonl", history).read()
    (read,) = history.initializations
    assert (read.transactional_id, read.producer, read.began) == ("id", "p.0", initialization.began)
    assert history.idempotent == {"p.0"}
    first, second = history.transactions
    assert (first.name, first.values, first.outcome) == ("p.0-0", ["p.0-0-0"], Outcome.COMMITTED)
    assert read.ended is not None
    assert first.commit_began is not None
    assert read.began < read.ended < first.commit_began
    assert (second.name, second.values, second.outcome) == ("p.0-1", [], Outcome.ABORTED)
    assert second.commit_began is None
    assert history.acknowledged == [(Sent("p.0", "t", 0, "p.0-0-0", "key"), Place("t", 0, 3))]


def test_a_line_that_is_still_being_written_is_read_later(tmp_path: Path) -> None:
    path, history = tmp_path / "client.jsonl", History()
    file = HistoryFile(path, history)
    file.read()  # there is no file yet
    path.write_text('["send", "p", "t", 0, "p-0", null]\n["acknow')
    file.read()
    assert (len(history.sent), len(history.acknowledged)) == (1, 0)
    with path.open("a") as end:
        end.write('ledge", "p-0", 0]\n')
    file.read()
    assert (len(history.sent), len(history.acknowledged)) == (1, 1)


def test_a_commit_of_one_client_that_another_one_does_not_find_is_lost(tmp_path: Path) -> None:
    first, second = (HistoryWriter(tmp_path / f"{name}.jsonl") for name in ("first", "second"))
    first.end_commit(first.begin_commit("g", {("t", 0): 5}))
    second.read_committed("g", "t", 0, None, second.now())
    first.read_committed("g", "t", 0, 5, first.now())
    history = History()
    for name in ("second", "first"):  # in any order: the times of their events tell which came first
        HistoryFile(tmp_path / f"{name}.jsonl", history).read()
    assert [str(violation) for violation in check(history)] == ["lost commit: g has None for t-0; possible are [5]"]


def test_an_unknown_event_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "client.jsonl"
    path.write_text('["vanish"]\n')
    with pytest.raises(ValueError, match="unknown event 'vanish'"):
        HistoryFile(path, History()).read()
