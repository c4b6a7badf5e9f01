"""Figures of the controller: its state machines, and what the leader selectors choose. Book 7.1.4."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import partition_state_machine, replica_state_machine
from kafka_lite.controller.partition_leader_selector import (
    Election,
    StateChangeFailedError,
    select_controlled_shutdown_leader,
    select_offline_partition_leader,
)
from kafka_lite.zookeeper.data import LeaderAndIsr

ASSIGNMENT = (1, 2, 3)
_PARTITION = TopicPartition("demo", 0)
_EPOCH = 4
_WORDS = {
    "en": {
        "head": "what happens | ISR | alive | new leader | new ISR | may lose",
        "dies": "broker 1 dies", "unclean": "the same, unclean elections allowed", "stops": "broker 1 stops",
        "both stop": "brokers 1 and 2 stop", "none": "none", "nothing": "nothing",
        "loses": "what {} had not fetched", "waits": "nothing; it waits",
    },
    "zh": {
        "head": "发生了什么 | ISR | 活着的 | 新的主副本 | 新的 ISR | 可能丢失",
        "dies": "broker 1 崩溃", "unclean": "同上，允许不干净的选举", "stops": "broker 1 停止",
        "both stop": "broker 1 和 2 停止", "none": "没有", "nothing": "不丢失",
        "loses": "{} 没有拉取到的", "waits": "不丢失；等待",
    },
}  # fmt: skip


def partition_states(_language: str) -> str:
    """The state machine of a partition."""
    return draw_states(partition_state_machine.VALID_PREVIOUS_STATES).svg()


def replica_states(_language: str) -> str:
    """The state machine of a replica."""
    return draw_states(replica_state_machine.VALID_PREVIOUS_STATES).svg()


def elections(language: str) -> str:
    """A table of elections, each by the selector itself. The assignment is 1, 2, 3, and broker 1 led."""
    words = _WORDS[language]
    rows = [f"| {words['head']} |", "|---" * (words["head"].count("|") + 1) + "|"]
    for isr, live in (((1, 2, 3), (2, 3)), ((3, 1), (2, 3)), ((1,), (2, 3)), ((1,), ())):
        rows.append(_row(words, words["dies"], isr, live, _offline(isr, live, unclean=False)))
        if not set(isr) & set(live):
            rows.append(_row(words, words["unclean"], isr, live, _offline(isr, live, unclean=True)))
    for what, stopping in (("stops", (1,)), ("both stop", (1, 2))):
        isrs = ((1, 2, 3), (1, 2))
        rows += [_row(words, words[what], isr, ASSIGNMENT, _shutdown(isr, stopping)) for isr in isrs]
    return "\n".join(rows) + "\n"


def _offline(isr: Sequence[int], live: Sequence[int], *, unclean: bool) -> Election | None:
    current = LeaderAndIsr(1, list(isr), _EPOCH)
    try:
        return select_offline_partition_leader(_PARTITION, current, live, live, unclean)
    except StateChangeFailedError:
        return None


def _shutdown(isr: Sequence[int], stopping: Sequence[int]) -> Election | None:
    current = LeaderAndIsr(1, list(isr), _EPOCH)
    try:
        return select_controlled_shutdown_leader(_PARTITION, current, ASSIGNMENT, stopping)
    except StateChangeFailedError:
        return None


def _row(words: dict[str, str], what: str, isr: Sequence[int], live: Sequence[int], election: Election | None) -> str:
    ids = (" ".join(map(str, isr)), " ".join(map(str, live)) or words["none"])
    if election is None:
        return f"| {what} | {' | '.join(ids)} | {words['none']} | {ids[0]} | {words['waits']} |"
    chosen = election.leader_and_isr
    loss = words["nothing"] if chosen.leader in isr else words["loses"].format(chosen.leader)
    return f"| {what} | {' | '.join(ids)} | **{chosen.leader}** | {' '.join(map(str, chosen.isr))} | {loss} |"
