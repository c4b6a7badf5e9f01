"""Runs a lane of tests: pytest, then a second try for each failed test, alone in a fresh process.

    python -m scripts.run_tests [--processes N] NAME [PATH…] [-- PYTEST-OPTIONS…]    one lane, to build/tests/NAME.json
    python -m scripts.run_tests --sum-up    all lanes in build/tests together, as .ci/run ends

A test that passes in its second try is flaky. The summary names it with its first failure, flaky.txt keeps the
traceback, and the run is green unless there are three of them. If as many fail, it is red whatever their second tries
bring: there are none. pytest-rerunfailures would rerun the test immediately in
the same process, together with whatever the first try left there. KAFKA_LITE_TEST_RESULTS overrides the folder
build/tests. What the tests write is in memory where there is room (``memory_folder``), and gone at the end; pytest
itself keeps what failed tests have written. With ``--processes``, so many processes of pytest take their files from a
queue (``file_queue``, ``side_by_side``), which is faster than workers of xdist where tests are many and short.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scripts.file_queue import write_queue
from scripts.lanes import TOO_MANY_FLAKY, Lane, chance, count_chances, report_of_flaky, summary, why_red
from scripts.memory_folder import temporary_folder
from scripts.outcomes import TestOutcome, read_outcomes
from scripts.side_by_side import files_below, run_side_by_side

MAX_SECOND_TRIES = 20
"""Tests that one fixture has failed are one failure, but each of them is tried again."""
ENDED_HOW: dict[int, str] = {
    pytest.ExitCode.INTERRUPTED: "pytest was interrupted, or a module could not be collected",
    pytest.ExitCode.INTERNAL_ERROR: "an internal error of pytest",
    pytest.ExitCode.USAGE_ERROR: "pytest did not understand its arguments, or found nothing there",
    pytest.ExitCode.NO_TESTS_COLLECTED: "no test was collected",
}


def main(arguments: Sequence[str]) -> int:
    """Run a lane, or sum up all lanes; returns the exit code."""
    results = Path(os.environ.get("KAFKA_LITE_TEST_RESULTS", "build/tests"))
    results.mkdir(parents=True, exist_ok=True)
    if list(arguments) == ["--sum-up"]:
        return finish(results, [Lane.load(path) for path in sorted(results.glob("*.json"))])
    processes = 1
    if arguments[0] == "--processes":
        processes, arguments = int(arguments[1]), arguments[2:]
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    name, *paths = arguments[:separator]
    return finish(results, [run_lane(results, name, paths, arguments[separator + 1 :], processes)])


def finish(results: Path, lanes: Sequence[Lane]) -> int:
    """Print the summary of the lanes and keep the first failures of flaky tests; returns the exit code."""
    if any(lane.flaky for lane in lanes):
        report = results / f"flaky-{lanes[0].name}.txt" if len(lanes) == 1 else results / "flaky.txt"
        report.write_text(report_of_flaky(lanes), encoding="utf-8")
        print(f"\nthe first failures of the flaky tests: {report}")
    print()
    for line in summary(lanes):
        print(line)
    return 1 if not lanes or why_red(lanes) else 0


def run_lane(results: Path, name: str, paths: Sequence[str], options: Sequence[str], processes: int) -> Lane:
    """Run the tests of ``paths`` with pytest's ``options``, then the failed ones again, and save the result."""
    started = time.monotonic()
    lane = Lane(name, broken="it did not come to its end")
    lane.save(results / f"{name}.json")
    code, outcomes = run_pytest(results / f"{name}.jsonl", paths, options, processes)
    lane.count(outcomes.values())
    failures = [outcome for outcome in outcomes.values() if outcome.outcome == "failed"]
    lane.broken = why_broken(code, failures, lane.passed)
    lane.without_second_try = not lane.broken and is_red_anyway(failures)
    if failures and not lane.broken and not lane.without_second_try:
        lane.flaky = second_tries(results, name, failures, options)
    lane.failed = [outcome for outcome in failures if outcome not in lane.flaky]
    lane.seconds = time.monotonic() - started
    lane.save(results / f"{name}.json")
    return lane


def why_broken(code: int, failures: Sequence[TestOutcome], passed: int) -> str:
    """Why no second try can make this run of pytest green; empty if one can."""
    if code == pytest.ExitCode.TESTS_FAILED and failures:
        return ""
    if code == pytest.ExitCode.OK:
        return "" if passed else "no test passed"
    return ENDED_HOW.get(code, f"pytest ended with exit code {code}")


def is_red_anyway(failures: Sequence[TestOutcome]) -> bool:
    """Whether even passed second tries cannot make the run green, or are too many to wait for."""
    return count_chances(failures) >= TOO_MANY_FLAKY or len(failures) > MAX_SECOND_TRIES


def second_tries(
    results: Path, name: str, failures: Sequence[TestOutcome], options: Sequence[str]
) -> list[TestOutcome]:
    """The tests that pass in their second try. A fixture that fails twice is not tried again for each of its tests."""
    flaky, hopeless = [], set()
    for outcome in failures:
        if chance(outcome) in hopeless:
            continue
        if passes_again(results, name, outcome, options):
            flaky.append(outcome)
        else:
            hopeless.add(chance(outcome))
    return flaky


def passes_again(results: Path, lane: str, outcome: TestOutcome, options: Sequence[str]) -> bool:
    """Run the test alone in a fresh process. A test that crashed two workers has already failed twice."""
    if outcome.crashes > 1:
        return False
    print(f"\nsecond try: {outcome.node_id}", flush=True)
    code, outcomes = run_pytest(results / f"{lane}-second-try.jsonl", [outcome.node_id], [*options, "-n", "0"])
    again = outcomes.get(outcome.node_id)
    return code == pytest.ExitCode.OK and again is not None and again.outcome == "passed"


def run_pytest(
    log: Path, paths: Sequence[str], options: Sequence[str], processes: int = 1
) -> tuple[int, dict[str, TestOutcome]]:
    """Run pytest in so many processes; returns its exit code and the tests' outcomes by node id."""
    logs = [log, *(log.with_stem(f"{log.stem}-{number}") for number in range(2, processes + 1))]
    for each in logs:
        each.unlink(missing_ok=True)
    # Not `python -m pytest`, which puts the current folder before the compiled package that PYTHONPATH may name.
    pytest_command = Path(sys.executable).with_name("pytest")
    with ExitStack() as folders:
        folder = folders.enter_context(temporary_folder())
        environment = os.environ if folder is None else {**os.environ, "TMPDIR": str(folder)}
        if processes > 1:
            paths = from_queue(Path(folders.enter_context(TemporaryDirectory())) / "queue", paths, options)
        code = run_side_by_side(
            [[pytest_command, *paths, *options, f"--report-log={each}"] for each in logs], environment
        )
    return code, {node_id: outcome for each in logs for node_id, outcome in read_outcomes(each).items()}


def from_queue(queue: Path, paths: Sequence[str], options: Sequence[str]) -> list[str]:
    """Put the files below ``paths`` into a queue; returns the options with which a process takes files from it."""
    left_out = [option.removeprefix("--ignore=") for option in options if option.startswith("--ignore=")]
    write_queue(queue, files_below(paths, left_out))
    # Nobody knows how many tests are left, so percentages would be wrong.
    return ["-p", "scripts.file_queue", f"--files-from={queue}", "-o", "console_output_style=classic"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
