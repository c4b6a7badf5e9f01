"""The outcome of each test of a run, read from the log that pytest-reportlog writes.

A test has up to three phases: setup, call, teardown. It failed if one of them failed. If a worker of xdist dies, the
test that it was running has failed too; xdist may run it again in another worker, which changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CRASH = "crash"


@dataclass(frozen=True)
class Failure:
    """The first failed phase of a test: where it was raised, the exception's message, and the whole traceback."""

    phase: str
    where: str
    message: str
    traceback: str


@dataclass
class TestOutcome:
    """One test: ``passed``, ``failed``, ``skipped`` or ``xfailed``; the seconds of all its phases."""

    __test__ = False  # not for pytest to collect

    node_id: str
    outcome: str = "unfinished"
    seconds: float = 0.0
    crashes: int = 0
    failure: Failure | None = None

    def add(self, report: dict[str, Any]) -> None:
        """Add the report of one phase."""
        self.seconds += report["duration"]
        phase = CRASH if report["when"] == "???" else report["when"]
        self.crashes += phase == CRASH
        if report["outcome"] == "failed":
            self.outcome = "failed"
            self.failure = self.failure or _failure(phase, report)
        elif self.outcome != "failed":
            if report["outcome"] == "skipped":
                self.outcome = "xfailed" if "wasxfail" in report else "skipped"
            elif phase == "call":
                self.outcome = "passed"

    def to_json(self) -> dict[str, Any]:
        """The outcome as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TestOutcome:
        """The outcome that ``to_json`` wrote."""
        failure = Failure(**value["failure"]) if value["failure"] else None
        return cls(**{**value, "failure": failure})


def read_outcomes(log: Path) -> dict[str, TestOutcome]:
    """The outcomes in a report log, by node id, in the order in which the tests ended. Empty if there is no log."""
    outcomes: dict[str, TestOutcome] = {}
    for report in _reports(log):
        node_id = report["nodeid"]
        outcomes.setdefault(node_id, TestOutcome(node_id)).add(report)
    return outcomes


def _reports(log: Path) -> Iterator[dict[str, Any]]:
    if not log.exists():
        return
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                report = json.loads(line)
            except json.JSONDecodeError:  # pytest was killed while it wrote its last line
                return
            if report.get("$report_type") == "TestReport":
                yield report


def _failure(phase: str, report: dict[str, Any]) -> Failure:
    longrepr = report["longrepr"]
    if not isinstance(longrepr, dict):
        text = str(longrepr)
        return Failure(phase, "", text.splitlines()[-1] if text else "", text)
    crash = longrepr["reprcrash"] or {"path": "", "lineno": 0, "message": ""}
    traceback = "\n".join([*_traceback(longrepr), *_captured(report)])
    return Failure(phase, f"{crash['path']}:{crash['lineno']}", crash["message"], traceback)


def _traceback(longrepr: dict[str, Any]) -> Iterable[str]:
    for traceback, _crash, description in longrepr.get("chain") or [(longrepr["reprtraceback"], None, None)]:
        for entry in traceback["reprentries"]:
            yield from entry["data"]["lines"]
            if place := entry["data"].get("reprfileloc"):
                yield f"\n{place['path']}:{place['lineno']}: {place['message']}\n"
        if description:
            yield f"{description}\n"


def _captured(report: dict[str, Any]) -> Iterable[str]:
    for title, text in report["sections"]:
        yield f"-- {title} --\n{text}"
