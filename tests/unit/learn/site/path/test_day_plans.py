import re

import pytest

from kafka_learn.site.path.day_plans import (
    DAYS_PER_WEEK,
    WEEKS,
    PlanItem,
    divided,
    four_weeks,
    four_weeks_of_items,
    total,
    week_end,
    whole_path,
)
from kafka_learn.site.path.reading_path import reading_path
from kafka_learn.site.path.words import hours


def minutes_of(day: list[PlanItem]) -> int:
    return sum(item.minutes for item in day)


def test_items_keep_their_order_and_fall_on_the_day_of_their_middle():
    items = [PlanItem(str(number), 30) for number in range(8)]
    assert [[item.name for item in day] for day in divided(items, 4)] == [
        ["0", "1"],
        ["2", "3"],
        ["4", "5"],
        ["6", "7"],
    ]


def test_a_long_item_gets_most_of_a_day():
    items = [PlanItem("a", 10), PlanItem("long", 90), PlanItem("b", 40), PlanItem("c", 60)]
    assert [[item.name for item in day] for day in divided(items, 2)] == [["a", "long"], ["b", "c"]]


def test_four_weeks_have_every_page_once_and_no_day_is_empty_or_twice_as_long():
    path = reading_path()
    items = four_weeks_of_items(path, "en")
    days = divided(items, WEEKS * DAYS_PER_WEEK)
    planned = [item.name for day in days for item in day]
    assert [name for name in planned if name.endswith(".md")] == [stop.page for stop in path.stops]
    assert len(planned) == len(set(planned))
    usual = minutes_of(items) / len(days)
    assert [day for day in days if not usual / 2 < minutes_of(day) < usual * 2] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_day_of_the_week_end_is_a_day(language):
    spent = [float(number) for number in re.findall(r"([\d.]+) (?:h|小时) \|$", week_end(language), re.MULTILINE)]
    assert len(spent) == 2
    assert all(2.5 <= hours <= 7 for hours in spent), spent


def test_the_week_end_says_what_each_page_and_lab_takes():
    assert re.search(
        r"\| \[Lab: The offset index\]\(\.\./labs/ch06-offset-index\.md\)\{[^}]*\} \| 60 min \|", week_end("en")
    )
    assert re.search(
        r"\[6\.1\.3 日志分段与索引\]\(ch06_storage/log-segments\.md\)\{[^}]*\} \| \d+ 分钟 \|", week_end("zh")
    )


def test_every_stage_has_its_pages_with_a_name_by_which_the_browser_remembers_them():
    page = whole_path("en")
    path = reading_path()
    assert page.count("### ") == len(path.stages)
    for stop in path.stops:
        assert f'{{ data-stop="{stop.page}" }}' in page
    assert "[notebook](ch06_storage/log_segments_notebook.md)" in page


def test_a_stage_without_a_page_says_so():
    written = {stop.stage for stop in reading_path().stops}
    unwritten = [stage for stage in reading_path().stages if stage not in written]
    assert whole_path("zh").count("尚未写成。") == len(unwritten)


def test_the_plan_of_four_weeks_numbers_its_days():
    page = four_weeks("zh")
    assert page.count("### 第 ") == WEEKS
    assert [int(day) for day in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == [
        *range(1, WEEKS * DAYS_PER_WEEK + 1)
    ]


def test_the_total_counts_pages_and_labs():
    stops = reading_path().stops
    assert total("en").startswith(f"The path has {len(stops)} pages, ")
    assert f"{len({lab for stop in stops for lab in stop.labs})} 个实验" in total("zh")


def test_hours_are_rounded_to_halves():
    assert [hours(minutes, "en") for minutes in (20, 60, 80)] == ["0.5 h", "1 h", "1.5 h"]
