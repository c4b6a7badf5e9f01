"""Plans of a course, of 4 weeks and of 12, made of the path, the order of the labs and the times of both.

Each public function takes the page's language and returns Markdown for a page in ``book/``, for a ``generated``
directive. A page or a lab that is added is in the plans of the next build::

    twelve weeks   every page, every lab
    four weeks     every page; of each stage one lab, of a long stage two, and what comes before them: none that is hard

A lab comes after its page and after the labs that come before it (``after`` in its ``lab.toml``).
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_learn.labs.way.lab_order import in_order
from kafka_learn.site.path.day_plans import PlanItem, divided, link_of
from kafka_learn.site.path.reading_path import ReadingPath, Stage, reading_path
from kafka_learn.site.path.words import hours, how_hard, word
from kafka_learn.site.reference import table

SHORT, LONG = 4, 12
LONG_STAGE_MIN = 120
"""From this reading time on, a stage has two labs in the short course."""
LABS = "labs/"


def four_weeks(language: str) -> str:
    """A course of four weeks."""
    return _course(SHORT, language)


def twelve_weeks(language: str) -> str:
    """A course of twelve weeks."""
    return _course(LONG, language)


def course_weeks(weeks: int, path: ReadingPath, language: str) -> list[list[PlanItem]]:
    """The pages and labs of each week, in order; all weeks take about the same time."""
    chosen = set(_every_lab(path)) if weeks == LONG else set(few_labs(path, language))
    return divided(course_items(path, chosen, language), weeks)


def course_items(path: ReadingPath, chosen: set[str], language: str) -> list[PlanItem]:
    """Each page, and behind it the chosen labs for which everything has been read and done."""
    items: list[PlanItem] = []
    left = [f"{LABS}{lab.name}" for lab in in_order(path.lab(name) for name in _every_lab(path))]
    left = [name for name in left if name in chosen]
    read: set[str] = set()
    for stop in path.stops:
        items.append(PlanItem(stop.page, path.minutes(stop.page, language)))
        read.update(stop.labs)
        while name := next((each for each in left if each in read and not _waits(each, left, path)), ""):
            left.remove(name)
            items.append(PlanItem(name, path.lab(name).minutes))
    return items


def few_labs(path: ReadingPath, language: str) -> list[str]:
    """The labs of the short course: of each stage those that ask for the fewest others, the easier first."""
    taken: list[str] = []
    for stage in path.stages:
        number = 2 if _reading(stage, path, language) >= LONG_STAGE_MIN else 1
        for _ in range(number):
            left = [name for name in _labs_of(stage, path) if name not in taken]
            groups = [[*_missing(name, taken, path), name] for name in left]
            possible = [names for names in groups if not any(_is(each, "hard", path) for each in names)]
            possible.sort(key=lambda names: (len(names), not _is(names[-1], "easy", path)))
            taken += possible[0] if possible else []
    return taken


def _missing(name: str, taken: Sequence[str], path: ReadingPath) -> list[str]:
    """The labs that come before one, and before those, that were not taken; in order."""
    found: list[str] = []
    for before in path.lab(name).after:
        if f"{LABS}{before}" not in taken:
            found += [*_missing(f"{LABS}{before}", taken, path), f"{LABS}{before}"]
    return list(dict.fromkeys(found))


def _is(name: str, difficulty: str, path: ReadingPath) -> bool:
    return path.lab(name).difficulty == difficulty


def _waits(name: str, left: Sequence[str], path: ReadingPath) -> bool:
    """Whether a lab that comes before this one is still to be done."""
    return any(f"{LABS}{before}" in left for before in path.lab(name).after)


def _reading(stage: Stage, path: ReadingPath, language: str) -> int:
    return sum(path.minutes(stop.page, language) for stop in path.stops if stop.stage == stage)


def _labs_of(stage: Stage, path: ReadingPath) -> list[str]:
    return list(dict.fromkeys(name for stop in path.stops if stop.stage == stage for name in stop.labs))


def _every_lab(path: ReadingPath) -> list[str]:
    return list(dict.fromkeys(name for stop in path.stops for name in stop.labs))


# ── words ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _course(weeks: int, language: str) -> str:
    path = reading_path()
    planned = course_weeks(weeks, path, language)
    parts = [_sums(planned, language)]
    for number, week in enumerate(planned, 1):
        head = f"### {word('week', language).format(number)}{word('colon', language)}{_subject(week, path, language)}"
        parts.append(f"{head}\n\n{_table(week, path, language)}")
    return "\n\n".join(parts)


def _sums(planned: Sequence[Sequence[PlanItem]], language: str) -> str:
    """One sentence with the hours of the course and of its longest week."""
    every = [item for week in planned for item in week]
    labs = [item for item in every if item.name.startswith(LABS)]
    longest = max(sum(item.minutes for item in week) for week in planned)
    return word("course", language).format(
        len(every) - len(labs), len(labs), round(sum(item.minutes for item in every) / 60), hours(longest, language)
    )


def _subject(week: Sequence[PlanItem], path: ReadingPath, language: str) -> str:
    """The titles of the stages of which a week has pages."""
    stops = filter(None, (path.stop(item.name) for item in week))
    titles = list(dict.fromkeys(stop.stage.title(language) for stop in stops)) or [word("labs only", language)]
    return word("semicolon", language).join(titles)


def _table(week: Sequence[PlanItem], path: ReadingPath, language: str) -> str:
    rows = [_row(item, path, language) for item in week]
    spent = hours(sum(item.minutes for item in week), language)
    return table([word("to do", language), word("difficulty", language), spent], rows)


def _row(item: PlanItem, path: ReadingPath, language: str) -> list[str]:
    stop = path.stop(item.name)
    difficulty = stop.difficulty if stop is not None else path.lab(item.name).difficulty
    minutes = word("minutes", language).format(item.minutes)
    return [link_of(item.name, path, language), how_hard(difficulty, language), minutes]
