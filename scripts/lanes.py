"""The result of a lane, which is one run of pytest with its second tries, and the summary of all lanes.

A lane is red if a test failed twice, if pytest did not finish, or if no test passed. Lanes are also red if three or
more of their tests were flaky.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.outcomes import Failure, TestOutcome

TOO_MANY_FLAKY = 3
WITHOUT_SECOND_TRY = f"; no second try, for {TOO_MANY_FLAKY} flaky tests would be red as well"
SLOWEST = 20


@dataclass
class Lane:
    """The tests of a lane: ``failed`` tests failed twice, ``flaky`` tests passed in their second try.

    ``broken`` says why pytest itself failed, and is empty if it did not. ``without_second_try``: so many tests failed
    that the lane is red in any case.
    """

    name: str
    passed: int = 0
    skipped: int = 0
    xfailed: int = 0
    failed: list[TestOutcome] = field(default_factory=list)
    flaky: list[TestOutcome] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    seconds: float = 0.0
    broken: str = ""
    without_second_try: bool = False

    def count(self, outcomes: Iterable[TestOutcome]) -> None:
        """Count the outcomes of the first run; failures are sorted by ``scripts.run_tests``."""
        outcomes = list(outcomes)
        self.passed = sum(outcome.outcome == "passed" for outcome in outcomes)
        self.skipped = sum(outcome.outcome == "skipped" for outcome in outcomes)
        self.xfailed = sum(outcome.outcome == "xfailed" for outcome in outcomes)
        slowest = sorted(((outcome.seconds, outcome.node_id) for outcome in outcomes), reverse=True)
        self.slowest = slowest[:SLOWEST]

    def save(self, path: Path) -> None:
        """Write the lane as JSON."""
        lists = {key: [outcome.to_json() for outcome in getattr(self, key)] for key in ("failed", "flaky")}
        path.write_text(json.dumps({**vars(self), **lists}), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Lane:
        """Read the lane that ``save`` wrote."""
        values = json.loads(path.read_text(encoding="utf-8"))
        for key in ("failed", "flaky"):
            values[key] = [TestOutcome.from_json(value) for value in values[key]]
        return cls(**values)


def why_red(lanes: Sequence[Lane]) -> list[str]:
    """Why these lanes are not green, one sentence each; empty if they are."""
    reasons = [f"{lane.name}: {lane.broken}" for lane in lanes if lane.broken]
    failed = sum(len(lane.failed) for lane in lanes)
    if failed:
        untried = any(lane.without_second_try for lane in lanes)
        reasons.append(f"{failed} failed{WITHOUT_SECOND_TRY if untried else ''}")
    chances = count_chances(outcome for lane in lanes for outcome in lane.flaky)
    if chances >= TOO_MANY_FLAKY:
        reasons.append(f"{chances} flaky tests are too many for a green run")
    return reasons


def count_chances(flaky: Iterable[TestOutcome]) -> int:
    """The number of independent failures: tests that failed because they share a fixture count as one."""
    return len({chance(outcome) for outcome in flaky})


def chance(outcome: TestOutcome) -> tuple[str, ...]:
    """A key shared by tests that failed because of the same fixture; for any other test, its node id."""
    failure = outcome.failure
    if failure is not None and failure.phase == "setup":
        return outcome.node_id.partition("::")[0], failure.where, failure.message
    return (outcome.node_id,)


def summary(lanes: Sequence[Lane]) -> Iterator[str]:
    """The lines that end a run: the slowest tests, flaky and failed ones, and the totals in pytest's form.

    The most important part comes last: tools that shorten a long output keep its end.
    """
    slowest = sorted(((*test, lane) for lane in lanes for test in lane.slowest), key=lambda row: row[:2], reverse=True)
    if slowest:
        yield f"the {min(SLOWEST, len(slowest))} slowest tests:"
    for seconds, node_id, lane in slowest[:SLOWEST]:
        yield f"  {seconds:7.2f} s  {node_id}{_of(lane, lanes)}"
    yield from _named("flaky:", lanes, [(lane, outcome) for lane in lanes for outcome in lane.flaky])
    yield from _named("failed:", lanes, [(lane, outcome) for lane in lanes for outcome in lane.failed])
    for reason in why_red(lanes):
        yield f"red: {reason}"
    yield totals(lanes)


def _named(title: str, lanes: Sequence[Lane], rows: Sequence[tuple[Lane, TestOutcome]]) -> Iterator[str]:
    if rows:
        yield title
    for lane, outcome in rows:
        yield f"  {outcome.node_id}{_of(lane, lanes)}"
        if outcome.failure:
            yield f"      {_first_line(outcome.failure)}"


def _of(lane: Lane, lanes: Sequence[Lane]) -> str:
    return f" [{lane.name}]" if len(lanes) > 1 else ""


def _first_line(failure: Failure) -> str:
    line = next(iter(failure.message.splitlines()), "")
    return f"{failure.phase}: {line} ({failure.where})" if failure.where else f"{failure.phase}: {line}"


def totals(lanes: Sequence[Lane]) -> str:
    """One line in pytest's form, such as ``=== 2 failed, 40 passed, 3 skipped, 1 flaky in 12.34s ===``."""
    counts = {
        "failed": sum(len(lane.failed) for lane in lanes),
        "passed": sum(lane.passed for lane in lanes),
        "skipped": sum(lane.skipped for lane in lanes),
        "xfailed": sum(lane.xfailed for lane in lanes),
        "flaky": sum(len(lane.flaky) for lane in lanes),
        "errors": sum(bool(lane.broken) for lane in lanes),
    }
    words = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "no tests ran"
    return f"=== {words} in {sum(lane.seconds for lane in lanes):.2f}s ==="


def report_of_flaky(lanes: Sequence[Lane]) -> str:
    """The first failures of the flaky tests with their tracebacks."""
    blocks = []
    for lane in lanes:
        for outcome in lane.flaky:
            failure = outcome.failure
            text = failure.traceback if failure else ""
            blocks.append(f"{outcome.node_id} [{lane.name}], {failure.phase if failure else ''}\n\n{text}\n")
    return "\n".join(blocks)
