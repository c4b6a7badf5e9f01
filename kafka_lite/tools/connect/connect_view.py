"""Draws connectors, tasks and workers with ``rich`` · book 8.3.1"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from kafka_lite.tools.connect.connect_snapshot import (
    FAILED,
    PAUSED,
    RUNNING,
    STOPPED,
    ConnectorSnapshot,
    ConnectSnapshot,
    Part,
)
from kafka_lite.tools.monitoring.fitting_table import Column, FittingTable

STYLES = {RUNNING: "green", FAILED: "bold red", PAUSED: "yellow", STOPPED: "yellow"}
CONNECTOR_COLUMNS = (
    Column("connector", "left", "cyan", is_name=True),
    Column("kind", "left", expendable=2),
    Column("class", "left", expendable=3),
    Column("state", "left"),
    Column("tasks", "left"),
    Column("workers", "left", expendable=1),
)
LAG_COLUMN = Column("lag")
TASK_COLUMNS = (Column("part", "left", "cyan"), Column("state", "left"), Column("worker", "left"))
WORKER_COLUMNS = (Column("worker", "left", "cyan"), Column("connectors"), Column("tasks"))
LINES_AROUND = 12
"""Lines of the screen other than connectors."""


def overview(snapshot: ConnectSnapshot, max_rows: int | None = None) -> RenderableType:
    """All connectors, the workers, and why something has failed. ``max_rows``: how many lines of connectors fit."""
    heading = Text.assemble(("Kafka Connect", "bold cyan"), (f" {snapshot.version} · {snapshot.url}", "dim"))
    if not snapshot.connectors:
        return Group(heading, Text("no connectors yet: kafka-lite connect create FILE", "dim"))
    shown = snapshot.connectors if max_rows is None else snapshot.connectors[:max_rows]
    with_lag = any(connector.lag is not None for connector in snapshot.connectors)
    table = FittingTable((*CONNECTOR_COLUMNS, LAG_COLUMN) if with_lag else CONNECTOR_COLUMNS)
    for connector in shown:
        lag = "" if connector.lag is None else f"{connector.lag:,}"
        table.add_row(
            connector.name, connector.kind, connector.class_name, _state(connector.connector.state),
            _states(connector.state_of_tasks), ", ".join(connector.workers), *([lag] if with_lag else []),
        )  # fmt: skip
    hidden = len(snapshot.connectors) - len(shown)
    more = [Text(f"… and {hidden} more", "dim")] if hidden else []
    return Group(heading, table, *more, _workers(snapshot), *_failures(snapshot.connectors))


def details(connector: ConnectorSnapshot, *, with_traces: bool) -> RenderableType:
    """One connector: its parts, its configuration, and its failures."""
    heading = Text.assemble((connector.name, "bold cyan"), (f" · {connector.kind} · {connector.class_name}", "dim"))
    parts = FittingTable(TASK_COLUMNS)
    named = {"connector": connector.connector} | {f"task {number}": task for number, task in connector.tasks.items()}
    for name, part in named.items():
        parts.add_row(name, _state(part.state), part.worker)
    config = FittingTable((Column("key", "left", "cyan"), Column("value", "left", is_name=True)))
    for key, value in sorted(connector.config.items()):
        config.add_row(key, value)
    failures = _traces(connector.failures.items()) if with_traces else _failures([connector])
    return Group(heading, parts, config, *failures)


def _workers(snapshot: ConnectSnapshot) -> RenderableType:
    table = FittingTable(WORKER_COLUMNS)
    for worker, (connectors, tasks) in snapshot.workers.items():
        table.add_row(worker, str(connectors), str(tasks))
    return table


def _failures(connectors: Iterable[ConnectorSnapshot]) -> list[RenderableType]:
    """One line each; the whole trace is for ``describe --trace``."""
    return [
        Text.assemble((f"{connector.name}, {name}: ", "bold red"), part.reason or "failed, and does not say why")
        for connector in connectors
        for name, part in connector.failures.items()
    ]


def _traces(failures: Iterable[tuple[str, Part]]) -> list[RenderableType]:
    return [Text.assemble((f"{name}\n", "bold red"), part.trace.rstrip()) for name, part in failures]


def _state(state: str) -> Text:
    return Text(state, STYLES.get(state, ""))


def _states(counts: str) -> Text:
    """``1 FAILED, 2 RUNNING``, each in its colour."""
    text = Text()
    for index, each in enumerate(filter(None, counts.split(", "))):
        text.append(", " if index else "").append(each, STYLES.get(each.rpartition(" ")[2], ""))
    return text
