"""The faults of a run of ``make chaos``, drawn from its seed, one after the other.

Kafka has no such thing; its system tests (tests/kafkatest/services) have one test per fault.
"""

from __future__ import annotations

import itertools
import resource
from collections.abc import Iterator, Sequence
from enum import Enum
from random import Random
from typing import Final, NamedTuple


class Kind(Enum):
    """A kind of fault. The value describes it."""

    KILL = "kill -9 of a broker"
    STOP = "clean restart of a broker"
    KILL_CONTROLLER = "kill -9 of the controller"
    PAUSE = "pause of a broker (SIGSTOP)"
    LOSE_DISK = "broker with an empty disk"
    FULL_DISK = "full disk of a broker"
    CUT_BROKERS = "cut between two brokers"
    CUT_BROKERS_ONE_WAY = "one-way cut between two brokers"
    ISOLATE = "broker cut off from all others"
    CUT_ZOOKEEPER = "broker cut off from ZooKeeper"
    CUT_ZOOKEEPER_ONE_WAY = "one-way cut from a broker to ZooKeeper"
    CUT_CLIENTS = "clients cut off from a broker"
    RESET = "reset of a broker's connections"
    SLOW = "slow follower"
    EXPIRE_SESSION = "expired session of a broker"
    KILL_ZOOKEEPER = "kill -9 of ZooKeeper"
    STOP_ZOOKEEPER = "clean restart of ZooKeeper"
    KILL_CONSUMER = "kill -9 of a consumer"
    PAUSE_CONSUMER = "pause of a consumer (SIGSTOP)"
    KILL_PRODUCER = "kill -9 of a producer"
    REASSIGN = "reassignment of a partition"


class Odds(NamedTuple):
    """How often a kind of fault is drawn, and how long it lasts at most."""

    weight: int
    longest_s: float


ODDS: Final = {
    Kind.KILL: Odds(6, 10), Kind.STOP: Odds(4, 6), Kind.KILL_CONTROLLER: Odds(4, 10), Kind.PAUSE: Odds(4, 15),
    Kind.LOSE_DISK: Odds(1, 3), Kind.FULL_DISK: Odds(2, 8), Kind.CUT_BROKERS: Odds(3, 15),
    Kind.CUT_BROKERS_ONE_WAY: Odds(3, 15), Kind.ISOLATE: Odds(2, 12), Kind.CUT_ZOOKEEPER: Odds(3, 12),
    Kind.CUT_ZOOKEEPER_ONE_WAY: Odds(3, 12), Kind.CUT_CLIENTS: Odds(2, 10), Kind.RESET: Odds(3, 0.1),
    Kind.SLOW: Odds(3, 15), Kind.EXPIRE_SESSION: Odds(3, 0.1), Kind.KILL_ZOOKEEPER: Odds(2, 8),
    Kind.STOP_ZOOKEEPER: Odds(1, 5), Kind.KILL_CONSUMER: Odds(2, 3), Kind.PAUSE_CONSUMER: Odds(2, 15),
    Kind.KILL_PRODUCER: Odds(1, 2), Kind.REASSIGN: Odds(3, 0.1),
}  # fmt: skip
"""Longer than sessions and lagging followers are tolerated, if the draw is high."""
AFTER_S: Final = 4.0
"""The mean time between the beginnings of two faults."""


class Fault(NamedTuple):
    """One thing that goes wrong. The next one begins ``after_s`` after its beginning."""

    number: int
    kind: Kind
    duration_s: float
    after_s: float
    amount: float
    """Between 0 and 1: which broker, how slow, and so on."""

    def __str__(self) -> str:
        lasting = f" for {self.duration_s:.1f} s" if ODDS[self.kind].longest_s > 1 else ""
        return f"{self.kind.value}{lasting}"


def draw_faults(random: Random, kinds: Sequence[Kind] = tuple(Kind)) -> Iterator[Fault]:
    """The faults of a run, without end. Kinds that this system cannot produce are drawn, too, and left out."""
    weights = [ODDS[kind].weight for kind in kinds]
    for number in itertools.count(1):
        (kind,) = random.choices(kinds, weights)
        fault = Fault(
            number,
            kind,
            ODDS[kind].longest_s * random.uniform(0.1, 1),
            min(random.expovariate(1 / AFTER_S), 4 * AFTER_S),
            random.random(),
        )
        if kind is not Kind.FULL_DISK or CAN_FILL_DISKS:
            yield fault


CAN_FILL_DISKS: Final = hasattr(resource, "prlimit")
"""Whether the size of another process's files can be limited, as Linux can."""
