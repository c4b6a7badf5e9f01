"""A lab's page has a place to write, or says why it has none."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from kafka_learn.labs.lab import find_lab
from kafka_learn.site.lab_page.lab_files import lab_data
from kafka_learn.site.lab_page.workbench import with_workbench

TEXT = "# Lab: something\n\nIts story.\n\n## Task 1: write (15 points)\n\nWrite it.\n"


def page(name: str, language: str = "en") -> str:
    suffix = ".zh.md" if language == "zh" else ".md"
    return with_workbench(TEXT, PurePosixPath("labs", name + suffix), language)


def test_the_link_is_above_the_tasks_and_the_place_below() -> None:
    text = page("ch06-timing-wheel")
    story, tasks = text.split("## Task 1")
    assert "[in this page](#in-this-page)" in story
    assert '<div id="lab" data-lab="ch06-timing-wheel">' in tasks
    assert "## In this page { #in-this-page }" in tasks
    assert tasks.index("importmap") < tasks.index('src="../../assets/labs/lab.mjs"')


def test_the_chinese_page_finds_the_same_files() -> None:
    text = page("ch06-timing-wheel", "zh")
    assert "## 在本页做 { #in-this-page }" in text
    assert 'src="../../../assets/labs/lab.mjs"' in text


@pytest.mark.parametrize(("name", "words"), [("spark-lag", "its tests start Spark"), ("ch02-selector", "open sockets")])
def test_a_lab_that_needs_the_clone_says_so(name: str, words: str) -> None:
    text = page(name)
    assert words in text
    assert "importmap" not in text


def test_other_pages_stay_as_they_are() -> None:
    for target in ("labs/index.md", "labs/grading.md", "live.md", "book/ch06_storage/timing-wheels.md"):
        assert with_workbench(TEXT, PurePosixPath(target), "en") == TEXT


def test_the_data_of_a_page_has_the_text_to_begin_with_and_the_hints_of_both_languages() -> None:
    lab = find_lab("ch06-timing-wheel")
    data = lab_data(lab)
    assert [module["name"] for module in data["modules"]] == list(lab.modules)
    assert all("your task " in module["text"] for module in data["modules"])
    assert data["tasks"][0]["hints"] == {"en": lab.tasks[0].hints, "zh": lab.tasks[0].hints_zh}
    assert data["silence_s"] > 2 * lab.test_limit_s
