"""The home page's three ways in, each with one beginning: read, run, do."""

from __future__ import annotations

from kafka_learn.site.path.reading_path import ReadingPath, Stop, reading_path
from kafka_learn.site.path.site_menu import uri
from kafka_learn.site.path.words import word

QUICK_START = "docs/quickstart.md"
_WORDS = {
    "read": ("Read", "读"),
    "read text": (
        "From the first page to the last: the source, how it runs, why it is so. Or take [a week-end](book/path.md).",
        "从第一页读到最后一页：源码、它的运行、为什么这样写。也可以只用[一个周末](book/path.md)。",
    ),
    "run": ("Run", "跑"),
    "run text": (
        "A broker in two commands; then any client of Kafka, `kill -9` included.",
        "两条命令启动一个 broker，再用任何 Kafka 客户端连接它，`kill -9` 也无妨。",
    ),
    "do": ("Do", "做"),
    "do text": (
        "Write a part of the broker; the real broker then runs with your code. First [install](quickstart.md); the "
        "first lab then takes ten minutes. More: [all labs](labs/index.md).",
        "亲手写出 broker 的一部分，真正的 broker 就用你的代码运行。先[安装](quickstart.md)，之后第一个实验只要十分钟。"
        "还有[其他实验](labs/index.md)。",
    ),
}
"""English and Chinese."""


def ways_in(language: str) -> str:
    """Three cards for the home page, as Markdown."""
    path = reading_path()
    beginnings = (
        ("read", _page(first_page(path), path, language)),
        ("run", _page(QUICK_START, path, language)),
        ("do", _lab(first_lab(path), path, language)),
    )
    cards = [_card(name, beginning, language) for name, beginning in beginnings]
    return '<div class="ways-in" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>"


def first_page(path: ReadingPath) -> str:
    """The path's first page of a chapter; the quick starts before it are the way *run*."""
    return next(stop.page for stop in path.stops if stop.page.startswith("chapters/"))


def first_lab(path: ReadingPath) -> str:
    """The first easy lab of the path, as ``labs/<name>``."""

    def _easy(stop: Stop) -> list[str]:
        return [name for name in stop.labs if path.lab(name).difficulty == "easy" and not path.lab(name).extra]

    return next(name for stop in path.stops for name in _easy(stop))


def _card(name: str, beginning: str, language: str) -> str:
    title, text = _word(name, language), _word(f"{name} text", language)
    return f"<div markdown>\n\n**{title}**\n\n{text}\n\n{beginning}\n\n</div>"


def _page(page: str, path: ReadingPath, language: str) -> str:
    return _beginning(path.title(page, language), uri(page), path.minutes(page, language), language)


def _lab(name: str, path: ReadingPath, language: str) -> str:
    lab = path.lab(name)
    return _beginning(lab.title_in(language), uri(name), lab.minutes, language)


def _beginning(title: str, page: str, minutes: int, language: str) -> str:
    return f"[{title}]({page}){{ .beginning }} {word('minutes', language).format(minutes)}"


def _word(name: str, language: str) -> str:
    return _WORDS[name][language == "zh"]
