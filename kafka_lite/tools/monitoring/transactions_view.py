"""The transactions of a cluster, for ``kafka-lite top --transactions``.

Kafka has no such tool; the requests are those of kafka-transactions.sh · book 10.3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from kafka_lite.protocol.messages.api_65_describe_transactions import TransactionState
from kafka_lite.tools.admin.command_config import NO_CONFIGS, new_admin_channel
from kafka_lite.tools.monitoring.fitting_table import Column, FittingTable
from kafka_lite.tools.transactions.transaction_service import describe_transactions, list_transactions

LINES_AROUND = 6
"""Lines of the screen other than transactions: headings, notes, empty lines."""
TIMEOUT_MS = 3000
NOT_OPEN = -1
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")
WARN_AT = 0.5
"""The part of its timeout after which an open transaction is shown in red."""


class TransactionRow(NamedTuple):
    """A transactional id and its coordinator."""

    coordinator_id: int
    state: TransactionState

    def open_ms(self, now_ms: int) -> int:
        """How long its transaction has been open, ms; -1 without one."""
        started_ms = self.state.transaction_start_time_ms
        is_open = started_ms >= 0 and self.state.transaction_state in OPEN_STATES
        return max(0, now_ms - started_ms) if is_open else NOT_OPEN


class TransactionsReader:
    """Asks all brokers for the transactional ids that they coordinate, and for their states."""

    def __init__(self, bootstrap_servers: str, configs: Mapping[str, object] = NO_CONFIGS) -> None:
        """``configs``: client properties."""
        self._servers = bootstrap_servers
        self._configs = {"request.timeout.ms": TIMEOUT_MS, **configs}

    def read(self) -> list[TransactionRow]:
        """One round of requests. Raises ConnectionError, or ToolError if a state is not known."""
        with new_admin_channel(self._servers, self._configs) as channel:
            listed = list_transactions(channel)
            return [TransactionRow(*each) for each in describe_transactions(channel, listed)]


COLUMNS = (
    Column("transactional id", "left", "cyan", is_name=True),
    Column("state", "left"),
    Column("open for"),
    Column("timeout", expendable=3),
    Column("producer id", expendable=2),
    Column("epoch", expendable=4),
    Column("coordinator", expendable=5),
    Column("partitions", "left", is_name=True, expendable=1),
)


def transactions_view(rows: Sequence[TransactionRow], now_ms: int, max_rows: int | None = None) -> RenderableType:
    """The table of transactions, longest open first. ``max_rows``: how many fit; the others are only counted."""
    ordered = sorted(rows, key=lambda row: (-row.open_ms(now_ms), row.state.transactional_id))
    shown = ordered[:max_rows]
    table = FittingTable(COLUMNS)
    for row in shown:
        _add(table, row, now_ms)
    left = len(ordered) - len(shown)
    return Group(_heading(ordered), table, Text(f"… and {left:,} more" if left else "", "dim"))


def _heading(rows: Sequence[TransactionRow]) -> Text:
    text = Text()
    text.append(f"{len(rows):,} transactional ids", "bold cyan")
    for state, count in sorted(Counter(row.state.transaction_state for row in rows).items()):
        text.append(f"  {state} ", "dim").append(f"{count:,}")
    return text


def _add(table: FittingTable, row: TransactionRow, now_ms: int) -> None:
    state, open_ms = row.state, row.open_ms(now_ms)
    is_late = open_ms > WARN_AT * state.transaction_timeout_ms
    table.add_row(
        state.transactional_id,
        state.transaction_state,
        Text("" if open_ms == NOT_OPEN else f"{open_ms / 1000:.1f} s", "bold red" if is_late else ""),
        f"{state.transaction_timeout_ms / 1000:g} s",
        str(state.producer_id),
        str(state.producer_epoch),
        str(row.coordinator_id),
        " ".join(f"{topic.topic}-{each}" for topic in state.topics for each in topic.partitions),
    )
