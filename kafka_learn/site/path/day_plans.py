"""The page about the path: all of its stages, a plan of a week-end, and one of four weeks.

Each public function takes the page's language and returns Markdown for a page in ``book/``, for a ``generated``
directive. Every link to a stop has the page's name as ``data-stop``, by which the browser finds what has been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_learn.site.path.reading_path import PlannedDay, ReadingPath, Stage, Stop, reading_path
from kafka_learn.site.path.words import hours, how_hard, word
from kafka_learn.site.reference import table

WEEKS = 4
DAYS_PER_WEEK = 6


@dataclass(frozen=True)
class PlanItem:
    """A page to read or a lab to do, and its time in minutes."""

    name: str
    minutes: int


def whole_path(language: str) -> str:
    """Every stage with its pages: time, difficulty, notebooks and labs."""
    path = reading_path()
    parts = [
        f"### {number}. {stage.title(language)}\n\n{_stage(stage, path, language)}"
        for number, stage in enumerate(path.stages, 1)
    ]
    return "\n\n".join(parts)


def week_end(language: str) -> str:
    """The short way, day by day."""
    path = reading_path()
    return "\n\n".join(_planned_day(day, path, language) for day in path.week_end)


def four_weeks(language: str) -> str:
    """The whole path in four weeks of six days, with one lab for each page that has any."""
    path = reading_path()
    days = divided(four_weeks_of_items(path, language), WEEKS * DAYS_PER_WEEK)
    parts = []
    for week in range(WEEKS):
        of_week = days[week * DAYS_PER_WEEK : (week + 1) * DAYS_PER_WEEK]
        rows = [_day_row(week * DAYS_PER_WEEK + number, day, path, language) for number, day in enumerate(of_week, 1)]
        head = [word(name, language) for name in ("day", "to do", "time")]
        parts.append(f"### {word('week', language).format(week + 1)}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def total(language: str) -> str:
    """One sentence: the number of pages and labs, and the hours that they take."""
    path = reading_path()
    reading = sum(path.minutes(stop.page, language) for stop in path.stops)
    labs = {name for stop in path.stops for name in stop.labs}
    doing = sum(path.lab(name).minutes for name in labs)
    return word("total", language).format(len(path.stops), round(reading / 60), len(labs), round(doing / 60))


def four_weeks_of_items(path: ReadingPath, language: str) -> list[PlanItem]:
    """Each page, and after it the first of its labs that has not come yet."""
    items: list[PlanItem] = []
    done: set[str] = set()
    for stop in path.stops:
        items.append(PlanItem(stop.page, path.minutes(stop.page, language)))
        lab = next((name for name in stop.labs if name not in done), "")
        if lab:
            done.add(lab)
            items.append(PlanItem(lab, path.lab(lab).minutes))
    return items


def divided(items: Sequence[PlanItem], days: int) -> list[list[PlanItem]]:
    """The items on so many days, in their order: each on the day in which its middle falls.

    >>> pages = [PlanItem("a", 30), PlanItem("b", 60), PlanItem("c", 30)]
    >>> [[item.name for item in day] for day in divided(pages, 2)]
    [['a'], ['b', 'c']]
    """
    whole = sum(item.minutes for item in items)
    plan: list[list[PlanItem]] = [[] for _ in range(days)]
    spent = 0
    for item in items:
        middle = spent + item.minutes / 2
        plan[int(middle * days / whole)].append(item)
        spent += item.minutes
    return plan


def _planned_day(day: PlannedDay, path: ReadingPath, language: str) -> str:
    items = [PlanItem(name, _minutes(name, path, language)) for name in day.stops]
    rows = [[link_of(item.name, path, language), word("minutes", language).format(item.minutes)] for item in items]
    spent = hours(sum(item.minutes for item in items), language)
    return f"### {day.title(language)}\n\n{table([word('to do', language), spent], rows)}"


def _day_row(number: int, day: Sequence[PlanItem], path: ReadingPath, language: str) -> list[str]:
    links = "<br>".join(link_of(item.name, path, language) for item in day)
    return [str(number), links, hours(sum(item.minutes for item in day), language)]


def _stage(stage: Stage, path: ReadingPath, language: str) -> str:
    stops = [stop for stop in path.stops if stop.stage == stage]
    if not stops:
        return word("to be written", language)
    head = ["", *(word(name, language) for name in ("page", "time", "difficulty", "to do"))]
    return table(head, [_stop_row(stop, path, language) for stop in stops])


def _stop_row(stop: Stop, path: ReadingPath, language: str) -> list[str]:
    doing = [link_of(name, path, language) for name in (*stop.notebooks, *stop.labs)]
    minutes = word("minutes", language).format(path.minutes(stop.page, language))
    page = link_of(stop.page, path, language)
    return [str(path.number(stop.page)), page, minutes, how_hard(stop.difficulty, language), "<br>".join(doing)]


def _minutes(name: str, path: ReadingPath, language: str) -> int:
    return path.lab(name).minutes if name.startswith("labs/") else path.minutes(name, language)


def link_of(name: str, path: ReadingPath, language: str) -> str:
    """A link from a page in ``book/`` to a page, a notebook or a lab."""
    if name.startswith("labs/"):
        title = f"{word('lab', language)}{path.lab(name).title_in(language)}"
        return f'[{title}](../{name}.md){{ data-stop="{name}" }}'
    if name.endswith(".py"):
        return f"[{word('notebook', language)}]({_from_book(name.replace('.py', '_notebook.md'))})"
    return f'[{path.title(name, language)}]({_from_book(name)}){{ data-stop="{name}" }}'


def _from_book(page: str) -> str:
    return page.removeprefix("chapters/") if page.startswith("chapters/") else f"../{page.removeprefix('docs/')}"
