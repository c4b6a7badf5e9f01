"""The state of all connectors at a moment, as ``kafka-lite connect`` shows it · book 8.3.1"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kafka_lite.tools.connect.connect_rest import ConnectRestError

UNKNOWN = "?"
RUNNING, FAILED, PAUSED, STOPPED = "RUNNING", "FAILED", "PAUSED", "STOPPED"


class Asks(Protocol):
    """The part of ConnectRest that a snapshot needs."""

    url: str

    def version(self) -> str: ...  # noqa: D102
    def connectors(self) -> list[str]: ...  # noqa: D102
    def connector(self, name: str) -> dict[str, Any]: ...  # noqa: D102
    def status(self, name: str) -> dict[str, Any]: ...  # noqa: D102


@dataclass(frozen=True)
class Part:
    """A connector's own state, or that of a task."""

    state: str
    worker: str
    trace: str = ""
    """Of a failure."""

    @property
    def reason(self) -> str:
        """The failure in one line: the last of a Python traceback, the first of a Java one."""
        lines = [line for line in self.trace.splitlines() if line.strip()]
        if not lines:
            return ""
        line = (lines[-1] if lines[0].startswith("Traceback") else lines[0]).strip()
        return re.sub(r"^(?:\w+\.)+(?=\w+:)", "", line)  # the error without its package


@dataclass(frozen=True)
class ConnectorSnapshot:
    """A connector with its tasks."""

    name: str
    config: Mapping[str, str]
    connector: Part
    tasks: Mapping[int, Part]
    lag: int | None = None
    """Records that a sink has yet to read and commit; None if it is not known."""

    @property
    def kind(self) -> str:
        """``sink`` if it reads topics, or ``source``."""
        if not self.config:
            return UNKNOWN
        return "sink" if "topics" in self.config or "topics.regex" in self.config else "source"

    @property
    def class_name(self) -> str:
        """Without its package."""
        return self.config.get("connector.class", UNKNOWN).rpartition(".")[2]

    @property
    def state_of_tasks(self) -> str:
        """Such as ``2 RUNNING, 1 FAILED``."""
        counts = Counter(task.state for task in self.tasks.values())
        return ", ".join(f"{counts[state]} {state}" for state in sorted(counts, key=lambda each: each != FAILED))

    @property
    def workers(self) -> list[str]:
        """All workers that have a part of it."""
        parts = (self.connector, *self.tasks.values())
        return sorted({part.worker for part in parts if part.worker != UNKNOWN and part.state != "UNASSIGNED"})

    @property
    def failures(self) -> dict[str, Part]:
        """The parts that have failed: ``connector``, ``task 0``."""
        parts = {"connector": self.connector} | {f"task {number}": task for number, task in self.tasks.items()}
        return {name: part for name, part in parts.items() if part.state == FAILED}


@dataclass(frozen=True)
class ConnectSnapshot:
    """All that a worker knows."""

    url: str
    version: str
    connectors: tuple[ConnectorSnapshot, ...]

    @property
    def workers(self) -> dict[str, tuple[int, int]]:
        """Connectors and tasks that each worker runs; a worker without any is not known."""
        found: dict[str, list[int]] = {}
        for connector in self.connectors:
            for place, parts in enumerate(((connector.connector,), tuple(connector.tasks.values()))):
                for part in parts:
                    if part.worker != UNKNOWN and part.state != "UNASSIGNED":
                        found.setdefault(part.worker, [0, 0])[place] += 1
        return {worker: (counts[0], counts[1]) for worker, counts in sorted(found.items())}


Lags = Callable[[Sequence[str]], Mapping[str, int]]
"""Names of sinks -> their lags."""


def connect_snapshot(rest: Asks, lags: Lags | None = None) -> ConnectSnapshot:
    """Ask for all connectors, and the brokers for the lags of the sinks if ``lags`` can do so. Raises ToolError."""
    connectors = [connector_snapshot(rest, name) for name in rest.connectors()]
    sinks = [each.name for each in connectors if each.kind == "sink"]
    known = lags(sinks) if lags is not None and sinks else {}
    connectors = [replace(each, lag=known.get(each.name)) for each in connectors]
    return ConnectSnapshot(rest.url, rest.version(), tuple(connectors))


def connector_snapshot(rest: Asks, name: str) -> ConnectorSnapshot:
    """Ask for one connector. Its statuses are written later than its configuration, and a group of workers does not
    say the configuration while it rebalances: what is missing is unknown. Raises ToolError if there is no such
    connector."""
    config: Mapping[str, str] = {}
    status: Mapping[str, Any] = {}
    missing: ConnectRestError | None = None
    try:
        config = rest.connector(name)["config"]
    except ConnectRestError as error:
        if error.status not in (404, 409):
            raise
        missing = error
    try:
        status = rest.status(name)
    except ConnectRestError as error:
        if error.status != 404 or (missing is not None and missing.status == 404):
            raise missing or error from error
    tasks = {int(task["id"]): _part(task) for task in status.get("tasks", ())}
    return ConnectorSnapshot(name, config, _part(status.get("connector", {})), tasks)


def _part(json: Mapping[str, Any]) -> Part:
    return Part(json.get("state", UNKNOWN), json.get("worker_id", UNKNOWN), json.get("trace") or "")
