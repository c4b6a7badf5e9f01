"""A history that is written by several processes, each to a file of its own.

Not in Kafka. An event is a line of JSON, written before the client continues, so it outlives a kill -9 of the client::

    ["send", "producer-1", "orders", 0, "producer-1-17", null]
    ["acknowledge", "producer-1-17", 4711]
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from kafka_lite.testing.history.history import Commit, CommittedRead, History, Place, Polled, Sent
from kafka_lite.testing.history.transactions import Initialization, Outcome, Transaction


class HistoryWriter(History):
    """The events of one client. They go to the file only, and take their order from the system's monotonic clock."""

    is_sending_over = False

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def now(self) -> int:
        """Nanoseconds of the clock that all processes of a machine share."""
        return time.monotonic_ns()

    def end(self) -> None:
        """The client is asked to end."""
        self.is_over = self.is_sending_over = True

    def send(self, producer: str, topic: str, partition: int, value: str, key: str | None = None) -> Sent:
        """A record was handed to a producer."""
        sent = Sent(producer, topic, partition, value, key)
        self._write("send", *sent)
        return sent

    def acknowledge(self, record: Sent, offset: int) -> None:
        """The producer was told that the record is stored."""
        self._write("acknowledge", record.value, offset)

    def fail(self, record: Sent, error: str) -> None:
        """It was told that it does not know."""
        self._write("fail", record.value, error)

    def poll(self, consumer: str, assignment: int, topic: str, partition: int, offset: int, value: str | None) -> None:
        """A consumer got a record."""
        self._write("poll", consumer, assignment, topic, partition, offset, value, self.now())

    def assign(self, group: str, generation: int, member: str, partitions: Iterable[tuple[str, int]]) -> None:
        """A member of a group was assigned partitions."""
        self._write("assign", group, generation, member, [[topic, number] for topic, number in partitions])

    def begin_commit(self, group: str, offsets: Mapping[tuple[str, int], int], generation: int = -1) -> list[Commit]:
        """A member of a group is about to commit offsets."""
        began = self.now()
        commits = [Commit(group, topic, number, offset, began) for (topic, number), offset in offsets.items()]
        self._write(
            "begin_commit", group, began, [[each.topic, each.partition, each.offset] for each in commits], generation
        )
        return commits

    def end_commit(self, commits: Iterable[Commit]) -> None:
        """The broker said that these commits have succeeded."""
        self._write("end_commit", next(commit.began for commit in commits), self.now())

    def read_committed(self, group: str, topic: str, partition: int, offset: int | None, began: int) -> None:
        """The broker returned a committed offset."""
        self._write("read_committed", group, topic, partition, offset, began, self.now())

    def begin_initialization(self, transactional_id: str, producer: str) -> Initialization:
        """A producer is about to initialize its transactional id."""
        initialization = Initialization(transactional_id, producer, self.now())
        self._write("begin_initialization", transactional_id, producer, initialization.began)
        return initialization

    def end_initialization(self, initialization: Initialization) -> None:
        """``init_transactions`` has returned."""
        self._write("end_initialization", initialization.producer, self.now())

    def begin_transaction(self, initialization: Initialization, name: str) -> Transaction:
        """A producer has begun a transaction."""
        self._write("begin_transaction", initialization.producer, name)
        return Transaction(name, initialization)

    def send_in(self, transaction: Transaction, topic: str, partition: int, value: str, key: str | None = None) -> Sent:
        """A record of a transaction was handed to a producer."""
        sent = Sent(transaction.initialization.producer, topic, partition, value, key)
        self._write("send_in", transaction.name, *sent[1:])
        return sent

    def begin_to_commit(self, transaction: Transaction) -> None:
        """The producer is about to ask for the commit."""
        self._write("begin_to_commit", transaction.name, self.now())

    def end_transaction(self, transaction: Transaction, outcome: Outcome) -> None:
        """The producer was told what has become of the transaction."""
        self._write("end_transaction", transaction.name, outcome.value)

    def _write(self, *event: Any) -> None:
        os.write(self._file, (json.dumps(event) + "\n").encode())


class HistoryFile:
    """Reads the file of one client into a history that others are read into as well."""

    def __init__(self, path: Path, history: History) -> None:
        self._path = path
        self._history = history
        self._position = 0
        self._sent: dict[str, Sent] = {}
        self._commits: dict[int, list[Commit]] = {}
        self._initializations: dict[str, Initialization] = {}
        self._transactions: dict[str, Transaction] = {}
        self.progress = 0
        """How many records the client was told to be stored, or got."""

    def read(self) -> None:
        """Read what has been added. A last line without an end is left for the next time."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            lines = file.read()
        complete = lines[: lines.rfind(b"\n") + 1]
        self._position += len(complete)
        for line in complete.splitlines():
            self._apply(*json.loads(line))

    def _apply(self, name: str, *event: Any) -> None:
        history = self._history
        if name == "send":
            sent = history.send(*event)
            self._sent[sent.value] = sent
        elif name == "acknowledge":
            self.progress += 1
            history.acknowledge(self._sent[event[0]], event[1])
        elif name == "fail":
            history.fail(self._sent[event[0]], event[1])
        elif name == "poll":
            self.progress += 1
            consumer, assignment, topic, number, offset, value, moment = event
            history.polled.append(Polled(consumer, assignment, Place(topic, number, offset), value, moment))
        elif name == "assign":
            group, generation, member, partitions = event
            history.assign(group, generation, member, [(topic, number) for topic, number in partitions])
        elif name == "begin_commit":
            group, began, offsets, _ = event
            self._commits[began] = [Commit(group, topic, number, offset, began) for topic, number, offset in offsets]
            history.commits += self._commits[began]
        elif name == "end_commit":
            began, ended = event
            for commit in self._commits[began]:
                commit.ended = ended
        elif name == "read_committed":
            history.committed_reads.append(CommittedRead(*event))
        elif name in _OF_TRANSACTIONS:
            _OF_TRANSACTIONS[name](self, *event)
        else:
            raise ValueError(f"{self._path} has an unknown event {name!r}")

    def _begin_initialization(self, transactional_id: str, producer: str, began: int) -> None:
        initialization = self._history.begin_initialization(transactional_id, producer)
        initialization.began = began
        self._initializations[producer] = initialization

    def _end_initialization(self, producer: str, ended: int) -> None:
        self._initializations[producer].ended = ended

    def _begin_transaction(self, producer: str, name: str) -> None:
        self._transactions[name] = self._history.begin_transaction(self._initializations[producer], name)

    def _send_in(self, name: str, topic: str, partition: int, value: str, key: str | None) -> None:
        self._sent[value] = self._history.send_in(self._transactions[name], topic, partition, value, key)

    def _begin_to_commit(self, name: str, moment: int) -> None:
        self._transactions[name].commit_began = moment

    def _end_transaction(self, name: str, outcome: str) -> None:
        self._history.end_transaction(self._transactions[name], Outcome(outcome))


_OF_TRANSACTIONS: Final[dict[str, Callable[..., None]]] = {
    "begin_initialization": HistoryFile._begin_initialization,
    "end_initialization": HistoryFile._end_initialization,
    "begin_transaction": HistoryFile._begin_transaction,
    "send_in": HistoryFile._send_in,
    "begin_to_commit": HistoryFile._begin_to_commit,
    "end_transaction": HistoryFile._end_transaction,
}
