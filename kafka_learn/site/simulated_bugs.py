"""The table of bugs that were put back, and of the seeds that the simulator needed to find them.

Made from ``docs/design/simulated-bugs.json``, which ``python -m scripts.simulated_bugs`` writes. One of the runs was
recorded with ``python -m kafka_learn.simulate --record``, and is drawn here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.drawing.world_time_line import world_time_line
from kafka_learn.recording.recorded_run import RecordedRun

RESULTS: Final = Path(__file__).parent.parent.parent / "docs/design/simulated-bugs.json"
RECORDED: Final = RESULTS.with_name("simulated-bug.jsonl")
"""A bug report: a broker that never flushes its logs, in a run in which the power fails."""

BUGS: Final[Mapping[str, tuple[str, str]]] = {
    "without_sequence_check": ("Sequence numbers are not checked", "不检查序列号"),
    "without_fsync": ("A log is never flushed", "日志从不刷盘"),
    "without_recovery": ("After a power failure the logs are not recovered", "断电之后不恢复日志"),
    "trusting_an_old_clean_shutdown": (
        "The marker of a clean shutdown stays after the start",
        "启动之后，正常关闭的标记还在",
    ),
    "swallowing_write_errors": (
        "Records that a full or failing disk refuses are acknowledged",
        "磁盘已满或损坏时写不进去的消息也被确认",
    ),
    "looking_up_the_next_entry": ("The lookup in the offset index is off by one", "偏移量索引的查找差一项"),
    "cleaning_away_new_records": (
        "The cleaner takes the newest record of a key for an older one",
        "清理线程把一个键最新的消息当作旧消息",
    ),
    "undoing_alterations": (
        "A new log has the configuration from before an alteration (KAFKA-8813)",
        "新日志用的是修改之前的配置（KAFKA-8813）",
    ),
    "leaving_records_out_of_sessions": (
        "Lost wake-up: a fetch session has a partition only if its high watermark has moved",
        "丢失的唤醒：拉取会话只在高水位变化时才带上分区",
    ),
    "without_loaded_offsets": ("A coordinator does not load committed offsets", "协调者不加载已提交的偏移量"),
    "without_new_generations": ("A rebalance keeps the generation", "再平衡不产生新的一代"),
    "forgetting_the_last_member": (
        "Lost wake-up: the last member's JoinGroup does not end the wait of the others",
        "丢失的唤醒：最后一个成员的 JoinGroup 不结束其他成员的等待",
    ),
    "obeying_dead_members": ("A member whose session has expired may commit", "会话已过期的成员仍可提交"),
    "appending_without_locks": (
        "The locks of partitions and logs are left out",
        "分区和日志的锁被去掉",
    ),
    "changing_groups_without_locks": ("The lock of a group is left out", "消费组的锁被去掉"),
    "with_unclean_elections": ("A replica that is not in sync may lead", "不同步的副本可以成为主副本"),
    "ignoring_min_insync_replicas": ("min.insync.replicas is not checked", "不检查 min.insync.replicas"),
    "acknowledging_early": ("acks=all does not wait for followers", "acks=all 不等待备份副本"),
    "committing_with_the_fastest_follower": (
        "The high watermark follows the fastest follower of the ISR, not the slowest",
        "高水位跟随 ISR 中最快的备份副本，而不是最慢的",
    ),
    "serving_beyond_the_high_watermark": (
        "Consumers read beyond the high watermark",
        "消费者读到高水位之后的消息",
    ),
    "expanding_isrs_by_high_watermarks": (
        "A follower enters the ISR of a new leader by its high watermark alone (KAFKA-7128)",
        "备份副本只凭高水位进入新主副本的 ISR（KAFKA-7128）",
    ),
    "overwriting_isrs": (
        "A deposed leader overwrites leader and ISR in ZooKeeper",
        "被取代的主副本覆盖 ZooKeeper 里的主副本和 ISR",
    ),
    "obeying_old_epochs": ("LeaderAndIsr requests of old epochs are executed", "执行旧纪元的 LeaderAndIsr 请求"),
    "appending_after_a_leadership": (
        "A leadership may end between the check and the append",
        "在检查与追加之间可能已不再是主副本",
    ),
    "without_truncation": ("A follower does not truncate its log", "备份副本不截断日志"),
    "truncating_to_high_watermarks": (
        "A follower truncates to its high watermark, as before KIP-101",
        "备份副本截断到自己的高水位（KIP-101 之前）",
    ),
    "truncating_under_the_same_leader": (
        "A follower truncates to its high watermark even under the same leader",
        "主副本没变，备份副本也截断到高水位",
    ),
    "truncating_once": (
        "A follower trusts an epoch that it does not have, as before KIP-279 (KAFKA-6361)",
        "备份副本相信自己没有的纪元（KIP-279 之前，KAFKA-6361）",
    ),
    "forgetting_producers_on_followers": (
        "A follower does not know the sequence numbers in its log",
        "备份副本不知道日志里的序列号",
    ),
    "committing_beyond_the_end": (
        "The high watermark is one record beyond the end of the log",
        "高水位比日志末端多出一条消息",
    ),
    "keeping_groups_that_moved": (
        "A coordinator keeps groups that another broker has taken over",
        "协调者留着已由另一个 broker 接管的消费组",
    ),
    "without_checksums": (
        "Followers do not check the checksums of what they append",
        "备份副本追加消息时不检查校验和",
    ),
    "showing_open_transactions": (
        "The last stable offset is the high watermark",
        "最后稳定偏移量就是高水位",
    ),
    "without_aborted_transactions": (
        "A fetch response does not list aborted transactions",
        "拉取响应不列出已中止的事务",
    ),
    "without_timeouts": ("Transactions do not time out", "事务不会超时"),
    "without_fencing": ("Old epochs of a producer are accepted", "接受生产者的旧纪元"),
    "losing_transactions": (
        "A transaction coordinator does not load its transactional ids",
        "事务协调者不加载事务 ID",
    ),
    "leaving_decided_transactions": (
        "A transaction coordinator does not write the markers that its predecessor decided on",
        "事务协调者不写前任已决定、还没有写下的标记",
    ),
    "committing_offsets_early": (
        "The offsets of a transaction count before it is committed",
        "事务里的偏移量在提交之前就生效",
    ),
    "committing_before_the_acknowledgement": (
        "A mirror commits before the target has acknowledged",
        "镜像在目标集群确认之前就提交偏移量",
    ),
    "retrying_behind_later_records": (
        "A mirror sends a batch again behind later ones of its partition",
        "镜像重发的批次排到同一分区后面的批次之后",
    ),
    "assigning_before_others_have_revoked": (
        "The coordinator of KIP-848 assigns partitions that others have not given up",
        "KIP-848 的协调者分配别的成员还没有交出的分区",
    ),
    "acknowledging_before_the_listener": (
        "A member of KIP-848 acknowledges a revocation before its listener commits",
        "KIP-848 的成员在监听器提交之前就确认撤销",
    ),
    "forgetting_pending_messages": (
        "A controller of Helix does not count where pending messages bring replicas",
        "Helix 的控制器不计入未完成的消息要把副本带到哪里",
    ),
    "keeping_states_of_old_sessions": (
        "A participant of Helix whose session has expired keeps its replicas as they were",
        "Helix 的参与者在会话过期之后，副本仍保持原来的状态",
    ),
}
"""The promise that each broken program of ``tests/support`` breaks, in English and Chinese."""
HEAD: Final = {"en": "| bug | brokers | seeds | found as |", "zh": "| 缺陷 | broker 数 | 种子数 | 发现的现象 |"}
NOT_FOUND: Final = {"en": "not found in {seeds}", "zh": "{seeds} 个种子内未发现"}
SWITCHING: Final = {"en": "; threads switched at statements", "zh": "；线程可在语句之间切换"}


def table(language: str) -> str:
    """The recorded rows as a Markdown table, for a ``generated`` directive."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    return "\n".join([HEAD[language], "|---|---|---|---|", *_lines(rows, language)])


def sequence(language: str) -> str:
    """The recorded run of a broker with a bug as a sequence diagram."""
    return sequence_diagram(RecordedRun.load(RECORDED), language=language).svg()


def time_line(language: str) -> str:
    """The same run as a time line."""
    return world_time_line(RecordedRun.load(RECORDED), language=language).svg()


def _lines(rows: list[dict[str, Any]], language: str) -> Iterator[str]:
    for row in rows:
        text = BUGS[row["bug"]][language == "zh"] + (SWITCHING[language] if row["switching"] else "")
        seeds = row["seeds"] if row["found"] else NOT_FOUND[language].format(seeds=row["seeds"])
        yield f"| {text} | {row['brokers']} | {seeds} | {', '.join(row['found'])} |"
