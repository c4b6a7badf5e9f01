"""The ISR beside a majority quorum: what survives, and what a write waits for. Both are run. Book 1.3.3.

The ISR is that of real brokers without threads (``ReplicasByHand``). Kafka has no majority quorum for records, so
``MajorityQuorum`` is a small one: a write counts when more than half have it, and an election needs the votes of more
than half, since only they are sure to include one that has it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from kafka_learn.recording.replicas_by_hand import PARKED, ReplicasByHand
from kafka_lite.controller.partition_leader_selector import NoReplicaOnlineError

SIZES = (1, 2, 3, 5)
SLOW = 3
"""The broker that fetches nothing."""
LAG_S = 11
"""More than replica.lag.time.max.ms."""
_WORDS = {
    "en": {
        "head": "| replicas | failures survived by the ISR | by a majority |",
        "slow": "| 3 replicas, one is slow | ISR | majority |",
        "at once": "committed at once", "waits": "waits", "later": "after the slow one has left the ISR",
        "write": "a record is on two of three", "lag": "11 s later",
        "dies": "the leader dies now", "kept": "kept", "none": "no leader",
    },
    "zh": {
        "head": "| 副本 | ISR 经得起几个故障 | 多数经得起几个 |",
        "slow": "| 3 个副本，一个很慢 | ISR | 多数 |",
        "at once": "立即提交", "waits": "等待", "later": "慢的离开 ISR 之后提交",
        "write": "三个副本中两个有记录", "lag": "11 秒后",
        "dies": "这时主副本崩溃", "kept": "保住", "none": "没有主副本",
    },
}  # fmt: skip


@dataclass
class MajorityQuorum:
    """Logs of which the one with the most records, among a majority, is right. The first leads at the beginning."""

    size: int
    alive: set[int] = field(default_factory=set)
    logs: list[list[str]] = field(default_factory=list)
    leader: int | None = 0

    def __post_init__(self) -> None:
        self.alive = set(range(self.size))
        self.logs = [[] for _ in range(self.size)]

    @property
    def has_majority(self) -> bool:
        """Whether more than half are alive."""
        return 2 * len(self.alive) > self.size

    def write(self, value: str, reaches: set[int]) -> bool:
        """Append at these replicas, of those that are alive; whether that commits the value."""
        reached = reaches & self.alive
        for number in reached:
            self.logs[number].append(value)
        return 2 * len(reached) > self.size

    def kill(self, number: int) -> None:
        """A replica dies, and no longer leads."""
        self.alive.discard(number)
        if self.leader == number:
            self.leader = None

    def elect(self) -> int | None:
        """The voter with the longest log leads; None, and nobody leads, without a majority."""
        self.leader = max(self.alive, key=lambda number: len(self.logs[number])) if self.has_majority else None
        return self.leader


@functools.cache
def isr_survives(size: int, failures: int) -> bool:
    """Whether a record that all of the ISR have can still be read after so many brokers died, the leaders first."""
    with ReplicasByHand(brokers=size) as replicas:
        replicas.lead(1)
        produced = replicas.produce("x")
        for _ in range(2):
            for follower in range(2, size + 1):
                replicas.fetch(follower)
        assert produced.response != PARKED
        for number in range(1, failures + 1):
            replicas.kill(number)
        try:
            leader = replicas.elect()
        except NoReplicaOnlineError:
            return False
        for _ in range(2):
            for follower in range(leader + 1, size + 1):
                replicas.fetch(follower)
        return replicas.consume() == ["x"]


def majority_survives(size: int, failures: int) -> bool:
    """The same of a majority quorum: the dead are those that have the record."""
    quorum = MajorityQuorum(size)
    assert quorum.write("x", set(range(size // 2 + 1)))
    for number in range(failures):
        quorum.kill(number)
    leader = quorum.elect()
    return leader is not None and quorum.logs[leader] == ["x"]


def survived(size: int) -> tuple[int, int]:
    """The number of failures that a record on so many replicas survives: with the ISR, with a majority."""
    isr = sum(isr_survives(size, failures) for failures in range(1, size))
    return isr, sum(majority_survives(size, failures) for failures in range(1, size))


def survival_table(language: str) -> str:
    """Failures survived, by the number of replicas."""
    rows = [_WORDS[language]["head"], "|---|---|---|"]
    rows += [f"| {size} | {' | '.join(map(str, survived(size)))} |" for size in SIZES]
    return "\n".join(rows) + "\n"


def slow_replica() -> list[tuple[str, str, str]]:
    """A record reaches two of three replicas: the state of both designs at once, later, and after the leader's death.

    The words are keys of the page's words.
    """
    quorum = MajorityQuorum(3)
    majority = "at once" if quorum.write("x", {0, 1}) else "waits"
    with ReplicasByHand() as replicas:
        replicas.lead(1)
        produced = replicas.produce("x")
        for _ in range(2):
            replicas.fetch(2)
        first = "waits" if produced.response == PARKED else "at once"
        replicas.advance(LAG_S)
        second = "waits" if produced.response == PARKED else "later"
        replicas.kill(1)
        leader = replicas.elect()
        for _ in range(2):
            replicas.fetch(SLOW)
        isr_end = "kept" if leader == 2 and replicas.consume() == ["x"] else "none"
    quorum.kill(0)
    voted = quorum.elect()
    majority_end = "kept" if voted is not None and quorum.logs[voted] == ["x"] else "none"
    return [("write", first, majority), ("lag", second, majority), ("dies", isr_end, majority_end)]


def slow_table(language: str) -> str:
    """The costs of a slow replica."""
    words = _WORDS[language]
    rows = [words["slow"], "|---|---|---|"]
    rows += [f"| {words[step]} | {words[isr]} | {words[majority]} |" for step, isr, majority in slow_replica()]
    return "\n".join(rows) + "\n"
