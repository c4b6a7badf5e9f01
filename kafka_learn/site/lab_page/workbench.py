"""The part of a lab's page in which one writes and checks it, at the end of its text, and a link that leads there."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from kafka_learn.labs.lab import LABS, SPARK, Lab, load_lab
from kafka_learn.site.lab_page.editor_files import import_map
from kafka_learn.site.lab_page.lab_files import PLACE

_WORDS: Final = {
    "en": {
        "title": "In this page",
        "link": "Or write and check it [in this page](#in-this-page), without an installation.",
        "how": "Write the functions here. A check runs the lab's tests in your browser; nothing leaves it. The tests "
        "with a real broker need [the clone](../install.md), to which *Export* takes your work.",
        "script": "The editor needs JavaScript.",
        "spark": "This lab needs [the clone](../install.md): its tests start Spark, which a browser cannot.",
        "sockets": "This lab needs [the clone](../install.md): its tests open sockets, which a browser cannot.",
    },
    "zh": {
        "title": "在本页做",
        "link": "也可以不安装，[在本页](#in-this-page)编写和检查。",
        "how": "在这里写函数。检查就在你的浏览器里运行这个实验的测试，什么都不会传出去。"
        "用真正的 broker 运行的测试需要[克隆项目](../install.md)，“导出”把你的代码带过去。",
        "script": "编辑器需要 JavaScript。",
        "spark": "这个实验需要[克隆项目](../install.md)：它的测试要启动 Spark，浏览器做不到。",
        "sockets": "这个实验需要[克隆项目](../install.md)：它的测试要打开套接字，浏览器做不到。",
    },
}  # fmt: skip
_FIRST_TASK: Final = re.compile(r"^## ", re.MULTILINE)


def with_workbench(text: str, target: PurePosixPath, language: str) -> str:
    """A page of a lab, with what it needs to be done there; any other page as it is."""
    if target.parent != PurePosixPath("labs") or not text.startswith("# "):
        return text
    folder = LABS / target.name.split(".")[0]
    first = _FIRST_TASK.search(text)
    if first is None or not (folder / "lab.toml").exists():
        return text
    lab, words = load_lab(folder), _WORDS[language]
    if not lab.in_page:
        needs = words["spark" if lab.extra == SPARK else "sockets"]
        return f"{text[: first.start()]}{needs}\n{{ .needs-clone }}\n\n{text[first.start() :]}"
    return f"{text[: first.start()]}{words['link']}\n\n{text[first.start() :]}\n{_workbench(lab, words, language)}"


def _workbench(lab: Lab, words: dict[str, str], language: str) -> str:
    # A page is a folder: labs/NAME/, in Chinese zh/labs/NAME/.
    inside = elements(lab, f"{'../' * (2 if language == 'en' else 3)}{PLACE}", words["script"])
    return f"## {words['title']} {{ #in-this-page }}\n\n{words['how']}\n\n{inside}"


def elements(lab: Lab, assets: str, without_script: str = "") -> str:
    """The elements of the page in which a lab is done; ``assets`` is the address of its files."""
    return f"""{import_map(f"{assets}/editor")}
<link rel="stylesheet" href="{assets}/lab.css">
<div id="lab" data-lab="{lab.name}"><noscript>{without_script}</noscript></div>
<script type="module" src="{assets}/lab.mjs"></script>
"""
