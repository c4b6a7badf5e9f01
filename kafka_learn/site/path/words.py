"""The words with which pages speak of the path, in English and Chinese."""

from __future__ import annotations

_WORDS = {
    "page": ("page", "页面"),
    "time": ("time", "时间"),
    "difficulty": ("difficulty", "难度"),
    "to do": ("what to do", "内容"),
    "day": ("day", "天"),
    "week": ("Week {}", "第 {} 周"),
    "minutes": ("{} min", "{} 分钟"),
    "hours": ("{} h", "{} 小时"),
    "notebook": ("notebook", "笔记本"),
    "lab": ("Lab: ", "实验："),
    "to be written": ("Still to be written.", "尚未写成。"),
    "know before": ("know before: ", "先读："),
    "between": (", ", "、"),
    "stop": ("stop {} of {}", "路线第 {}/{} 站"),
    "total": (
        "The path has {} pages, about {} hours of reading, and {} labs, about {} hours of doing.",
        "整条路线有 {} 个页面，阅读约 {} 小时；另有 {} 个实验，动手约 {} 小时。",
    ),
    "course": (
        "{} pages and {} labs, about {} hours; no week takes more than {}.",
        "{} 个页面，{} 个实验，约 {} 小时；最长的一周 {}。",
    ),
    "labs only": ("Labs", "只做实验"),
    "colon": (": ", "："),
    "semicolon": ("; ", "；"),
    "easy": ("easy", "容易"),
    "medium": ("medium", "中等"),
    "hard": ("hard", "较难"),
}


def word(name: str, language: str) -> str:
    """A word or phrase. Raises KeyError if there is none of that name."""
    return _WORDS[name][language == "zh"]


def how_hard(difficulty: str, language: str) -> str:
    """A difficulty: easy, medium or hard."""
    return word(difficulty, language)


def hours(minutes: int, language: str) -> str:
    """A sum of minutes, in hours, to the half hour.

    >>> hours(95, "en"), hours(120, "zh")
    ('1.5 h', '2 小时')
    """
    halves = round(minutes / 30)
    return word("hours", language).format(f"{halves / 2:g}")
