"""The faults of a run: a list that is drawn from the seed before the run begins.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from random import Random
from typing import Final, NamedTuple


class Kind(Enum):
    """A kind of fault of brokers and their clients. The value describes it."""

    KILL = "kill -9 of the broker"
    STOP = "clean stop of the broker"
    POWER = "power failure of the broker's machine"
    PAUSE = "pause of the broker"
    RESET = "reset of connections"
    CUT = "cut between clients and broker"
    CUT_REQUESTS = "one-way cut to the broker"
    CUT_RESPONSES = "one-way cut from the broker"
    SLOW = "slow link"
    REFUSE = "refused connections"
    KILL_CONSUMER = "kill -9 of a consumer"
    PAUSE_CONSUMER = "pause of a consumer"
    JUMP = "jump of the broker's wall clock"
    JUMP_CLIENTS = "jump of the clients' wall clock"
    FULL = "full disk"
    EIO = "failing disk"
    KILL_CONTROLLER = "kill -9 of the controller"
    CUT_PAIR = "cut between a broker and another machine"
    CUT_ZOOKEEPER = "cut between a broker and ZooKeeper"
    KILL_ZOOKEEPER = "kill -9 of ZooKeeper"
    FLIP = "flipped bit on a broker's disk"
    DESCRIPTORS = "a broker that opens no more files or connections"
    MEMORY = "a broker that gets no large blocks of memory"
    CUT_WORKER = "cut between a worker of Connect and the broker"
    CUT_WORKERS = "cut between two workers of Connect"
    FAIL_TASK = "failure of a task of Connect"
    KILL_MIRRORS = "kill -9 of all mirrors, whose copies are not acknowledged"


SCARCE: Final = (Kind.DESCRIPTORS, Kind.MEMORY)
"""Faults in which a broker runs out of a resource."""
WORKERS: Final = (Kind.CUT_WORKER, Kind.CUT_WORKERS, Kind.FAIL_TASK)
"""Faults that only a group of Connect's workers suffers."""
CLUSTER: Final = tuple(kind for kind in Kind if kind not in (Kind.FLIP, *SCARCE, *WORKERS, Kind.KILL_MIRRORS))
"""The faults of a cluster."""
SCARCITY: Final = (*CLUSTER, *SCARCE)
"""The same, and brokers run out of descriptors and memory."""
DAMAGING: Final = (*CLUSTER, Kind.FLIP)
"""The same, and bits of its replicas flip."""
ONE_BROKER: Final = CLUSTER[: CLUSTER.index(Kind.KILL_CONTROLLER)]
"""The faults of a single broker."""
SCARCITY_OF_ONE_BROKER: Final = (*ONE_BROKER, *SCARCE)
"""The same, and it runs out of descriptors and memory."""

CONNECT: Final = (*WORKERS, Kind.KILL, Kind.STOP, Kind.PAUSE, Kind.RESET, Kind.KILL_CONSUMER, Kind.PAUSE_CONSUMER)
"""The faults of one broker with a group of workers. A consumer is a worker here."""
MIRRORS: Final = (*ONE_BROKER, Kind.KILL_MIRRORS)
"""The faults of two single brokers, and of the mirrors between them. A consumer is a mirror here."""
HELIX: Final = (
    Kind.KILL_ZOOKEEPER, Kind.CUT_ZOOKEEPER, Kind.CUT_REQUESTS, Kind.CUT_RESPONSES, Kind.RESET, Kind.KILL_CONSUMER,
    Kind.PAUSE_CONSUMER, Kind.JUMP_CLIENTS,
)  # fmt: skip
"""The faults of a cluster of Helix. A consumer, and a broker that is cut off, is a controller or a participant here."""

LONGEST_S: Final[Mapping[Kind, float]] = {
    Kind.KILL: 8, Kind.STOP: 8, Kind.POWER: 8, Kind.PAUSE: 20, Kind.RESET: 1, Kind.CUT: 30, Kind.CUT_REQUESTS: 30,
    Kind.CUT_RESPONSES: 30, Kind.SLOW: 20, Kind.REFUSE: 10, Kind.KILL_CONSUMER: 5, Kind.PAUSE_CONSUMER: 30,
    Kind.JUMP: 1, Kind.JUMP_CLIENTS: 1, Kind.FULL: 10, Kind.EIO: 10, Kind.KILL_CONTROLLER: 15, Kind.CUT_PAIR: 30,
    Kind.CUT_ZOOKEEPER: 20, Kind.KILL_ZOOKEEPER: 10, Kind.FLIP: 40,
    Kind.DESCRIPTORS: 30, Kind.MEMORY: 60, Kind.CUT_WORKER: 20, Kind.CUT_WORKERS: 20, Kind.FAIL_TASK: 1,
    Kind.KILL_MIRRORS: 12,
}  # fmt: skip
"""How long each lasts at most."""
WEIGHTS: Final[Mapping[Kind, int]] = {
    Kind.KILL: 6, Kind.STOP: 2, Kind.POWER: 4, Kind.PAUSE: 2, Kind.RESET: 6, Kind.CUT: 2, Kind.CUT_REQUESTS: 2,
    Kind.CUT_RESPONSES: 2, Kind.SLOW: 2, Kind.REFUSE: 1, Kind.KILL_CONSUMER: 3, Kind.PAUSE_CONSUMER: 2, Kind.JUMP: 1,
    Kind.JUMP_CLIENTS: 1, Kind.FULL: 1, Kind.EIO: 1, Kind.KILL_CONTROLLER: 4, Kind.CUT_PAIR: 6, Kind.CUT_ZOOKEEPER: 4,
    Kind.KILL_ZOOKEEPER: 2, Kind.FLIP: 4, Kind.DESCRIPTORS: 12, Kind.MEMORY: 24,
    Kind.CUT_WORKER: 3, Kind.CUT_WORKERS: 2, Kind.FAIL_TASK: 3,
    Kind.KILL_MIRRORS: 3,
}  # fmt: skip
"""How often each is drawn."""


class Fault(NamedTuple):
    """One thing that goes wrong. The next one begins ``after_s`` after its end."""

    kind: Kind
    duration_s: float
    after_s: float
    amount: float
    """Between 0 and 1: which consumer, what share of the connections, how slow, how far, how much room."""

    def __str__(self) -> str:
        return f"{self.kind.value} for {self.duration_s:.2f} s ({self.amount:.2f})"


def draw_faults(
    random: Random, kinds: Sequence[Kind] = ONE_BROKER, most: int = 6, shortness: float = 3.0
) -> list[Fault]:
    """The faults of a run. Some runs have few kinds of them, so that one kind can be met often.

    The higher ``shortness`` is, the more of them are much shorter than the longest; 1.0: all durations are as likely.
    """
    if random.random() < 0.5:
        kinds = random.sample(kinds, random.randint(1, min(4, len(kinds))))
    weights = [WEIGHTS[kind] for kind in kinds]
    return [_draw(random, random.choices(kinds, weights)[0], shortness) for _ in range(random.randint(1, most))]


def _draw(random: Random, kind: Kind, shortness: float) -> Fault:
    duration_s = LONGEST_S[kind] * random.random() ** shortness
    return Fault(kind, duration_s, random.expovariate(0.4), random.random())
