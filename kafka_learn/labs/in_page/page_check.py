"""A check in a page: the same tests, options and words as ``kafka-lite labs check --no-broker``, in this process.

Not in Kafka. What the worker of the page calls, in plain values that JavaScript understands::

    prepare()                                    once: stand-ins for what the host lacks, threads
    page = LabPage("ch06-timing-wheel", "en")
    page.check(files, tell)                      JSON; tell(JSON) at each outcome, with the result if it ended now

Modules that a check has loaded are forgotten before the next one, so that it loads what the learner has written since.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kafka_learn.labs import overlay
from kafka_learn.labs.grader import CheckResult, TestOutcome, pytest_options, result_of, syntax_problem
from kafka_learn.labs.in_page import page_words, stand_ins
from kafka_learn.labs.in_page.threads import Threads, installed
from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.labs.way.check_report import in_order, next_task, printed_by_first_failed, verdict, waits
from kafka_learn.labs.way.in_chinese import chinese_of, in_language
from kafka_learn.labs.way.standing import DONE, HALF, OPEN
from kafka_learn.labs.workspace import LabWorkspace

SLOWER: Final = 2
"""How many times longer a test may take: WebAssembly is slower."""
_OURS: Final = {"kafka_lite", "kafka_learn", "examples", "pipeline"}
_PLUGIN: Final = "kafka_learn.labs.in_page.page_plugin"
_TAKER: Final = "kafka-lite-row-taker"


class _Taker:
    """The object that ``page_plugin`` finds under its name. Its class is of this module, which is never forgotten."""

    def __init__(self, take: Callable[[str, dict[str, Any]], None]) -> None:
        self._take = take

    def report(self, test: str, row: dict[str, Any], _functions: Any = ()) -> None:
        """Pass on the state of a test, as a ``Reporter`` does."""
        self._take(test, row)


class LabPage:
    """A lab for JavaScript."""

    def __init__(self, name: str, language: str, folder: Path | None = None) -> None:
        """``folder`` is the working folder. Raises UnknownLabError."""
        lab = find_lab(name)
        self.lab = replace(lab, test_limit_s=lab.test_limit_s * SLOWER)
        self._language = language
        self._workspace = LabWorkspace(lab, folder or Path(tempfile.mkdtemp(prefix="labs-work-")))

    def check(self, files: str, tell: Callable[[str], object]) -> str:
        """Check the learner's modules, JSON of module → text; returns the result.

        ``tell`` gets what would be the result if the check were stopped now, whenever a test begins or ends.
        """
        self._write(json.loads(files))
        rows: dict[str, dict[str, Any]] = {}

        def take(test: str, row: dict[str, Any]) -> None:
            rows[test] = row
            if row["running"] or row["passed"] or row["message"]:
                tell(self._shown(_stopped(self.lab, rows, self._language)))

        return self._shown(self._run(rows, take))

    def _write(self, texts: dict[str, str]) -> None:
        for module, path in self._workspace._paths().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[module], encoding="utf-8")

    def _run(self, rows: dict[str, dict[str, Any]], take: Callable[[str, dict[str, Any]], None]) -> CheckResult:
        files = self._workspace.files()
        for module, path in files.items():
            if problem := syntax_problem(path):
                return CheckResult((), f"{path.name} ({module}) is not valid Python: {problem}")
        scratch = Path(tempfile.mkdtemp(prefix="kafka-lite-lab-"))
        options = [*pytest_options(self.lab, files, scratch, broker=False), "-p", _PLUGIN, "--capture=sys"]
        printed = io.StringIO()
        with _replaced(self.lab, files), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = _pytest([*options, str(self.lab.tests)], take)
        shutil.rmtree(scratch, ignore_errors=True)
        return result_of(self.lab, rows, code, printed.getvalue())

    def _shown(self, result: CheckResult) -> str:
        return json.dumps(self._values(result), ensure_ascii=False)

    def _values(self, result: CheckResult) -> dict[str, Any]:
        language, result = self._language, in_language(self.lab, result, self._language)
        printed = printed_by_first_failed(result, language)
        failing = bool(result.outcomes) and not result.passed
        return {
            "rows": [_row(outcome) for outcome in in_order(result)],
            "tasks": _tasks(self.lab, result, language),
            "score": result.score,
            "total": result.total,
            "passed": result.passed,
            "failed": bool(result.failure),
            "printed": printed.plain if printed else "",
            "verdict": verdict(self._workspace, result, language, page_words.how(language, self.lab)).plain,
            "at_hand": next_task(self._workspace, result).number if failing else 0,
        }


def _pytest(options: list[str], take: Callable[[str, dict[str, Any]], None]) -> int:
    plugins: list[Any] = [_Named(_Taker(take))]
    try:
        return int(pytest.main(options, plugins=plugins))
    except SystemExit as ended:  # raised while the learner's module is imported
        return ended.code if isinstance(ended.code, int) else 1


class _Named:
    """Registers the taker under its name, before the plugin looks for it."""

    def __init__(self, taker: _Taker) -> None:
        self._taker = taker

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Register it."""
        config.pluginmanager.register(self._taker, _TAKER)


def _row(outcome: TestOutcome) -> dict[str, Any]:
    state = "passed" if outcome.passed else "waits" if waits(outcome) else "failed"
    state = "running" if outcome.running else state
    return {
        "task": outcome.task, "test": outcome.test, "title": outcome.title, "state": state,
        "points": outcome.points, "message": "" if state in ("passed", "waits") else outcome.message,
    }  # fmt: skip


def _tasks(lab: Lab, result: CheckResult, language: str) -> list[dict[str, Any]]:
    passed, points = result.tasks_passed(), result.task_points()
    found = []
    for task in lab.tasks:
        earned, total = points.get(str(task.number), (0, 0))
        mark = DONE if task.number in passed else HALF if 0 < earned < total else OPEN
        title = task.title_in(language)
        found.append({"number": task.number, "title": title, "mark": mark, "earned": earned, "total": total})
    return found


def _stopped(lab: Lab, rows: dict[str, dict[str, Any]], language: str) -> CheckResult:
    """The result of a check that the page stops: its worker ends, so that nobody could say it afterwards."""
    running = next((row["title"] for row in rows.values() if row["running"]), "")
    running = chinese_of(lab.folder).title(running) if language == "zh" else running
    words = (
        page_words.word("stopped", language, test=running) if running else page_words.word("stopped early", language)
    )
    return replace(result_of(lab, rows, None, ""), failure=words)


@contextlib.contextmanager
def _replaced(lab: Lab, files: dict[str, Path]) -> Iterator[None]:
    """Within the block, imports of the lab's modules load the learner's, and nothing of an earlier check is left."""
    kept = {name: module for name, module in sys.modules.items() if _is_ours(name, module, lab)}
    for name in kept:
        del sys.modules[name]
    overlay.install(files)
    finder = sys.meta_path[0]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if _is_ours(name, module, lab)]:
            del sys.modules[name]
        sys.modules.update(kept)


def _is_ours(name: str, module: Any, lab: Lab) -> bool:
    if name.partition(".")[0] in _OURS:
        return True
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).is_relative_to(lab.folder)


def prepare(greenlet: Callable[..., Any], current: Callable[[], Any]) -> contextlib.ExitStack:
    """Make this interpreter ready for checks; what it returns undoes the part that can be undone.

    ``greenlet`` and ``current`` are those of the package greenlet, or of ``kafka_learn.live.greenlets``.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    stand_ins.install()
    undone = contextlib.ExitStack()
    undone.enter_context(installed(Threads(greenlet, current)))
    return undone
