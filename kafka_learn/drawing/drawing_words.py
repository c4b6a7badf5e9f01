"""The words of Graphviz drawings in Chinese.

A drawing is made once, in English. For a Chinese page, each line of its cells is translated when it is drawn, as the
phrases of recorded runs are (``run_words``), and so is its description for screen readers. Names of the code, numbers
and lines that the tables do not have stay.
"""

from __future__ import annotations

import html
import re

from kafka_learn.drawing.run_words import translated

_LINE = re.compile(r"(?<=>)[^<>\n]+(?=<)")
"""A line of a cell in a graph's source: what stands between two tags."""
_LINES = {
    # a log and its segments
    "active": "活动分段",
    "(empty)": "（空）",
    "next": "下一条",
    "sent": "发来的",
    "in the log": "日志里的",
    "the rest": "其余",
    "the same": "相同",
    "other bytes": "字节不同",
    "written": "写入的",
    "… zeros": "… 零",
    "hours": "小时",
    # fields of records and entries
    "base offset": "基准偏移量",
    "length": "长度",
    "size": "长度",
    "leader epoch": "主副本纪元",
    "attributes": "属性",
    "attr": "属性",
    "last delta": "最后的增量",
    "base timestamp": "基准时间戳",
    "max timestamp": "最大时间戳",
    "timestamp": "时间戳",
    "time delta": "时间差",
    "offset": "偏移量",
    "position": "位置",
    "key": "键",
    "key length": "键的长度",
    "key, value": "键、值",
    "value, headers": "值、消息头",
    "length, epoch": "长度、纪元",
    "…, records with deltas": "…，记录与差值",
    # wheels and a purgatory
    "watchers": "监听列表",
    "completed": "已完成",
    "queue: empty": "队列：空",
}
_PATTERNS = (
    (re.compile(r"at (\d+)"), r"位置 \1"),
    (re.compile(r"at (\d+) h"), r"第 \1 小时"),
    (re.compile(r"▲ log start (\d+)"), r"▲ 日志起始偏移量 \1"),
    (re.compile(r"▲ recovery point (\d+)"), r"▲ 恢复点 \1"),
    (re.compile(r"(\d+) bytes"), r"\1 字节"),
    (re.compile(r"(.+ …) \((\d+) bytes\)"), r"\1（\2 字节）"),
    (re.compile(r"(\d*\.\w+), (\d+) bytes"), r"\1，\2 字节"),
    (re.compile(r"(\d+\.\w+), (\d+) bytes used"), r"\1，用了 \2 字节"),
    (re.compile(r"(\d+\.\w+), (\d+) of (\d+) bytes used"), r"\1，\3 字节中用了 \2 字节"),
    (re.compile(r"open, or killed: (\d+) bytes"), r"正在使用，或被杀掉：\1 字节"),
    (re.compile(r"closed cleanly: (\d+) bytes"), r"正常关闭：\1 字节"),
    (re.compile(r"offset (\d+)\?"), r"偏移量 \1？"),
    (re.compile(r"offset (\d+-\d+)"), r"偏移量 \1"),
    (re.compile(r"result: slot (-?\d+)"), r"结果：槽 \1"),
    (re.compile(r"slot (\d+)"), r"槽 \1"),
    (re.compile(r"put (\w+) → (\d+): (\d+) probes?"), r"放入 \1 → \2：探测 \3 次"),
    (re.compile(r"segment (\d+)"), r"分段 \1"),
    (re.compile(r"segment (\d+) \(active\)"), r"分段 \1（活动）"),
    (re.compile(r"recovered: LEO (\d+)"), r"恢复之后：LEO \1"),
    (re.compile(r"follower, from (\d+)"), r"备份副本，从 \1 起"),
    (re.compile(r"consumer, from (\d+), (HW \d+)"), r"消费者，从 \1 起，\2"),
    (re.compile(r"from (\d+), one and a half batches"), r"从 \1 起，一个半批次"),
    (re.compile(r"from (\d+), (?:one|1) byte"), r"从 \1 起，1 字节"),
    (re.compile(r"from (\d+), (HW \d+|\d+ MiB)"), r"从 \1 起，\2"),
    (re.compile(r"time (\d+)"), r"时间 \1"),
    (re.compile(r"level (\d+), tick (\d+)"), r"第 \1 层，刻度 \2"),
    (re.compile(r"queue: empty   ran: (.+)"), r"队列：空   已运行：\1"),
    (re.compile(r"queue: (.+)   ran: (.+)"), r"队列：\1   已运行：\2"),
    (re.compile(r"queue: (.+)"), r"队列：\1"),
    (re.compile(r"timer: (\d+)"), r"定时器：\1"),
    (re.compile(r"due (\d+)"), r"到期 \1"),
    (re.compile(r"fetch ([A-Z])"), r"拉取 \1"),
)
_DESCRIPTIONS = (
    # whole sentences
    (
        re.compile(r"The heads of a stored message in formats v0, v1 and v2; v0 has no field for a time\."),
        "格式 v0、v1、v2 中一条消息开头的字段；v0 没有时间字段。",
    ),
    (
        re.compile(r"Which of (\d+) segments are deleted after (\d+) hours, seen at several times\."),
        r"\1 个分段中，哪些在 \2 小时之后被删除：几个时刻的情形。",
    ),
    (re.compile(r"(\S+): (\d+) segments up to offset (\d+)\."), r"\1：\2 个分段，到偏移量 \3 为止。"),
    (re.compile(r"The header of a batch before and after its validation\."), "校验前后的批次头。"),
    (re.compile(r"After recovery the log ends at offset (\d+)\."), r"恢复之后，日志末端是偏移量 \1。"),
    (re.compile(r"The messages of (\S+), by segment\."), r"\1 的消息，按分段排列。"),
    (re.compile(r"(\d+) keys in an offset map of (\d+) slots\."), r"\1 个键，在有 \2 个槽的偏移量映射表里。"),
    (
        re.compile(r"The files of segment (\d+): entries of both indexes point at batches of the log\."),
        r"分段 \1 的文件：两个索引的条目都指向日志里的批次。",
    ),
    (
        re.compile(r"Binary search for offset (\d+): (\d+) steps lead to slot (-?\d+)\."),
        r"二分查找偏移量 \1：\2 步之后到达槽 \3。",
    ),
    (
        re.compile(r"A preallocated index ends in zeros; a closed one has been trimmed\."),
        "预先分配的索引末尾是零；关闭之后，多余的部分已被截去。",
    ),
    (re.compile(r"Three layers of threads: (.+)\."), r"三层线程：\1。"),
    (re.compile(r"Layers, top to bottom: (.+)"), r"各层，从上到下：\1"),
)
_PARTS = (
    # what stands between semicolons
    (re.compile(r"the timer holds (\d+)"), r"定时器里有 \1 个"),
    (re.compile(r"no watchers"), "没有监听列表"),
    (re.compile(r"(.+): (\d+) batches"), r"\1：\2 个批次"),
    (re.compile(r"time (\d+): nothing waits"), r"时间 \1：没有等待的任务"),
    (re.compile(r"time (\d+): (.+) in (\[\d+-\d+\]) of level (\d+)"), r"时间 \1：\2 在第 \4 层的 \3"),
    (re.compile(r"(.+) in (\[\d+-\d+\]) of level (\d+)"), r"\1 在第 \3 层的 \2"),
    (re.compile(r"to (\w+) from (.+)"), r"\2 → \1"),
    (re.compile(r"to (\w+) from "), r"\1 之前没有状态"),
    *_PATTERNS,
)
_WATCHERS = re.compile(r"(\S+) watches (.+)")
_FIELDS = re.compile(r"(\d+) bytes: (.+)")
_FIELD = re.compile(r"(.+) (\d+)")


def in_chinese(source: str) -> str:
    """A graph's source with the lines of its cells in Chinese.

    >>> in_chinese("<TD>active</TD><TD>0–2<BR/>at 205</TD><TD>STABLE</TD>")
    '<TD>活动分段</TD><TD>0–2<BR/>位置 205</TD><TD>STABLE</TD>'
    """
    return _LINE.sub(lambda line: html.escape(translated(html.unescape(line[0]), _LINES, _PATTERNS)), source)


def description_in_chinese(description: str) -> str:
    """The description of a drawing, for screen readers: a known sentence, or parts with semicolons between them.

    >>> description_in_chinese("12 bytes: base offset 8, size 4")
    '12 字节：基准偏移量 8，长度 4'
    """
    if fields := _FIELDS.fullmatch(description):
        return f"{fields[1]} 字节：{'，'.join(map(_field_in_chinese, fields[2].split(', ')))}"
    whole = translated(description, {}, _DESCRIPTIONS)
    if whole != description:
        return whole
    return "；".join(map(_part_in_chinese, description.split("; ")))


def _part_in_chinese(part: str) -> str:
    if watchers := _WATCHERS.fullmatch(part):
        operations = (translated(each, _LINES, _PATTERNS) for each in watchers[2].split(", "))
        return f"{watchers[1]} 监听 {'、'.join(operations)}"
    return translated(part, _LINES, _PARTS)


def _field_in_chinese(field: str) -> str:
    found = _FIELD.fullmatch(field)
    return f"{translated(found[1], _LINES, _PATTERNS)} {found[2]}" if found else field
