"""What ``kafka-lite top --transactions`` shows."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kafka_lite.protocol.messages.api_65_describe_transactions import TopicData, TransactionState
from kafka_lite.tools.monitoring.transactions_view import TransactionRow, TransactionsReader, transactions_view
from tests.support.kafka_tools import our_tool

NOW_MS = 1_000_000


def row(name: str, state: str = "Ongoing", started_ms: int = -1) -> TransactionRow:
    topics = [TopicData(topic="flights", partitions=[0, 2])] if state == "Ongoing" else []
    return TransactionRow(
        1,
        TransactionState(
            transactional_id=name, transaction_state=state, transaction_timeout_ms=60_000,
            transaction_start_time_ms=started_ms, producer_id=4000, producer_epoch=7, topics=topics,
        ),
    )  # fmt: skip


def lines(rows: list[TransactionRow], max_rows: int | None = None) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=150, highlight=False).print(transactions_view(rows, NOW_MS, max_rows))
    return [" ".join(line.split()) for line in text.getvalue().splitlines() if line.strip("─ ")]


def test_the_transaction_that_is_open_for_the_longest_comes_first() -> None:
    rows = [
        row("done", "CompleteCommit", 1),
        row("young", started_ms=NOW_MS - 500),
        row("old", started_ms=NOW_MS - 9000),
    ]
    assert lines(rows) == [
        "3 transactional ids CompleteCommit 1 Ongoing 2",
        "transactional id state open for timeout producer id epoch coordinator partitions",
        "old Ongoing 9.0 s 60 s 4000 7 1 flights-0 flights-2",
        "young Ongoing 0.5 s 60 s 4000 7 1 flights-0 flights-2",
        "done CompleteCommit 60 s 4000 7 1",
    ]


def test_rows_that_do_not_fit_are_counted() -> None:
    assert lines([row(f"id-{number:02}", "Empty") for number in range(12)], max_rows=3)[-2:] == [
        "id-02 Empty 60 s 4000 7 1",
        "… and 9 more",
    ]


def test_a_pipe_gets_long_names_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransactionsReader, "read", lambda reader: [row("id" * 60)])
    seen = our_tool("top", "--transactions", "--once", "--bootstrap-server", "127.0.0.1:1")
    assert seen.code == 0
    (shown,) = [cells for cells in map(str.split, seen.output.splitlines()) if cells[:1] == ["id" * 60]]
    assert shown[-2:] == ["flights-0", "flights-2"]
