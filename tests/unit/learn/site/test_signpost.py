from pathlib import Path

import pytest

from kafka_learn.site.signpost import with_signpost

BOOK = """
[[chapter]]
number = "3"
zh = "三"
en = "Three"
folder = "chapters/ch03"

[[section]]
number = "3.1"
zh = "启动"
en = "Start"
page = "chapters/ch03/page.md"
notebook = "chapters/ch03/runs.py"
labs = ["labs/one"]

[[section]]
number = "3.2"
zh = "再平衡"
en = "Rebalancing"
page = "chapters/ch03/page.md"
notebook = "chapters/ch03/runs.py"
labs = ["labs/one", "labs/two"]

[[section]]
number = "3.3"
zh = "单独"
en = "Alone"
page = "chapters/ch03/alone.md"

[[topic]]
name = "t"
en = "T"
section = "3.1"
"""
PATH = """
[[stage]]
sections = ["3"]
en = "Three"
zh = "三"

[pages]
"chapters/ch03/page.md" = { difficulty = "easy", before = [] }
"chapters/ch03/alone.md" = { difficulty = "hard", before = ["chapters/ch03/page.md"] }
"""
LAB = """
title = "{0}"
title_zh = "{1}"
section = "3.1"
goal = ""
before = ""
minutes = 1
difficulty = "easy"
after = []
time_limit_s = 1
test_limit_s = 1
task = []
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, titles in (("one", ("One", "一")), ("two", ("Two", "二"))):
        (tmp_path / "labs" / name).mkdir(parents=True)
        (tmp_path / "labs" / name / "lab.toml").write_text(LAB.format(*titles), encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "book.toml").write_text(BOOK, encoding="utf-8")
    return tmp_path


def test_sections_notebook_and_labs_are_listed_once_below_the_title(root):
    text = with_signpost("# Title\n\nText.\n", "chapters/ch03/page.md", "en", root)
    assert text == (
        "# Title\n\n"
        "**Book:** 3.1 Start · 3.2 Rebalancing<br>\n"
        "[Notebook](runs_notebook.md) · Labs: [One](../../labs/one.md), [Two](../../labs/two.md)\n"
        "{ .signpost }\n\n\n"
        "Text.\n"
    )


def test_the_chinese_page_lists_them_in_chinese(root):
    text = with_signpost("# 标题\n\n正文。\n", "chapters/ch03/page.zh.md", "zh", root)
    assert "**书中：** 3.1 启动 · 3.2 再平衡<br>" in text
    assert "[笔记本](runs_notebook.md) · 实验： [一](../../labs/one.md), [二](../../labs/two.md)" in text


def test_a_page_without_notebook_and_lab_lists_only_its_sections(root):
    text = with_signpost("# Title\n", "chapters/ch03/alone.md", "en", root)
    assert text.splitlines()[2:4] == ["**Book:** 3.3 Alone", "{ .signpost }"]


def test_a_page_of_an_added_chapter_says_that_the_book_does_not_have_it(root):
    added = """
[[added_chapter]]
number = "T"
zh = "表"
en = "Tables"
folder = "chapters/tables"
[[added_section]]
number = "T.1"
zh = "源"
en = "Source"
page = "chapters/tables/source.md"
"""
    with (root / "chapters" / "book.toml").open("a", encoding="utf-8") as book:
        book.write(added)
    text = with_signpost("# Title\n", "chapters/tables/source.md", "en", root)
    assert text.splitlines()[2] == "**Beyond the book:** T.1 Source"
    text = with_signpost("# 标题\n", "chapters/tables/source.zh.md", "zh", root)
    assert text.splitlines()[2] == "**书外：** T.1 源"


def test_a_page_of_the_path_says_how_long_how_hard_and_what_to_know_before(root):
    for name, title in (("page", "# 3.1–3.2 Page"), ("alone", "# 3.3 Alone")):
        for suffix in (".md", ".zh.md"):
            file = root / "chapters" / "ch03" / f"{name}{suffix}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{title}\n", encoding="utf-8")
    (root / "chapters" / "path.toml").write_text(PATH, encoding="utf-8")
    text = with_signpost("# Title\n", "chapters/ch03/alone.md", "en", root)
    assert text.splitlines()[2:5] == [
        "**Book:** 3.3 Alone<br>",
        "**5 min** · hard · know before: [3.1–3.2 Page](page.md) · [stop 2 of 2](../path.md)",
        '{ .signpost data-stop="chapters/ch03/alone.md" }',
    ]
    text = with_signpost("# 标题\n", "chapters/ch03/page.zh.md", "zh", root)
    assert "\n**5 分钟** · 容易 · [路线第 1/2 站](../path.md)\n" in text


@pytest.mark.parametrize(
    ("text", "origin"), [("# Title\n", "chapters/ch03/unknown.md"), ("Text first.\n", "chapters/ch03/page.md")]
)
def test_a_page_without_title_or_outside_the_map_is_unchanged(root, text, origin):
    assert with_signpost(text, origin, "en", root) == text
