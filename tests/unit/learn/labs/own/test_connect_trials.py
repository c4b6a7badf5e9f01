"""The trials' files of lines, and the workers' broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.labs.own import connect_trials
from kafka_learn.labs.own.connect_trials import append, await_lines, workers_of


def test_lines_are_numbered_on(tmp_path: Path) -> None:
    append(tmp_path / "in.txt", 0, 2)
    append(tmp_path / "in.txt", 2, 1)
    assert (tmp_path / "in.txt").read_text() == "line 0\nline 1\nline 2\n"


def test_a_line_that_came_twice_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect_trials, "LIMIT_S", 0.05)
    target = tmp_path / "out.txt"
    with pytest.raises(AssertionError, match=r"^0 of 3 lines came within 0\.05 s$"):
        await_lines(target, 3)
    append(target, 0, 2)
    append(target, 0, 2)
    with pytest.raises(AssertionError, match=r"^2 of 3 lines came"):
        await_lines(target, 3)
    append(target, 2, 1)
    await_lines(target, 3)


def test_the_workers_go_to_the_running_broker() -> None:
    assert workers_of("127.0.0.1:19092", 2).cluster.bootstrap_servers == "127.0.0.1:19092"
