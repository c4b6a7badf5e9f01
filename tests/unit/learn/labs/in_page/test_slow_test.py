"""A loop that does not end is stopped without a signal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kafka_learn.labs.in_page.slow_test import limited


def loaded(path: Path, body: str) -> Callable[..., Any]:
    path.write_text(f"def run(other=None):\n    {body}\n", encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    run: Callable[..., Any] = names["run"]
    return run


def stop(frame: FrameType) -> None:
    raise TimeoutError(f"line {frame.f_lineno} of {frame.f_code.co_name}")


def test_an_endless_loop_of_the_learner_is_stopped_where_it_is(tmp_path: Path) -> None:
    run = loaded(tmp_path / "mine.py", "while True:\n        pass")
    with pytest.raises(TimeoutError, match=r"line [23] of run"), limited(0.02, [tmp_path / "mine.py"], stop):
        run()
    assert sys.gettrace() is None


def test_a_loop_elsewhere_is_stopped_when_it_calls_something(tmp_path: Path) -> None:
    run = loaded(tmp_path / "library.py", "while True:\n        other()")
    with pytest.raises(TimeoutError, match="<lambda>"), limited(0.02, [], stop):
        run(lambda: None)


def test_what_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    run = loaded(tmp_path / "mine.py", "return sum(range(100))")
    with limited(30, [tmp_path / "mine.py"], stop):
        assert run() == 4950
    assert sys.gettrace() is None
