"""Operations on the topic that a reader asks for, one after the other: settings, partitions, replicas.

Not in Kafka. A broker that changes one setting reads all of them and writes all of them, as Kafka's does: of two
changes at once, one could be lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from kafka_learn.live.commands import Command
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.world import World

PROGRAMS: Final = {"alter": "set_topic_config", "partitions": "create_partitions", "replicas": "add_replicas"}
"""Name of a command -> the operator's program that carries it out; it takes the topic and the command's arguments."""
LOOKS_S: Final = 0.05
"""How often it is looked whether a program has ended, in simulated seconds."""


class Operations:
    """``start`` starts an operator's program with these arguments, from inside the world; ``note`` tells its end.

    A program whose brokers are all down tries until one is there.
    """

    def __init__(self, world: World, start: Callable[..., Process], note: Callable[[str], None]) -> None:
        self._world = world
        self._start = start
        self._note = note
        self._waiting: deque[Command] = deque()
        """The first of them is being carried out."""

    def add(self, wanted: Command, topic: str) -> None:
        """Carry out a command of ``PROGRAMS`` after those that were added before. Does not wait."""
        self._waiting.append(wanted)
        if len(self._waiting) == 1:
            self._world.in_background("operator", lambda: self._carry_out_all(topic))

    def _carry_out_all(self, topic: str) -> None:
        while self._waiting:
            wanted = self._waiting[0]
            arguments = wanted.arguments if wanted.name == "alter" else (wanted.number(),)
            process = self._start(PROGRAMS[wanted.name], topic, *arguments)
            while process.is_running:
                self._world.sleep(LOOKS_S)
            self._note(f"{wanted.name} {' '.join(wanted.arguments)}: {'failed' if process.exit_code else 'done'}")
            self._waiting.popleft()
