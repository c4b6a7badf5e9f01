"""The pytest plugin for labs' tests: points, time limits, a broker, and a report to the grader's process.

The report is complete at any time: even if this process is killed, it shows what has passed and which test was running.

A test earns points: ``@pytest.mark.points(5, task=2)``; its docstring's first line is its title in the score table.
Tests that use the fixture ``start_broker``, ``broker`` or ``cluster`` run last, and only if all others have passed.
"""

from __future__ import annotations

import ast
import signal
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.proof import HOOKS, Reporter, functions_of

MESSAGE_LINES = 8
PRINTED_LINES = 20
PRINTED_COLUMNS = 200
if TYPE_CHECKING:
    from kafka_learn.labs.cluster import LabCluster

BROKER_FIXTURES = frozenset({"start_broker", "broker", "cluster"})
TOO_SLOW_LIMIT = 2
"""After this many timeouts the rest is skipped: it would only wait for the same loop."""
MARGIN_S = 5.0
"""How long before the end of the check a broker test is ended, to leave time to stop the broker and to report."""
NOT_RUN = "not run: the check ended first"
DID_NOT_END = "still running when the check ended: it waits for something that does not happen"
NOTHING_RETURNED = ": the test got None. Does your function return what its docstring says, in every case?"
OTHER_RETURNED = ": does your function return what its docstring says?"
_PLUGIN = "kafka-lite-lab"
_MakingReport = Generator[None, pytest.TestReport, pytest.TestReport]


class TooSlowError(AssertionError):
    """A test ran into its time limit."""


class LabPlugin:
    """Collects the outcome of each test."""

    def __init__(
        self,
        reporter: Reporter,
        files: dict[str, Path],
        test_limit_s: float,
        time_limit_s: float,
        swallows: dict[int, str] | None = None,
    ) -> None:
        self._reporter = reporter
        self._swallows = swallows or {}
        self.files = files
        self._test_limit_s = test_limit_s
        self._deadline_s = time.monotonic() + time_limit_s - MARGIN_S
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._too_slow = 0

    @pytest.fixture
    def start_broker(self, tmp_path: Path) -> Iterator[Callable[..., LabBroker]]:
        """``start_broker(**{"key": "value"})``: a running broker with the learner's modules; killed after the test."""
        started: list[LabBroker] = []

        def start(**overrides: str) -> LabBroker:
            folder = tmp_path / f"broker-{len(started)}"
            folder.mkdir()
            started.append(LabBroker(folder, self.files, overrides))
            started[-1].start()
            return started[-1]

        yield start
        for broker in started:
            broker.kill()

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the marker."""
        config.addinivalue_line(
            "markers", "points(points, task): what a test is worth, and the task that it belongs to"
        )

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Move broker tests to the end, or drop them."""
        if config.getoption("--lab-no-broker"):
            items[:] = [item for item in items if not _needs_broker(item)]
        items.sort(key=_needs_broker)
        for item in items:
            self._report(item, _outcome(item, NOT_RUN, skipped=True))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip broker tests while any other test is red: their failures would be less helpful."""
        if self._too_slow >= TOO_SLOW_LIMIT:
            pytest.skip("not run: the tests above did not finish")
        if _needs_broker(item) and any(not row["passed"] for row in self._outcomes.values() if not row["broker"]):
            pytest.skip("runs once all the tests above pass")
        if _needs_broker(item) and time.monotonic() > self._deadline_s:
            pytest.skip("not run: the tests above used up the time")
        self._report(item, _outcome(item, DID_NOT_END, running=True))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Turn an endless loop into a failure that names it; broker tests share the remaining time of the check."""
        limit = max(1.0, self._deadline_s - time.monotonic()) if _needs_broker(item) else self._test_limit_s
        stopped: list[TooSlowError] = []

        def stop(_signal: int, frame: FrameType | None) -> None:
            self._too_slow += 1
            where = running_loop(frame, self.files.values())
            question = "does the broker respond?" if _needs_broker(item) else "does that loop make progress?"
            stopped.append(TooSlowError(f"still running after {limit:.3g} s, in {where}: {question}"))
            raise stopped[0]

        previous = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            result = yield
            if words := self._swallows.get(_task_of(item)):  # the test might have failed otherwise
                pytest.fail(words)
            return result
        except Exception:
            # A library that was interrupted may raise an error of its own, as Spark's connection to its JVM does.
            if stopped:
                raise stopped[0] from None
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> _MakingReport:
        """Record the outcome of a test."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            message = "" if report.passed else _message(report, call, self.files.values())
            outcome = _outcome(item, message, passed=report.passed, skipped=report.skipped)
            printed = _last_lines(report.capstdout) if report.failed else ""
            self._report(item, outcome | {"printed": printed}, _deciding(item))
        return report

    def _report(self, item: pytest.Item, row: dict[str, Any], deciding: Iterable[Any] = ()) -> None:
        """Tell the grader's process at once: this one may be killed at any moment."""
        self._outcomes[item.nodeid] = row
        self._reporter.report(item.nodeid, row, deciding)


def _deciding(item: pytest.Item) -> list[Any]:
    """The functions that decide about a test: its own, those of its file, and what answers pytest's hooks."""
    of_hooks = [each.function for hook in HOOKS for each in getattr(item.ihook, hook).get_hookimpls()]
    module = getattr(item, "module", None)
    of_file = functions_of(module) if module else []
    own = getattr(item, "function", None)
    return [each for each in (own, *of_file, *of_hooks) if each is not None]


@pytest.fixture(scope="session")
def broker_settings() -> dict[str, str]:
    """The settings of ``broker`` and of each broker of ``cluster``; a lab may override this fixture."""
    return {}


@pytest.fixture(scope="session")
def broker(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, broker_settings: dict[str, str]
) -> Iterator[LabBroker]:
    """A running broker with the learner's modules, shared by all tests that use it; stopped after them."""
    plugin: Any = pytestconfig.pluginmanager.get_plugin(_PLUGIN)
    with LabBroker(tmp_path_factory.mktemp("broker"), plugin.files, broker_settings) as running:
        yield running


@pytest.fixture(scope="session")
def cluster(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, broker_settings: dict[str, str]
) -> Iterator[LabCluster]:
    """Three running brokers, the first with the learner's modules, shared by all tests that use them.

    A test that stops a broker starts it again.
    """
    from kafka_learn.labs.cluster import LabCluster  # most checks never start a broker

    plugin: Any = pytestconfig.pluginmanager.get_plugin(_PLUGIN)
    with LabCluster(tmp_path_factory.mktemp("cluster"), plugin.files, broker_settings) as running:
        yield running


def running_loop(frame: FrameType | None, files: Iterable[Path]) -> str:
    """The current line of the learner's innermost loop: the loop, rarely what it calls, is what does not end."""
    frames = [] if frame is None else [frame for frame, _ in traceback.walk_stack(frame)]
    own = {str(file.resolve()) for file in files}
    learners = [frame for frame in frames if str(Path(frame.f_code.co_filename).resolve()) in own]
    candidates = [*filter(_is_in_loop, learners), *learners, *frames]
    return f"line {candidates[0].f_lineno} of {candidates[0].f_code.co_qualname}" if candidates else "an unknown line"


def _is_in_loop(frame: FrameType) -> bool:
    tree = ast.parse(Path(frame.f_code.co_filename).read_text(encoding="utf-8"))
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While | ast.For)]
    return any(loop.lineno <= frame.f_lineno <= (loop.end_lineno or loop.lineno) for loop in loops)


def _needs_broker(item: pytest.Item) -> bool:
    return not BROKER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


def _task_of(item: pytest.Item) -> int:
    marker = item.get_closest_marker("points")
    return int(marker.kwargs["task"]) if marker is not None else 0


def _outcome(
    item: pytest.Item, message: str, *, passed: bool = False, skipped: bool = False, running: bool = False
) -> dict[str, Any]:
    marker = item.get_closest_marker("points")
    if marker is None:
        raise pytest.UsageError(f"{item.nodeid} has no points")
    return {
        "test": item.nodeid.rpartition("::")[2],
        "title": _title(item),
        "task": marker.kwargs["task"],
        "points": marker.args[0],
        "broker": _needs_broker(item),
        "passed": passed,
        "skipped": skipped,
        "running": running,
        "message": message,
    }


def _title(item: pytest.Item) -> str:
    """The first line of the test's docstring, and the name of the case if it is parametrized."""
    docstring = getattr(getattr(item, "function", None), "__doc__", None) or item.name
    case = getattr(getattr(item, "callspec", None), "id", "").replace("-", " ")
    return docstring.strip().splitlines()[0] + (f": {case}" if case else "")


def _message(report: pytest.TestReport, call: pytest.CallInfo[None], files: Iterable[Path]) -> str:
    """The failure: the assertion's message, or the exception and the learner's line that led to it."""
    if report.skipped or call.excinfo is None:
        return str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
    error = call.excinfo.value
    if isinstance(error, AssertionError | pytest.fail.Exception):
        words = str(error) or f"not true: {str(call.excinfo.traceback[-1].statement).strip()}"
        return _first_lines(words)
    if isinstance(error, NotImplementedError):
        return str(error)  # the starter's message: your task …
    own = {file.resolve() for file in files}
    entries = list(call.excinfo.traceback)
    place = next((each for each in reversed(entries) if Path(each.path).resolve() in own), entries[-1])
    hint = "" if Path(place.path).resolve() in own else _hint_at_the_returned_value(error)
    return f"{type(error).__name__}: {exception_words(error)} ({Path(place.path).name}, line {place.lineno + 1}){hint}"


def _hint_at_the_returned_value(error: BaseException) -> str:
    """Of an error in the test itself: the learner's function has returned, and the test cannot use the value."""
    if "NoneType" in str(error):
        return NOTHING_RETURNED
    return OTHER_RETURNED if isinstance(error, TypeError | AttributeError) else ""


def exception_words(error: BaseException) -> str:
    """The message of an exception; for one from a Spark worker, the message of the worker's exception."""
    text = str(error).strip()
    _, _, in_worker = text.partition("Traceback (most recent call last):")
    unindented = [line for line in in_worker.splitlines() if line and not line[0].isspace()]
    return unindented[0] if unindented else _first_lines(text)


def _first_lines(text: str) -> str:
    return "\n".join(text.splitlines()[:MESSAGE_LINES])


def _last_lines(text: str) -> str:
    lines = [line if len(line) <= PRINTED_COLUMNS else f"{line[:PRINTED_COLUMNS]}…" for line in text.splitlines()]
    omitted = ["…"] if len(lines) > PRINTED_LINES else []
    return "\n".join([*omitted, *lines[-PRINTED_LINES:]])


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that the grader passes."""
    parser.addoption("--lab-channel", type=Path, help="the folder of the pipes to and from the grader's process")
    parser.addoption("--lab-module", action="append", default=[], help="MODULE=FILE that a broker runs with")
    parser.addoption("--lab-swallows", action="append", default=[], help="TASK: the handler that hides every error")
    parser.addoption("--lab-no-broker", action="store_true", help="skip the tests with the broker")
    parser.addoption("--lab-test-limit", type=float, default=5.0, help="time limit of each test in seconds")
    parser.addoption("--lab-time-limit", type=float, default=120.0, help="time limit of all tests in seconds")


_REPORTER: pytest.StashKey[Reporter] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Take the key and seal what decides a test, before conftest.py loads the code under test."""
    options = early_config.known_args_namespace
    early_config.stash[_REPORTER] = Reporter(options.lab_channel, _files(options.lab_module).values())


def _files(options: Iterable[str]) -> dict[str, Path]:
    pairs = [pair.partition("=") for pair in options]
    return {module: Path(file) for module, _, file in pairs}


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin with the grader's options."""
    files = _files(config.getoption("--lab-module"))
    limits = config.getoption("--lab-test-limit"), config.getoption("--lab-time-limit")
    rows = [row.partition(": ") for row in config.getoption("--lab-swallows")]
    swallows = {int(task): words for task, _, words in rows}
    plugin = LabPlugin(config.stash[_REPORTER], files, *limits, swallows)
    config.pluginmanager.register(plugin, _PLUGIN)
