"""The output of ``make chaos``: the events as they happen, and a table at the end.

Not in Kafka.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from kafka_lite.testing.chaos.chaos_cluster import ChaosBroker
from kafka_lite.testing.chaos.chaos_run import ChaosRun, Result
from kafka_lite.testing.chaos.faults import Kind
from kafka_lite.testing.history.history import History
from kafka_lite.testing.history.transactions import Outcome


class ChaosView:
    """Prints each event with its time, keeps them in a file, and draws the state of the run for a terminal."""

    def __init__(self, console: Console, log_file: Path) -> None:
        self.run: ChaosRun | None = None
        self._console = console
        self._file = log_file
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def report(self, text: str) -> None:
        """Something has happened."""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        line = f"{minutes:3}:{seconds:02} {text}"
        with self._lock:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            self._console.print(escape(line), highlight=False, soft_wrap=True)

    def render(self) -> RenderableType:
        """Brokers, faults in progress and counts, below the events."""
        run = self.run
        if run is None:
            return Text()
        brokers = Text("  ").join(_broker(broker) for broker in run.cluster.brokers)
        current = "; ".join(list(run.current.values())) or "none"
        found = len(run.result.violations)
        return Group(
            brokers,
            Text(f"faults: {current}  ({run.result.faults.total()} so far)", "yellow"),
            Text(run.result.history.summary(), "cyan"),
            Text(f"violations: {found}", "bold red" if found else "green"),
        )


def _broker(broker: ChaosBroker) -> Text:
    if broker.is_paused:
        return Text(f"broker {broker.id} paused", "yellow")
    return Text(f"broker {broker.id} up", "green") if broker.is_running else Text(f"broker {broker.id} down", "red")


def result_table(result: Result) -> Table:
    """Faults by kind, and what was checked."""
    table = Table(title=f"Seed {result.seed}: {result.duration_s / 60:.1f} minutes", title_justify="left")
    table.add_column("what")
    table.add_column("number", justify="right")
    for kind in Kind:
        if result.faults[kind]:
            table.add_row(kind.value, f"{result.faults[kind]:,}")
    table.add_section()
    history = result.history
    for what, count in (
        ("faults", result.faults.total()),
        ("records sent", len(history.sent)),
        ("records acknowledged", len(history.acknowledged)),
        ("records consumed", len(history.polled)),
        ("commits", len(history.commits)),
        *_of_transactions(history),
        ("records checked", result.checked),
        ("clients of librdkafka that hung", len(result.replaced)),
    ):
        table.add_row(what, f"{count:,}")
    violations = len(result.violations)
    table.add_row("violations", str(violations), style="bold red" if violations else "bold green")
    return table


def _of_transactions(history: History) -> list[tuple[str, int]]:
    """How many transactions there were, by what their producers know of them."""
    counts = Counter(transaction.outcome for transaction in history.transactions)
    rows = [(f"transactions {outcome.value}", counts[outcome]) for outcome in Outcome]
    return [("initializations of transactional ids", len(history.initializations)), *rows] if counts else []
