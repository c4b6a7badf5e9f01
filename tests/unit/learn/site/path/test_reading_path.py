from pathlib import Path

import pytest

from kafka_learn.site.path.reading_path import ReadingPath, Stage, reading_path

BOOK = """
[[chapter]]
number = "1"
zh = "一"
en = "One"
folder = "chapters/ch01"

[[chapter]]
number = "10"
zh = "十"
en = "Ten"
folder = "chapters/ch10"

[[section]]
number = "1.1"
zh = "先"
en = "First"
page = "chapters/ch01/first.md"
more_pages = ["chapters/ch01/rest.md"]
notebook = "chapters/ch01/runs.py"
labs = ["labs/one"]

[[section]]
number = "1.2"
zh = "后"
en = "Second"
page = "chapters/ch01/second.md"

[[section]]
number = "1.3"
zh = "还是后"
en = "Second again"
page = "chapters/ch01/second.md"
labs = ["labs/one", "labs/two"]

[[section]]
number = "10.1"
zh = "十之一"
en = "Ten, one"
page = "chapters/ch10/ten.md"

[[topic]]
name = "t"
en = "T"
section = "1.1"
"""
PATH = """
[[stage]]
sections = ["10"]
en = "The end first"
zh = "先看结局"

[[stage]]
sections = ["1"]
en = "Then the beginning"
zh = "再看开头"

[pages]
"chapters/ch10/ten.md" = { difficulty = "easy", before = [] }
"chapters/ch01/first.md" = { difficulty = "medium", before = ["chapters/ch10/ten.md"] }
"chapters/ch01/rest.md" = { difficulty = "medium", before = ["chapters/ch01/first.md"] }
"chapters/ch01/second.md" = { difficulty = "hard", before = ["chapters/ch01/first.md"] }

[[week_end]]
en = "Saturday"
zh = "星期六"
stops = ["chapters/ch10/ten.md", "labs/one"]
"""
TEXTS = {
    "ch01/first": ("# 1.1 First\n\nText.\n", "# 1.1 先\n\n正文。\n"),
    "ch01/rest": ("# 1.1 Rest\n", "# 1.1 余\n"),
    "ch01/second": ("---\nhide: toc\n---\n# 1.2–1.3 Second\n", "# 1.2–1.3 后\n"),
    "ch10/ten": ("# 10.1 Ten\n\n" + "word " * 3600, "# 10.1 十\n\n" + "字" * 3200),
}


def project(root: Path, path: str) -> Path:
    for page, texts in TEXTS.items():
        for text, suffix in zip(texts, (".md", ".zh.md"), strict=True):
            file = root / "chapters" / f"{page}{suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    (root / "chapters" / "book.toml").write_text(BOOK, encoding="utf-8")
    (root / "chapters" / "path.toml").write_text(path, encoding="utf-8")
    return root


@pytest.fixture
def path(tmp_path: Path) -> ReadingPath:
    return reading_path(project(tmp_path, PATH))


def test_pages_follow_in_the_order_of_the_stages_and_then_of_the_book(path):
    assert [stop.page for stop in path.stops] == [
        "chapters/ch10/ten.md",
        "chapters/ch01/first.md",
        "chapters/ch01/rest.md",
        "chapters/ch01/second.md",
    ]
    assert [path.number(stop.page) for stop in path.stops] == [1, 2, 3, 4]
    assert path.stops[0].stage.title("zh") == "先看结局"


def test_a_page_of_two_sections_stands_once_with_the_labs_of_both(path):
    stop = path.stop("chapters/ch01/second.md")
    assert stop is not None
    assert stop.labs == ("labs/one", "labs/two")
    assert stop.notebooks == ()
    assert (stop.difficulty, stop.before) == ("hard", ("chapters/ch01/first.md",))


def test_neighbours_are_empty_at_the_ends(path):
    assert path.neighbours("chapters/ch10/ten.md") == ("", "chapters/ch01/first.md")
    assert path.neighbours("chapters/ch01/first.md") == ("chapters/ch10/ten.md", "chapters/ch01/rest.md")
    assert path.neighbours("chapters/ch01/second.md") == ("chapters/ch01/rest.md", "")


def test_a_page_that_is_not_on_the_path_has_no_stop(path):
    assert path.stop("docs/install.md") is None
    with pytest.raises(KeyError):
        path.number("docs/install.md")


def test_titles_are_those_of_the_pages_in_either_language(path):
    assert path.title("chapters/ch01/second.md", "en") == "1.2–1.3 Second"
    assert path.title("chapters/ch01/second.md", "zh") == "1.2–1.3 后"


def test_minutes_are_those_of_the_text_in_the_readers_language(path):
    assert path.minutes("chapters/ch10/ten.md", "en") == 20
    assert path.minutes("chapters/ch10/ten.md", "zh") == 10


def test_the_week_end_has_its_days(path):
    (day,) = path.week_end
    assert day.title("zh") == "星期六"
    assert day.stops == ("chapters/ch10/ten.md", "labs/one")


def test_a_part_of_the_number_is_not_the_chapter():
    stage = Stage("", "", ("1", "6.1"))
    assert [number for number in ("1.1", "10.1", "6.1", "6.1.3", "6.10") if stage.has(number)] == [
        "1.1",
        "6.1",
        "6.1.3",
    ]


def test_a_page_without_a_row_is_reported(tmp_path):
    rows = PATH.replace('"chapters/ch01/second.md" =', '"chapters/ch01/third.md" =')
    with pytest.raises(KeyError, match=r"second\.md has no row in"):
        reading_path(project(tmp_path, rows))


def test_a_difficulty_that_labs_do_not_have_is_reported(tmp_path):
    with pytest.raises(ValueError, match="easy, medium, hard"):
        reading_path(project(tmp_path, PATH.replace('"hard"', '"very hard"')))


def test_a_project_without_a_path_has_an_empty_one(tmp_path):
    assert reading_path(tmp_path).stops == ()
