"""What a reader asks of the topic is done one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from greenlet import getcurrent, greenlet

from kafka_learn.live.commands import command
from kafka_learn.live.operations import PROGRAMS, Operations


class World:
    """A world whose one background task runs until it sleeps."""

    def __init__(self) -> None:
        self.hub = getcurrent()
        self.tasks: list[greenlet] = []

    def in_background(self, name: str, work: Callable[[], object]) -> None:
        assert name == "operator"
        self.tasks.append(greenlet(work))

    def sleep(self, duration_s: float) -> None:
        assert duration_s > 0
        self.hub.switch()

    def turn(self) -> None:
        for task in self.tasks:
            if not task.dead:
                task.switch()


class Process:
    def __init__(self, program: str, *arguments: object) -> None:
        self.started = (program, *arguments)
        self.is_running = True
        self.exit_code: int | None = None

    def end(self, exit_code: int) -> None:
        self.is_running, self.exit_code = False, exit_code


class Fixture:
    def __init__(self) -> None:
        self.world = World()
        self.processes: list[Process] = []
        self.notes: list[str] = []
        world: Any = self.world
        self.operations = Operations(world, self._start, self.notes.append)

    def _start(self, program: str, *arguments: object) -> Any:
        self.processes.append(Process(program, *arguments))
        return self.processes[-1]

    def ask(self, *words: object) -> None:
        self.operations.add(command(words, 3, ["broker-0"]), "demo")


def test_each_waits_for_those_before_it() -> None:
    they = Fixture()
    they.ask("alter", "min.insync.replicas", "1")
    they.ask("replicas", 1)
    they.world.turn()
    assert [each.started for each in they.processes] == [("set_topic_config", "demo", "min.insync.replicas", "1")]
    they.processes[0].end(0)
    they.world.turn()
    assert they.processes[1].started == ("add_replicas", "demo", 1)
    assert they.notes == ["alter min.insync.replicas 1: done"]


def test_one_that_fails_is_told_and_does_not_end_the_world() -> None:
    they = Fixture()
    they.ask("partitions", 5)
    they.world.turn()
    they.processes[0].end(1)
    they.world.turn()
    assert they.notes == ["partitions 5: failed"]
    they.ask("partitions", 6)
    they.world.turn()
    assert they.processes[1].started == ("create_partitions", "demo", 6)


def test_every_program_is_the_operators() -> None:
    from kafka_lite.testing.simulation import operator_programs

    assert all(callable(getattr(operator_programs, program)) for program in PROGRAMS.values())
