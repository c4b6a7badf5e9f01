"""A seed of a hunt: what it finds, and which steps it keeps."""

from __future__ import annotations

from pathlib import Path

from kafka_learn.labs.hunting.hunt_world import LearnersModules, Step, last_words, ready_modules, run_seed

MODULE = "kafka_lite.common.purgatory.delayed_operation"
PROGRAM = "kafka_learn.labs.hunting.purgatory_hunt:main"
WITH, IF = "with self._lock:", "if True:"
LOCKED = f"{WITH}\n            done ="
TRACEBACK = """Traceback (most recent call last):
  File "/x/partition.py", line 7, in append
    self.end += 1
    ^^^^^^^^
"""


def test_the_error_of_a_traceback_is_what_was_found() -> None:
    assert last_words("") == ""
    assert last_words(f"{TRACEBACK}AssertionError: it moved back") == "it moved back"
    assert last_words(f"{TRACEBACK}KeyError: 3\n") == "KeyError: 3 (partition.py, line 7, in append)"


def test_a_program_that_waits_for_ever_is_found(tmp_path: Path) -> None:
    mine = tmp_path / "delayed_operation.py"
    shipped = Path(__import__(MODULE, fromlist=["x"]).__file__ or "").read_text(encoding="utf-8")
    mine.write_text(
        shipped.replace(LOCKED, f"self._lock.acquire()\n        {LOCKED.replace(WITH, IF)}"), encoding="utf-8"
    )
    found = run_seed(1, PROGRAM, ready_modules(PROGRAM, {MODULE: mine}), tmp_path / "world")
    assert "not done after 300 s" in found.broken
    assert found.steps


def test_only_the_learners_statements_are_drawn(tmp_path: Path) -> None:
    mine, hunt = tmp_path / "mine.py", tmp_path / "hunt.py"
    mine.write_text('"""What it is."""\nx = 1\ny = 2\n')
    hunt.write_text("look()\n")
    modules = LearnersModules({"mine": mine}, ())
    modules.steps.extend(Step("a", str(file), line) for file, line in ((mine, 1), (mine, 2), (hunt, 1), (mine, 3)))
    assert modules.steps_of_the_learner() == (Step("a", str(mine), 2), Step("a", str(mine), 3))
