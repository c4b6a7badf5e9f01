"""Figures of the controller: its state machines, and what the leader selectors choose. Book 7.1.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller import partition_state_machine, replica_state_machine
from kafka_lite.controller.partition_leader_selector import (
    Election,
    StateChangeFailedError,
    select_controlled_shutdown_leader,
    select_offline_partition_leader,
)
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_state_machine import ReplicaState
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


_P, _R = PartitionState, ReplicaState
_CAUSES = {
    (_P.NON_EXISTENT, _P.NEW): ("topic created", "创建主题"),
    (_P.NEW, _P.ONLINE): ("first leader\nand ISR written", "写入第一任\n主副本和 ISR"),
    (_P.ONLINE, _P.ONLINE): ("leader moved", "移动主副本"),
    (_P.ONLINE, _P.OFFLINE): ("leader dies, or\ndeletion begins", "主副本崩溃，\n或开始删除"),
    (_P.OFFLINE, _P.ONLINE): ("another\nleader elected", "选出新的\n主副本"),
    (_P.NEW, _P.OFFLINE): ("deletion begins", "开始删除"),
    (_P.OFFLINE, _P.OFFLINE): ("deletion begins", "开始删除"),
    (_P.OFFLINE, _P.NON_EXISTENT): ("topic deleted", "主题已删除"),
}
"""Transition of a partition → what happens, in both languages."""
_REQUESTS = {
    (_R.NON_EXISTENT, _R.NEW): ("LeaderAndIsr, if\nthere is a leader", "LeaderAndIsr，\n如果有主副本"),
    (_R.NEW, _R.ONLINE): ("assigned", "列入副本分配"),
    (_R.ONLINE, _R.ONLINE): ("LeaderAndIsr", "LeaderAndIsr"),
    (_R.OFFLINE, _R.ONLINE): ("broker is back:\nLeaderAndIsr", "broker 回来：\nLeaderAndIsr"),
    (_R.DELETION_INELIGIBLE, _R.ONLINE): ("LeaderAndIsr", "LeaderAndIsr"),
    (_R.NEW, _R.OFFLINE): ("StopReplica", "StopReplica"),
    (_R.ONLINE, _R.OFFLINE): ("StopReplica,\nout of the ISR", "StopReplica，\n移出 ISR"),
    (_R.OFFLINE, _R.OFFLINE): ("StopReplica", "StopReplica"),
    (_R.DELETION_INELIGIBLE, _R.OFFLINE): ("StopReplica", "StopReplica"),
    (_R.OFFLINE, _R.DELETION_STARTED): ("StopReplica\nwith deletion", "StopReplica，\n要求删除"),
    (_R.DELETION_STARTED, _R.DELETION_SUCCESSFUL): ("no error", "没有错误"),
    (_R.DELETION_STARTED, _R.DELETION_INELIGIBLE): ("error", "出错"),
    (_R.OFFLINE, _R.DELETION_INELIGIBLE): ("broker is dead", "broker 已停止"),
    (_R.DELETION_SUCCESSFUL, _R.NON_EXISTENT): ("forgotten", "从内存移除"),
}
"""Transition of a replica → the controller's action or its cause, in both languages."""


def partition_states(language: str) -> str:
    """The state machine of a partition, with what causes each transition."""
    return draw_states(partition_state_machine.VALID_PREVIOUS_STATES, _in(language, _CAUSES)).svg()


def replica_states(language: str) -> str:
    """The state machine of a replica, with the action of each transition."""
    labels = _in(language, _REQUESTS)
    return draw_states(replica_state_machine.VALID_PREVIOUS_STATES, labels, rank_direction="TB").svg()


def _in(language: str, labels: Mapping[tuple[Any, Any], tuple[str, str]]) -> dict[tuple[Any, Any], str]:
    return {transition: words[language == "zh"] for transition, words in labels.items()}


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
