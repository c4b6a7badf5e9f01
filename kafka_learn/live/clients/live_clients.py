"""The reader's clients from outside: starts their programs in the world, gives them work, ends them.

Not in Kafka. What it is asked waits for as long as it takes, so each call needs a thread of the scenario of its own
(``World.in_background``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafka_learn.live.clients import transaction_program, word_count_program
from kafka_learn.live.clients.client_figures import ClientFigures
from kafka_learn.live.clients.transaction_figures import TransactionFigures
from kafka_learn.live.clients.word_count_figures import WordCountFigures
from kafka_learn.live.commands import CONSUMERS, INSTANCES, READ_UNCOMMITTED, TRANSACTION
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.world import World

PACKAGE: Final = "kafka_learn.live.clients."
PROGRAMS: Final = PACKAGE + "client_programs"
TRANSACTIONS: Final = PACKAGE + "transaction_program"
WORD_COUNT: Final = PACKAGE + "word_count_program"
REPLICAS: Final = 3
LOOKS_S: Final = 0.05
"""How often it is looked whether a program has ended, in simulated seconds. It may take long: brokers may be down."""


class LiveClients:
    """The clients of a topic. ``start`` starts a client's program, ``operate`` an operator's."""

    def __init__(
        self,
        world: World,
        topic: str,
        start: Callable[..., Process],
        operate: Callable[..., Process],
        note: Callable[[str], None],
    ) -> None:
        self._world = world
        self._topic = topic
        self._start = start
        self._operate = operate
        self.figures = ClientFigures(note)
        self.transaction = TransactionFigures(note)
        self.word_count = WordCountFigures(note)
        self.isolation = READ_UNCOMMITTED
        """The isolation level of consumers that join from now on."""
        self._processes: dict[str, Process] = {}
        self._lines = 0
        self._has_topics = self._creates_topics = False

    def _running(self, name: str) -> Process | None:
        process = self._processes.get(name)
        return process if process is not None and process.is_running else None

    def _run(self, program: str, *args: object, name: str) -> Process:
        process = self._processes[name] = self._start(program, *args, name=name)
        return process

    # ── producer and consumers ────────────────────────────────────────────────────────────────────────────────────

    def start_producer(self) -> None:
        """Start the producer, which waits for orders."""
        self._run(f"{PROGRAMS}:producer", self._topic, self.figures, name="producer")

    def produce(self, count: int, acks: str) -> None:
        """Send so many records."""
        programs = self._processes["producer"].module(PROGRAMS)
        programs.orders.put(programs.Order(count, acks))

    def join(self, number: int, group: str) -> None:
        """Start a consumer unless it runs."""
        name = consumer_name(number)
        if self._running(name) is None:
            options = (self._topic, group, name, self.isolation, self.figures)
            self._run(f"{PROGRAMS}:consumer", *options, name=name)

    def leave(self, number: int) -> None:
        """Let a consumer leave its group, and wait until it has ended."""
        self._end(consumer_name(number))

    # ── a transaction ─────────────────────────────────────────────────────────────────────────────────────────────

    def transact(self, name: str, records: int, partitions: int) -> None:
        """Take a step of the transaction: begin, and send so many records; commit; abort."""
        process = self._running(TRANSACTION)
        if process is None:
            if name != transaction_program.BEGIN:
                return
            options = (self._topic, partitions, self.transaction)
            process = self._run(f"{TRANSACTIONS}:transactional_producer", *options, name=TRANSACTION)
        programs = process.module(TRANSACTIONS)
        programs.steps.put(programs.Step(name, records))

    # ── word count ────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, number: int) -> None:
        """Start an instance of word count unless it runs."""
        self._need_topics()
        name = instance_name(number)
        if self._running(name) is None:
            self.word_count.began(name)
            self._run(f"{WORD_COUNT}:instance", name, str(self._folder), self.word_count, name=name)

    def close(self, number: int) -> None:
        """Let an instance end, and wait for it."""
        self._end(instance_name(number))

    def write_lines(self, count: int) -> None:
        """Write so many lines of text, and wait until they are in the log."""
        self._need_topics()
        first, self._lines = self._lines, self._lines + count
        self._await(self._start(f"{WORD_COUNT}:writer", first, count, self.word_count, name="writer"))

    @property
    def _folder(self) -> Any:
        return self._processes["producer"].machine.folder / "streams"

    def _need_topics(self) -> None:
        """Create the topics of word count if nobody has, and wait until they are there."""
        while self._creates_topics:
            self._world.sleep(LOOKS_S)
        if not self._has_topics:
            self._creates_topics = True
            for topic in (word_count_program.TEXT, word_count_program.COUNTS):
                self._await(self._operate("create_topic", topic, word_count_program.PARTITIONS, REPLICAS, {}))
            self._has_topics, self._creates_topics = True, False

    # ── the end of a client ───────────────────────────────────────────────────────────────────────────────────────

    def crash(self, name: str) -> None:
        """kill -9. One that has ended by itself is only forgotten."""
        if (process := self._running(name)) is not None:
            process.kill()
        self._ended(name)

    def _end(self, name: str) -> None:
        """SIGTERM, and wait. One that has ended by itself is only forgotten."""
        if (process := self._running(name)) is not None:
            process.stop()
            self._await(process)
        self._ended(name)

    def _await(self, process: Process) -> None:
        while process.is_running:
            self._world.sleep(LOOKS_S)

    def _ended(self, name: str) -> None:
        if name == TRANSACTION:
            self.transaction.ended()
        self.word_count.ended(name)
        self.figures.ended(name)

    def as_json(self) -> dict[str, Any]:
        """State of all of them, as a page shows it."""
        return {
            **self.figures.as_json(), "isolation": self.isolation, "transaction": self.transaction.as_json(),
            "word_count": self.word_count.as_json(),
        }  # fmt: skip


def consumer_name(number: int) -> str:
    """The name of a consumer's process. Raises ValueError for a number that there is not."""
    return _name("consumer", number, CONSUMERS)


def instance_name(number: int) -> str:
    """The name of an instance's process. Raises ValueError for a number that there is not."""
    return _name("instance", number, INSTANCES)


def _name(kind: str, number: int, most: int) -> str:
    if not 1 <= number <= most:
        raise ValueError(f"there is no {kind} {number}")
    return f"{kind}-{number}"
