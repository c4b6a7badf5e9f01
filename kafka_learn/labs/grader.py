"""Checks a learner's modules: runs the lab's open tests, then the real broker, in processes with a time limit.

The result is computed here, from what the process of the tests reports (``proof``).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kafka_learn.labs import overlay
from kafka_learn.labs.lab import SPARK, Lab
from kafka_learn.labs.proof import Listener, missing_tests
from kafka_learn.labs.starter import UNWRITTEN, unwritten
from kafka_learn.labs.swallowing import swallowing
from kafka_learn.project import PROJECT_ROOT

OUTPUT_LINES = 15
Runner = Callable[[list[str], float], tuple[int | None, str]]
"""Runs a command with a time limit in seconds, as ``run_bounded`` does."""


@dataclass(frozen=True)
class TestOutcome:
    """The result of one test; ``message`` names the mistake if it did not pass.

    ``skipped``: it was not run. ``running``: it was still running when the whole check was ended. ``printed``: the last
    lines that a failed test wrote to standard output, to show a learner's own ``print``.
    """

    test: str
    title: str
    task: int
    points: int
    broker: bool
    passed: bool
    skipped: bool
    running: bool
    message: str
    printed: str = ""

    __test__ = False  # a class of the runner, not a test for pytest to collect


@dataclass(frozen=True)
class CheckResult:
    """The result of a check. ``failure`` says why the tests could not finish; empty if they did."""

    outcomes: tuple[TestOutcome, ...]
    failure: str = ""

    @property
    def score(self) -> int:
        """The points earned."""
        return sum(outcome.points for outcome in self.outcomes if outcome.passed)

    @property
    def total(self) -> int:
        """The points that can be earned."""
        return sum(outcome.points for outcome in self.outcomes)

    @property
    def passed(self) -> bool:
        """Whether the check finished and all its tests passed."""
        return bool(self.outcomes) and not self.failure and all(outcome.passed for outcome in self.outcomes)

    def task_points(self) -> dict[str, list[int]]:
        """The points of each task, by its number: those that were earned, and all."""
        points: dict[str, list[int]] = {}
        for outcome in self.outcomes:
            of_task = points.setdefault(str(outcome.task), [0, 0])
            of_task[0] += outcome.points if outcome.passed else 0
            of_task[1] += outcome.points
        return points

    def tasks_passed(self) -> list[int]:
        """The numbers of the tasks whose tests all pass."""
        tasks = {outcome.task for outcome in self.outcomes}
        return sorted(tasks - {outcome.task for outcome in self.outcomes if not outcome.passed})


def check(lab: Lab, files: dict[str, Path], *, broker: bool = True, run: Runner | None = None) -> CheckResult:
    """Run the lab's tests with ``files`` (module → the learner's file), then those with the real broker.

    ``run`` runs the command, in place of ``run_bounded``.
    """
    for module, path in files.items():
        if problem := syntax_problem(path):
            return CheckResult((), f"{path.name} ({module}) is not valid Python: {problem}")
    if lab.extra == SPARK and (problem := _missing_spark()):
        return CheckResult((), problem)
    with tempfile.TemporaryDirectory(prefix="kafka-lite-lab-") as scratch:
        listener = Listener(Path(scratch))
        command = _pytest_command(lab, files, Path(scratch), broker)
        with listener.listening():
            returncode, output = (run or run_bounded)(command, lab.time_limit_s)
        result = _result(lab, listener, returncode, output)
        if broker and result.passed and (missing := missing_tests(lab.tests, listener.rows)):
            return CheckResult(result.outcomes, f"these tests of the lab were not run: {', '.join(missing)}")
        return result


def syntax_problem(path: Path) -> str:
    """Why Python cannot read a file; empty if it can."""
    try:
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
    except (SyntaxError, ValueError) as error:
        return str(error)
    return ""


def _missing_spark() -> str:
    """Why a lab on Spark cannot run here, and what to install; empty if it can."""
    try:
        importlib.import_module("kafka_lite.spark")
    except ImportError as error:
        return f"This lab runs in Spark. {error}"
    return ""


@contextlib.contextmanager
def jvm_for_checks_of(lab: Lab) -> Iterator[None]:
    """Within the block, checks of a lab on Spark share one JVM: from the second on, they take a fraction of the time.

    Does nothing for other labs, and if Spark or Java is missing: the check then says so.
    """
    if lab.extra != SPARK or _missing_spark():
        yield
        return
    from kafka_learn.labs.spark_jvm import shared_jvm
    from kafka_lite.spark.java_runtime import JavaNotFoundError

    with tempfile.TemporaryDirectory(prefix="kafka-lite-lab-") as folder, contextlib.ExitStack() as running:
        with contextlib.suppress(JavaNotFoundError):
            running.enter_context(shared_jvm(Path(folder) / "spark.log"))
        yield


def _unwritten_tasks(lab: Lab, files: dict[str, Path]) -> dict[int, str]:
    """The first function without a body, of each task that has one."""
    found: dict[int, str] = {}
    for module, path in files.items():
        functions = lab.functions_of(module)
        for name in unwritten(path.read_text(encoding="utf-8"), functions):
            found.setdefault(functions[name].number, name)
    return found


def pytest_options(lab: Lab, files: dict[str, Path], scratch: Path, broker: bool) -> list[str]:
    """The options with which pytest runs a lab's tests; it ignores the project's settings."""
    # No summary of failures: the plugins report them, and pytest cuts its lines at a terminal's width, but not on CI.
    options = ["-q", "--tb=no", "-rN", "-c", os.devnull, "--rootdir", str(lab.tests), "--import-mode=importlib"]
    # No assertion rewriting, which would take a fifth of the check's time: the tests have their own messages.
    options += [
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "kafka_learn.labs.way.load_errors",
        "--basetemp",
        str(scratch / "tmp"),
    ]
    options += [f"--lab-module={module}={path}" for module, path in files.items()]
    options += [f"--lab-test-limit={lab.test_limit_s}", f"--lab-time-limit={lab.time_limit_s}"]
    options += [f"--lab-swallows={task}: {words}" for task, words in swallowing(lab, files).items()]
    return options if broker else [*options, "--lab-no-broker"]


def _pytest_command(lab: Lab, files: dict[str, Path], scratch: Path, broker: bool) -> list[str]:
    """The pytest command for a process in which the learner's modules come first."""
    options = [*pytest_options(lab, files, scratch, broker), "-p", "kafka_learn.labs.pytest_plugin"]
    options += ["--lab-channel", str(scratch)]
    if lab.extra == SPARK:
        options += ["-p", "kafka_learn.labs.spark_plugin"]
        # A session takes seconds to start. A test whose body is not written does not need it to be red.
        options += [f"--lab-unwritten={UNWRITTEN}{n}: {name}" for n, name in _unwritten_tasks(lab, files).items()]
    return overlay.command(files, "pytest", *options, str(lab.tests))


def environment() -> dict[str, str]:
    """The environment variables of a check."""
    found = {**os.environ, "PYTHONUNBUFFERED": "1"}
    # In particular the project's own plugin: it would import the modules before they can be replaced.
    found["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROJECT_ROOT), found.get("PYTHONPATH")]))
    return found


def run_bounded(command: list[str], limit_s: float) -> tuple[int | None, str]:
    """Run a command in its own process group and kill the group afterwards; returns its exit code and its output.

    Code None: the time limit was reached. A negative one: the signal that ended it.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment(), start_new_session=True
        )
        try:
            returncode: int | None = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            returncode = None
        finally:
            _end_group(process)
        output.seek(0)
        return returncode, output.read().decode("utf-8", errors="replace")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill all processes that the command left running, including a broker."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(lab: Lab, listener: Listener, returncode: int | None, output: str) -> CheckResult:
    if listener.refusal:
        return CheckResult((), f"the check proves nothing: {listener.refusal}")
    return result_of(lab, listener.rows, returncode, output)


def result_of(lab: Lab, rows: Mapping[str, Mapping[str, Any]], returncode: int | None, output: str) -> CheckResult:
    """The result of tests that have reported these rows and ended with this code; None: they were stopped."""
    outcomes = tuple(TestOutcome(**row) for row in rows.values())
    if returncode is None:
        running = "".join(f", during this test: {outcome.title}" for outcome in outcomes if outcome.running)
        return CheckResult(outcomes, f"the check was stopped at its time limit of {lab.time_limit_s:g} s{running}")
    if returncode < 0:
        return CheckResult(outcomes, f"Python was killed by {signal.Signals(-returncode).name}: {_tail(output)}")
    if any(outcome.running for outcome in outcomes):
        return CheckResult(tuple(_with_exit(outcome, returncode) for outcome in outcomes))
    if not outcomes or returncode > 1:
        return CheckResult(outcomes, f"the tests could not be run:\n{_tail(output)}")
    return CheckResult(outcomes)


def _with_exit(outcome: TestOutcome, returncode: int) -> TestOutcome:
    """The test during which Python ended says so: the plugin, which had noted that it runs, could not say more."""
    if not outcome.running:
        return outcome
    return replace(outcome, message=f"Python was ended here with exit code {returncode}: does the code call os._exit?")


def _tail(output: str) -> str:
    return "\n".join(output.strip().splitlines()[-OUTPUT_LINES:])
