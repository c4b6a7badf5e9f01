"""How data is lost: one record, two histories, and every setting of acks, min.insync.replicas and unclean elections.

Each cell of the table is a run of three real brokers without threads (``ReplicasByHand``). Book 6.4.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from chapters.ch06_storage.figures.replica_drawings import film, played
from kafka_learn.recording.replicas_by_hand import PARKED, Produced, ReplicasByHand
from kafka_lite.common.errors import Errors
from kafka_lite.controller.partition_leader_selector import NoReplicaOnlineError

VALUE = "x"
LAG_S = 11
"""More than replica.lag.time.max.ms."""
_ROUNDS = 3


class Outcome(Enum):
    """The fate of a record."""

    KEPT = "kept"
    LOST = "lost"
    """Its producer was told that it is written, and no leader has it any more."""
    REFUSED = "refused"
    """Its producer got NOT_ENOUGH_REPLICAS, and can send it again."""
    AWAY = "away"
    """The partition has no leader until the broker that has the record comes back."""


@dataclass(frozen=True)
class Setting:
    """Of the producer (``acks``), the topic (``min_insync_replicas``), and the cluster."""

    acks: int
    min_insync_replicas: int
    unclean: bool = False


History = Callable[[ReplicasByHand, Setting], Produced]


def leader_dies(replicas: ReplicasByHand, setting: Setting) -> Produced:
    """All are in sync. The leader dies right after it has responded, before any follower fetches for itself."""
    return _answered(replicas, setting)


def isr_had_shrunk(replicas: ReplicasByHand, setting: Setting) -> Produced:
    """Both followers lag for too long and leave the ISR. Then the record comes, and the leader dies."""
    replicas.produce("a", acks=1)
    replicas.advance(LAG_S)
    return _answered(replicas, setting)


def _answered(replicas: ReplicasByHand, setting: Setting) -> Produced:
    """Send the record. If the leader waits for its followers, let them fetch until it responds."""
    produced = replicas.produce(VALUE, acks=setting.acks)
    for _ in range(_ROUNDS):
        if produced.response == PARKED:
            for follower in (2, 3):
                replicas.fetch(follower)
    return produced


def _follow(replicas: ReplicasByHand, leader: int) -> None:
    """Let the others fetch from the new leader, which then knows that what it has is committed."""
    for _ in range(_ROUNDS):
        for follower in replicas.live:
            if follower != leader:
                replicas.fetch(follower)


@functools.cache
def outcome(history: History, setting: Setting) -> Outcome:
    """Play a history with brokers of this setting, then let the leader die and another one be elected."""
    with ReplicasByHand(min_insync_replicas=setting.min_insync_replicas) as replicas:
        replicas.lead(1)
        _follow(replicas, 1)
        produced = history(replicas, setting)
        if produced.response == Errors.NOT_ENOUGH_REPLICAS.name:
            return Outcome.REFUSED
        replicas.kill(1)
        try:
            leader = replicas.elect(unclean=setting.unclean)
        except NoReplicaOnlineError:
            return Outcome.AWAY
        _follow(replicas, leader)
        return Outcome.KEPT if VALUE in replicas.consume() else Outcome.LOST


# -- one of the runs -------------------------------------------------------------------------------------------------


def acknowledged_by_one(replicas: ReplicasByHand) -> None:
    """The history with a shrunk ISR and an unclean election, from the moment when all are in sync."""
    replicas.lead(1)
    _follow(replicas, 1)
    del replicas.film[:-1]
    replicas.film[0] = replace(replicas.film[0], step="begin")
    isr_had_shrunk(replicas, Setting(-1, 1))
    replicas.kill(1)
    _follow(replicas, replicas.elect(unclean=True))


def loss_figure(language: str) -> str:
    """The film of it."""
    return film(played(acknowledged_by_one), language=language).svg()


# -- the table -------------------------------------------------------------------------------------------------------

COLUMNS: tuple[tuple[History, bool], ...] = ((leader_dies, False), (isr_had_shrunk, False), (isr_had_shrunk, True))
"""A history, and whether an unclean election is allowed."""
_WORDS = {
    "en": {
        "head": (
            "| acks | min.insync.replicas | all in sync, the leader dies | the ISR had shrunk, the leader dies "
            "| the same, unclean election |"
        ),
        Outcome.KEPT: "kept", Outcome.LOST: "**lost**", Outcome.REFUSED: "refused", Outcome.AWAY: "no leader",
    },
    "zh": {
        "head": (
            "| acks | min.insync.replicas | 全部同步，主副本崩溃 | ISR 先收缩，主副本再崩溃 | 同上，允许不干净的选举 |"
        ),
        Outcome.KEPT: "保住", Outcome.LOST: "**丢失**", Outcome.REFUSED: "拒绝", Outcome.AWAY: "没有主副本",
    },
}  # fmt: skip


def outcomes() -> dict[tuple[int, int], list[Outcome]]:
    """By acks and min.insync.replicas, the outcome in each column."""
    return {
        (acks, minimum): [outcome(history, Setting(acks, minimum, unclean)) for history, unclean in COLUMNS]
        for acks in (0, 1, -1)
        for minimum in (1, 2)
    }


def loss_table(language: str) -> str:
    """The outcomes as a Markdown table."""
    words = _WORDS[language]
    rows = [str(words["head"]), "|---" * (len(COLUMNS) + 2) + "|"]
    for (acks, minimum), found in outcomes().items():
        shown = "all" if acks == -1 else str(acks)
        rows.append(f"| `{shown}` | {minimum} | {' | '.join(str(words[each]) for each in found)} |")
    return "\n".join(rows) + "\n"
