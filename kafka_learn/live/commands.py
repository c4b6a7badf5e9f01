"""Commands of a live cluster's reader, each with its arguments, as text and as JSON.

Not in Kafka. Text is what a link has, so that somebody else sees the same run::

    2.50:kill:1,6.00:start:1,9.20:produce:10:all        after so many simulated seconds: command and arguments
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

BROKER, MACHINE, COUNT, ACKS = "broker", "machine", "count", "acks"
CONSUMER, SETTING, VALUE = "consumer", "setting", "value"
PARTITIONS, REPLICAS = "number of partitions", "number of replicas"
RECORDS, LINES, ISOLATION, INSTANCE, CLIENT = "number of records", "number of lines", "isolation", "instance", "client"
"""The kinds of arguments."""

ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "kill": (BROKER,),
    "stop": (BROKER,),
    "pause": (BROKER,),
    "resume": (BROKER,),
    "start": (BROKER,),
    "cut": (MACHINE, MACHINE),
    "heal": (MACHINE, MACHINE),
    "produce": (COUNT, ACKS),
    "join": (CONSUMER,),
    "leave": (CONSUMER,),
    "alter": (SETTING, VALUE),
    "partitions": (PARTITIONS,),
    "replicas": (REPLICAS,),
    "isolation": (ISOLATION,),
    "begin": (RECORDS,),
    "commit": (),
    "abort": (),
    "open": (INSTANCE,),
    "close": (INSTANCE,),
    "lines": (LINES,),
    "crash": (CLIENT,),
}
"""Name of a command -> its arguments."""
MOST_RECORDS: Final = 1000
"""How many records one command produces at most."""
CONSUMERS: Final = 5
"""Consumers are numbered from 1 to this."""
MOST_PARTITIONS: Final = 9
"""How many partitions the topic gets at most."""
MOST_IN_TRANSACTION, MOST_LINES = 100, 100
"""Records of a transaction that one command sends at most, and lines of text."""
INSTANCES: Final = 2
"""Instances of word count are numbered from 1 to this."""
TRANSACTION: Final = "transaction"
"""The transactional producer, among the clients that can crash."""
READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
SETTINGS: Final = ("min.insync.replicas", "unclean.leader.election.enable")
"""Settings of the topic that can be altered."""


@dataclass(frozen=True)
class Command:
    """A command that a live cluster can carry out."""

    name: str
    arguments: tuple[str, ...] = ()

    def number(self, position: int = 0) -> int:
        """An argument that is a number."""
        return int(self.arguments[position])

    def __str__(self) -> str:
        return ":".join((self.name, *self.arguments))


def command(words: Sequence[object], brokers: int, machines: Sequence[str]) -> Command:
    """The command of these words, for a cluster of so many brokers. Raises ValueError if there is none."""
    if not words:
        raise ValueError("no command")
    name, arguments = str(words[0]), tuple(str(word) for word in words[1:])
    if name not in ARGUMENTS:
        raise ValueError(f"unknown command {name!r}; known: {', '.join(ARGUMENTS)}")
    if len(arguments) != len(ARGUMENTS[name]):
        raise ValueError(f"{name} takes {len(ARGUMENTS[name])} arguments, not {len(arguments)}")
    allowed = {
        BROKER: map(str, range(brokers)), MACHINE: machines, ACKS: ("0", "1", "all"), SETTING: SETTINGS,
        COUNT: map(str, range(1, MOST_RECORDS + 1)), CONSUMER: map(str, range(1, CONSUMERS + 1)),
        VALUE: ("1", "2", "3", "true", "false"), REPLICAS: map(str, range(1, brokers + 1)),
        PARTITIONS: map(str, range(1, MOST_PARTITIONS + 1)), RECORDS: map(str, range(1, MOST_IN_TRANSACTION + 1)),
        LINES: map(str, range(1, MOST_LINES + 1)), ISOLATION: (READ_UNCOMMITTED, READ_COMMITTED),
        INSTANCE: map(str, range(1, INSTANCES + 1)), CLIENT: _clients(),
    }  # fmt: skip
    for kind, argument in zip(ARGUMENTS[name], arguments, strict=True):
        if argument not in allowed[kind]:
            raise ValueError(f"{name}: {argument!r} is no {kind}")
    return Command(name, arguments)


def _clients() -> list[str]:
    """The clients that can crash."""
    consumers = [f"consumer-{number}" for number in range(1, CONSUMERS + 1)]
    return [*consumers, TRANSACTION, *(f"instance-{number}" for number in range(1, INSTANCES + 1))]


@dataclass(frozen=True)
class Action:
    """A command at a time of the world."""

    at_ns: int
    command: Command


def as_text(actions: Iterable[Action]) -> str:
    """The actions in one word of a link."""
    return ",".join(f"{_seconds(action.at_ns)}:{action.command}" for action in actions)


def _seconds(time_ns: int) -> str:
    """All digits: an action a nanosecond later may be another run."""
    return f"{time_ns // 10**9}.{time_ns % 10**9:09}".rstrip("0").rstrip(".")


def actions_of(text: str, brokers: int, machines: Sequence[str]) -> list[Action]:
    """The actions of a link. Raises ValueError if it is damaged."""
    actions = []
    for item in filter(None, text.split(",")):
        seconds, *words = item.split(":")
        actions.append(Action(round(float(seconds) * 1e9), command(words, brokers, machines)))
    return actions
