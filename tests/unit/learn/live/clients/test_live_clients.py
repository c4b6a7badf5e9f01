"""Which programs are started for the reader's clients, with what, and when they end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.live.clients.live_clients import LiveClients


class Process:
    """A process that runs until it is told to end."""

    def __init__(self) -> None:
        self.is_running = True
        self.put: list[Any] = []
        self.machine = SimpleNamespace(folder=Path("/machine"))
        self.ends: list[str] = []

    def module(self, _: str) -> Any:
        queue = SimpleNamespace(put=self.put.append)
        return SimpleNamespace(orders=queue, steps=queue, Order=lambda *order: order, Step=lambda *step: step)

    def stop(self) -> None:
        self.ends.append("SIGTERM")
        self.is_running = False

    def kill(self) -> None:
        self.ends.append("kill -9")
        self.is_running = False


class Fixture:
    def __init__(self) -> None:
        self.started: list[tuple[str, tuple[object, ...]]] = []
        self.processes: dict[str, Process] = {}
        self.operated: list[tuple[object, ...]] = []
        self.notes: list[str] = []
        world: Any = SimpleNamespace(sleep=self._sleep)
        self.clients = LiveClients(world, "demo", self._start, self._operate, self.notes.append)
        self.clients.start_producer()

    def _start(self, program: str, *arguments: object, name: str) -> Any:
        self.started.append((program.rpartition(".")[2], arguments))
        self.processes[name] = Process()
        return self.processes[name]

    def _operate(self, *call: object) -> Any:
        self.operated.append(call)
        self.processes["operator"] = Process()
        return self.processes["operator"]

    def _sleep(self, duration_s: float) -> None:
        assert duration_s > 0
        for name in ("operator", "writer"):
            if name in self.processes:
                self.processes[name].is_running = False

    def last(self) -> tuple[str, tuple[object, ...]]:
        return self.started[-1]


@pytest.fixture
def they() -> Fixture:
    return Fixture()


def test_orders_go_to_the_producer(they: Fixture) -> None:
    assert they.last() == ("client_programs:producer", ("demo", they.clients.figures))
    they.clients.produce(10, "all")
    assert they.processes["producer"].put == [(10, "all")]


def test_a_consumer_joins_once_with_the_isolation_level_of_the_moment(they: Fixture) -> None:
    they.clients.join(2, "readers")
    wanted = ("demo", "readers", "consumer-2", "read_uncommitted", they.clients.figures)
    assert they.last() == ("client_programs:consumer", wanted)
    they.clients.isolation = "read_committed"
    they.clients.join(2, "readers")
    assert len(they.started) == 2
    they.clients.leave(2)
    they.clients.leave(2)
    assert they.processes["consumer-2"].ends == ["SIGTERM"]
    they.clients.join(2, "readers")
    assert they.last()[1][3] == "read_committed"


def test_a_consumer_that_crashes_is_not_shown_any_more(they: Fixture) -> None:
    they.clients.join(1, "readers")
    they.clients.figures.assigned("consumer-1", [0])
    they.clients.crash("consumer-1")
    they.clients.crash("consumer-1")
    assert they.processes["consumer-1"].ends == ["kill -9"]
    assert they.clients.as_json()["consumers"] == {}


def test_a_transaction_begins_with_a_producer_of_its_own(they: Fixture) -> None:
    they.clients.transact("commit", 0, 3)
    assert len(they.started) == 1
    they.clients.transact("begin", 6, 3)
    they.clients.transact("commit", 0, 3)
    assert they.last() == ("transaction_program:transactional_producer", ("demo", 3, they.clients.transaction))
    assert they.processes["transaction"].put == [("begin", 6), ("commit", 0)]
    they.clients.transaction.transaction("open")
    they.clients.crash("transaction")
    assert they.clients.as_json()["transaction"] == {"state": "no producer", "records": 0}


def test_word_count_has_its_topics_before_anything_else(they: Fixture) -> None:
    they.clients.write_lines(5)
    they.clients.open(1)
    they.clients.open(1)
    they.clients.write_lines(5)
    assert they.operated == [("create_topic", topic, 2, 3, {}) for topic in ("text", "word-counts")]
    figures = they.clients.word_count
    assert they.started[1:] == [
        ("word_count_program:writer", (0, 5, figures)),
        ("word_count_program:instance", ("instance-1", "/machine/streams", figures)),
        ("word_count_program:writer", (5, 5, figures)),
    ]
    assert list(they.clients.as_json()["word_count"]["instances"]) == ["instance-1"]
    they.clients.close(1)
    assert they.clients.as_json()["word_count"]["instances"] == {}


@pytest.mark.parametrize("way", ["close", "crash"])
def test_an_instance_that_has_ended_by_itself_can_be_forgotten_and_started_again(they: Fixture, way: str) -> None:
    they.clients.open(1)
    they.processes["instance-1"].is_running = False
    assert list(they.clients.as_json()["word_count"]["instances"]) == ["instance-1"]
    (they.clients.close(1) if way == "close" else they.clients.crash("instance-1"))
    assert they.processes["instance-1"].ends == []
    assert they.clients.as_json()["word_count"]["instances"] == {}
    they.clients.open(1)
    assert they.processes["instance-1"].is_running


def test_there_are_five_consumers_and_two_instances(they: Fixture) -> None:
    with pytest.raises(ValueError, match="no consumer 6"):
        they.clients.join(6, "readers")
    with pytest.raises(ValueError, match="no instance 3"):
        they.clients.close(3)
