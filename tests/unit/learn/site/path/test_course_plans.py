"""The plans of a course: what comes before what, and weeks that take about the same time."""

from __future__ import annotations

import pytest

from kafka_learn.site.path.course_plans import (
    LABS,
    LONG,
    SHORT,
    course_items,
    course_weeks,
    few_labs,
    four_weeks,
    twelve_weeks,
)
from kafka_learn.site.path.day_plans import PlanItem
from kafka_learn.site.path.reading_path import ReadingPath, reading_path


@pytest.fixture(scope="module")
def path() -> ReadingPath:
    return reading_path()


def minutes(week: list[PlanItem]) -> int:
    return sum(item.minutes for item in week)


@pytest.mark.parametrize("weeks", [SHORT, LONG])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_is_there_once_and_no_week_is_much_longer(path: ReadingPath, weeks: int, language: str) -> None:
    plan = course_weeks(weeks, path, language)
    names = [item.name for week in plan for item in week]
    assert [name for name in names if name.endswith(".md")] == [stop.page for stop in path.stops]
    assert len(set(names)) == len(names)
    usual = sum(map(minutes, plan)) / weeks
    assert [week for week in plan if not usual * 0.75 < minutes(week) < usual * 1.25] == []


def test_the_long_course_has_every_lab(path: ReadingPath) -> None:
    names = {item.name for week in course_weeks(LONG, path, "en") for item in week}
    assert {name for stop in path.stops for name in stop.labs} <= names


@pytest.mark.parametrize("weeks", [SHORT, LONG])
def test_a_lab_comes_after_its_page_and_the_labs_before_it(path: ReadingPath, weeks: int) -> None:
    names = [item.name for week in course_weeks(weeks, path, "en") for item in week]
    for number, name in enumerate(names):
        if name.startswith(LABS):
            assert any(name in stop.labs for stop in path.stops if stop.page in names[:number]), name
            assert {f"{LABS}{before}" for before in path.lab(name).after} <= set(names[:number]), name


def test_the_short_course_has_an_easy_or_medium_lab_of_each_stage_that_has_labs(path: ReadingPath) -> None:
    chosen = few_labs(path, "en")
    assert not [name for name in chosen if path.lab(name).difficulty == "hard"]
    for stage in path.stages:
        own = {name for stop in path.stops if stop.stage == stage for name in stop.labs}
        assert not own or own & set(chosen), stage.en


def test_without_labs_only_pages_are_left(path: ReadingPath) -> None:
    assert [item.name for item in course_items(path, set(), "en")] == [stop.page for stop in path.stops]


def test_a_week_says_what_it_is_about_and_what_it_takes() -> None:
    assert "### Week 1: What Kafka is; Run it" in twelve_weeks("en")
    assert "### 第 1 周：Kafka 是什么；先运行起来" in four_weeks("zh")
    assert "[Lab: The offset index](../labs/ch06-offset-index.md)" in four_weeks("en")
    assert "| easy | 60 min |" in four_weeks("en")
    assert twelve_weeks("en").split(",")[0] == f"{len(reading_path().stops)} pages and {len(labs())} labs"


def labs() -> set[str]:
    return {name for stop in reading_path().stops for name in stop.labs}
