"""Every Chinese text uses the terms of ``chapters/terms.toml``, one for each thing."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.support.chinese_text import (
    ROOT,
    Paragraph,
    chinese_of_lab,
    chinese_of_page,
    chinese_of_python,
    chinese_of_readme,
    chinese_paragraphs,
)

TERMS = tomllib.loads((ROOT / "chapters/terms.toml").read_text(encoding="utf-8"))["term"]
GLOSS = re.compile(r"（[A-Za-z][A-Za-z ,-]*）")


def wrong_words(paragraphs: Iterable[Paragraph]) -> Iterator[str]:
    """A line for each variant found: file, line, the variant in its context, and the right term."""
    ways = [(term, re.compile("|".join(map(pattern_of, sorted(term["not"], key=len, reverse=True))))) for term in TERMS]
    for paragraph in paragraphs:
        text = GLOSS.sub(lambda gloss: "（" + "·" * (len(gloss[0]) - 2) + "）", paragraph.text)
        for term, way in ways:
            for found in way.finditer(text):
                if not any(covers(phrase, text, found) for phrase in term.get("unless", {})):
                    around = text[max(0, found.start() - 12) : found.end() + 12]
                    where = f"{paragraph.path}:{paragraph.lines[found.start()]}"
                    yield f"{where}: “{found[0]}” in “{around}” is {term['zh']} here ({term['en']})"


def pattern_of(word: str) -> str:
    return rf"(?<![\w.-]){word}(?![\w.-])" if word.isascii() else word


def covers(phrase: str, text: str, found: re.Match[str]) -> bool:
    """Whether ``found`` is part of ``phrase`` at its position."""
    return any(
        place.start() <= found.start() and found.end() <= place.end() for place in re.finditer(re.escape(phrase), text)
    )


@pytest.fixture(scope="module")
def everything() -> list[Paragraph]:
    return list(chinese_paragraphs())


def test_every_chinese_text_uses_the_terms_of_the_list(everything: list[Paragraph]) -> None:
    found = list(wrong_words(everything))
    assert not found, "chapters/terms.toml has other words for these:\n" + "\n".join(found)


def test_every_term_of_the_list_is_used(everything: list[Paragraph]) -> None:
    text = "\n".join(paragraph.text for paragraph in everything)
    assert [term["zh"] for term in TERMS if term["zh"] not in text] == []


def test_every_exception_of_the_list_is_needed(everything: list[Paragraph]) -> None:
    text = "\n".join(paragraph.text for paragraph in everything)
    phrases = {phrase: reason for term in TERMS for phrase, reason in term.get("unless", {}).items()}
    assert [phrase for phrase in phrases if phrase not in text] == []
    assert all(phrases.values())


def test_no_word_is_right_for_one_term_and_wrong_for_another() -> None:
    wrong = [word for term in TERMS for word in term["not"]]
    assert len(wrong) == len(set(wrong))
    assert not {term["zh"] for term in TERMS} & set(wrong)


ITALIC = re.compile(r"(?<![A-Za-z0-9_*\\])\*(?![\s*])[^*]*[\u3400-\u9fff][^*]*(?<!\s)\*(?!\*)")


def test_no_chinese_is_emphasised_by_italics(everything: list[Paragraph]) -> None:
    found = [f"{each.path}:{each.lines[0]}: {hit[0]}" for each in everything for hit in ITALIC.finditer(each.text)]
    assert found == [], "Chinese has no italics: use **…**"


def test_the_self_test_of_a_page_is_no_checkpoint(everything: list[Paragraph]) -> None:
    """检查点 is a checkpoint, a file; the list at the end of a chapter's page is 自测."""
    named = re.compile(r"^## 检查点$|“检查点”")
    assert [f"{each.path}:{each.lines[0]}" for each in everything if named.search(each.text)] == []


PAGE = """\
# 协调器

消费者把消
费者组的偏移量提交给它，得到`应答`，即响应（response）。

<!-- figure chapters.x:y -->
**图**：每个 topic 的位移（[`y`](x.py)，站点上有图）

水位移动，也就是高水位移动。
"""
WRONG_IN_PAGE = [
    "1 协调器 协调者",
    "3 消费者组 消费组",
    "7 topic 主题",
    "7 位移 偏移量",
    "9 位移 偏移量",
    "9 水位 高水位",
]
NOTEBOOK = """\
# %% [markdown] lang="zh"
# 主副本，
# 即领导者。

# %% [markdown]
# Not read: 领导者

# %%
WORDS = {"answer": "应答", "code": "`应答`"}
"""
LAB = """\
title = "应答"
title_zh = "应答"
hints_zh = [
  "响应",
  "答复",
]
"""


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (chinese_of_page, PAGE, WRONG_IN_PAGE),
        (chinese_of_python, NOTEBOOK, ["3 领导者 主副本", "9 应答 响应"]),
        (chinese_of_lab, LAB, ["2 应答 响应", "5 答复 响应"]),
        (chinese_of_readme, "应答\n\n## 简体中文\n\n应答\n\n## License\n\n应答\n", ["5 应答 响应"]),
    ],
)  # fmt: skip
def test_a_wrong_word_is_reported_with_its_place_and_the_right_term(
    read: Callable[[str, str], Iterator[Paragraph]], text: str, found: list[str]
) -> None:
    told = [re.fullmatch(r"x:(\d+): “(.+?)” in “.*” is (\S+) here .*", line) for line in wrong_words(read("x", text))]
    assert sorted(" ".join(one.groups()) for one in told if one) == sorted(found)
