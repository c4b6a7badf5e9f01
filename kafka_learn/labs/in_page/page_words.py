"""The words of a check in a page that a check in a terminal does not have."""

from __future__ import annotations

from collections.abc import Callable

from kafka_learn.labs.lab import Lab
from kafka_lite.tools.common.terminal import own_command

_WORDS = {
    "stopped": (
        "The check was stopped during this test: {test}. Does a loop of your code make progress?",
        "检查在这个测试里被停止：{test}。你的代码里有循环不往前走吗？",
    ),
    "stopped early": ("The check was stopped before it ran a test.", "检查还没有运行测试就被停止了。"),
    "hint": ("Press Hint.", "按“提示”。"),
    "check": ("Export, and in a clone: {command}", "先导出，再到克隆的项目里运行 {command}"),
}


def word(name: str, language: str, **values: object) -> str:
    """The words for something, with values filled in."""
    return _WORDS[name][language == "zh"].format(**values)


def how(language: str, lab: Lab) -> Callable[[str], str]:
    """How one does in the page what a verb of ``kafka-lite labs`` does; what it has no button for is a command."""

    def of_lab(verb: str) -> str:
        command = f"{own_command()} labs {verb} {lab.name}"
        return word(verb, language, command=command) if verb in _WORDS else command

    return of_lab
