"""The words of ``labs`` and ``labs next`` in both languages."""

from __future__ import annotations

_WORDS = {
    "last": ("Where you were", "上次做到这里"),
    "all points": ("All points. Compare your code with the shipped code:", "已经满分。与项目代码比较："),
    "your task": ("Your task: {number}, {title}", "当前任务：{number}，{title}"),
    "write": (": write {functions}", "：要写 {functions}"),
    "points": ("{points} points", "{points} 分"),
    "no check": ("not checked yet", "还没有检查过"),
    "next": ("Next:", "下一步："),
    "stuck": ("Stuck?", "没有思路？"),
    "also": ("Also begun:", "还没做完的："),
    "first": ("No lab was begun yet. The first one on the way:", "还没有开始任何实验。第一个是："),
    "next lab": ("The next lab on the way:", "下一个实验："),
    "or": ("Or:", "也可以做："),
    "all": ("All {count} labs are done or begun.", "全部 {count} 个实验都已完成或开始。"),
    "lab": ("lab", "实验"),
    "goal": ("goal", "目标"),
    "before": ("before", "先读"),
    "after": ("comes after", "先做"),
    "then": ("then", "之后"),
    "time": ("time", "时间"),
    "difficulty": ("difficulty", "难度"),
    "easy": ("easy", "容易"),
    "medium": ("medium", "中等"),
    "hard": ("hard", "较难"),
    "needs": ("needs", "需要"),
    "extra": (
        "the extra {extra} of kafka_lite; make setup installs it",
        "kafka_lite 的附加组件 {extra}，make setup 会安装",
    ),
    "tasks": ("tasks", "任务"),
    "earned": ("points", "得分"),
    "solution": ("solution", "答案"),
    "seen at": ("seen at {points} points", "得 {points} 分时看过"),
    "text": ("text", "说明"),
    "elsewhere": (
        "{found} is from before labs belonged to the clone: move its folders to {base} to continue there.",
        "{found} 是旧版本留下的：现在实验放在项目目录里，请把其中的目录移到 {base}，才能接着做。",
    ),
}


def word(name: str, language: str, **values: object) -> str:
    """The words for something, with values filled in."""
    return _WORDS[name][language == "zh"].format(**values)
