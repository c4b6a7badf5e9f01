"""A test that must fail, hidden among those of a lab: an answer that makes tests pass makes it pass, too.

The code under test runs in the process of its tests, and ``proof`` stops the tricks that are known. The canary does not
ask how: it has the title of another test, a name of its own in each run, and fails whatever the answer is. If it is
reported as passed, or not at all, the outcomes of the run are not those of the tests.
"""

from __future__ import annotations

import ast
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from kafka_learn.labs.grader import CheckResult
from kafka_learn.labs.lab import Lab

CAUGHT = "a test that must fail has passed: the answer reports outcomes of its own"
SILENT = "a test that must fail was not run: the answer decides which tests run"


def with_canary(lab: Lab, folder: Path) -> tuple[Lab, str]:
    """The lab with a copy of its tests in ``folder``, one of which has a canary; and the canary's name."""
    shutil.copytree(lab.tests, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    file = secrets.choice(sorted((folder / "tests").glob("test_*.py")))
    source = file.read_text(encoding="utf-8")
    title, task = _title_and_task(source)
    name = f"test_{secrets.token_hex(6)}"
    file.write_text(f"{source}\n\n{_CANARY.format(task=task, name=name, title=title)}", encoding="utf-8")
    return replace(lab, folder=folder), name


_CANARY = """@pytest.mark.points(0, task={task})
def {name}():
    {title!r}
    assert not __name__
"""


def _title_and_task(source: str) -> tuple[str, int]:
    """The title and the task of one of the tests of a file."""
    tests = [
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    chosen = secrets.choice(tests)
    marks = [mark for mark in chosen.decorator_list if isinstance(mark, ast.Call) and "points" in ast.unparse(mark)]
    task = next(ast.literal_eval(word.value) for word in marks[0].keywords if word.arg == "task")
    return ast.get_docstring(chosen) or chosen.name, task


def without_canary(result: CheckResult, name: str) -> CheckResult:
    """The result of the other tests; a failure if the canary did not fail."""
    if result.failure and not result.outcomes:
        return result
    sung = next((outcome for outcome in result.outcomes if outcome.test == name), None)
    others = tuple(outcome for outcome in result.outcomes if outcome.test != name)
    if sung is not None and sung.passed:
        return CheckResult((), CAUGHT)
    ran_to_the_end = not result.failure and not any(outcome.running or outcome.skipped for outcome in result.outcomes)
    if sung is None and ran_to_the_end:
        return CheckResult((), SILENT)
    return CheckResult(others, result.failure)
