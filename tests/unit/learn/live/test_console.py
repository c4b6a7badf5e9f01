"""The console outside of the world: which cell an output belongs to, and how cells end."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.live.console import CUT, MOST_OUTPUT, Console


class World:
    """A world that does in the background what it is told, at once."""

    def __init__(self) -> None:
        self.scheduler = SimpleNamespace(current=None)

    def in_background(self, name: str, work: Callable[[], object]) -> None:
        assert name == "console"
        work()


class Process:
    """The console's process: keeps the cells that it is given."""

    def __init__(self) -> None:
        self.owner = object()
        self.is_running = True
        self.given: list[tuple[int, str]] = []

    def module(self, name: str) -> Any:
        assert name == "kafka_learn.live.console_program"
        return SimpleNamespace(cells=SimpleNamespace(put=self.given.append), Cell=lambda *cell: cell)

    def kill(self) -> None:
        self.is_running = False


class Fixture:
    def __init__(self) -> None:
        self.world = World()
        self.started: list[Process] = []
        self.outside = sys.stdout
        self.console = Console(self.world, self._start)  # type: ignore[arg-type]

    def _start(self, program: str, console: Console, *, name: str) -> Any:
        assert (program, name) == ("console", "console")
        assert console is self.console
        self.started.append(Process())
        return self.started[-1]

    def prints(self, text: str) -> None:
        self.world.scheduler.current = SimpleNamespace(owner=self.started[-1].owner)
        print(text)
        self.world.scheduler.current = None


def made(monkeypatch: pytest.MonkeyPatch) -> Fixture:
    """Made within the test: pytest gives sys.stdout another stream before it."""
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    return Fixture()


def test_output_of_the_consoles_process_belongs_to_the_cell_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = made(monkeypatch)
    fixture.console.run("one")
    fixture.console.run("two")
    assert fixture.started[0].given == [(1, "one"), (2, "two")]
    fixture.prints("of one")
    fixture.console.ended(1, "")
    fixture.prints("of two")
    print("of the page")
    fixture.console.ended(2, "KeyError\n")
    assert fixture.console.news() == [
        {"number": 1, "source": "one", "state": "done", "output": "of one\n"},
        {"number": 2, "source": "two", "state": "failed", "output": "of two\nKeyError\n"},
    ]
    assert fixture.console.news() == []
    assert fixture.outside.getvalue() == "of the page\n"  # type: ignore[attr-defined]


def test_another_process_prints_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = made(monkeypatch)
    fixture.console.run("one")
    fixture.world.scheduler.current = SimpleNamespace(owner="a broker")
    print("hello", file=sys.stderr)
    assert fixture.console.news()[0]["output"] == ""


def test_a_flood_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = made(monkeypatch)
    fixture.console.run("one")
    for _ in range(3):
        fixture.prints("x" * MOST_OUTPUT)
    output = fixture.console.news()[0]["output"]
    assert output == "x" * MOST_OUTPUT + CUT


def test_an_interrupt_ends_all_cells_and_the_next_one_gets_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = made(monkeypatch)
    fixture.console.run("one")
    fixture.console.ended(1, "")
    fixture.console.interrupt()
    assert fixture.started[0].is_running  # nothing was to be interrupted
    fixture.console.run("while True: pass")
    fixture.console.run("three")
    fixture.console.interrupt()
    assert not fixture.started[0].is_running
    assert [cell["state"] for cell in fixture.console.news()] == ["done", "failed", "failed"]
    fixture.console.run("four")
    assert fixture.started[1].given == [(4, "four")]
