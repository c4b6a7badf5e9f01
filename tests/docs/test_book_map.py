"""The map of the book is complete, and every module's section exists."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.path.reading_path import reading_path
from kafka_learn.site.runnable import steps
from kafka_learn.site.stated_facts import reasons_not_yet
from kafka_lite.book.contents import Section, load_book
from kafka_lite.book.data_files import read_toml
from kafka_lite.book.module_reference import ModuleReference, module_references, parse_reference

# The printed table of contents: for each chapter, the number of x.y.z sections of each x.y (0: none).
SHAPE = {
    "1": [0, 3, 3, 3, 0],
    "2": [4, 3, 5, 0],
    "3": [3, 5, 3, 2, 5, 4, 2],
    "4": [6, 3, 5, 4, 0],
    "5": [4, 4, 5, 7, 0],
    "6": [6, 2, 3, 0],
    "7": [7, 3, 2, 0, 0],
    "8": [2, 3, 7, 0],
    "9": [4, 4, 0],
    "10": [0, 0, 0, 0],
}
BOOK = load_book()
NUMBERS = {section.number for section in BOOK.sections}


@cache
def references() -> list[ModuleReference]:
    """Of all modules, read on first use: a worker that only collects these tests does not wait for it."""
    return module_references()


def test_the_map_has_exactly_the_sections_of_the_printed_contents():
    printed = []
    for chapter, parts in SHAPE.items():
        for y, count in enumerate(parts, 1):
            printed.append(f"{chapter}.{y}")
            printed.extend(f"{chapter}.{y}.{z}" for z in range(1, count + 1))
    assert [section.number for section in BOOK.sections] == printed
    assert [chapter.number for chapter in BOOK.chapters] == list(SHAPE)


def test_every_section_has_both_titles_and_a_package_unless_it_is_a_group_or_a_summary():
    for section in BOOK.sections:
        assert section.zh, section.number
        assert section.en, section.number
        groups = any(n.startswith(section.number + ".") for n in NUMBERS)
        if not groups and section.zh != "小结" and section.number != "1.1":
            assert section.home, f"{section.number} names no package"


def test_added_chapters_have_letters_and_each_of_their_sections_a_page_and_both_titles():
    assert BOOK.added_chapters
    for chapter in BOOK.added_chapters:
        assert re.fullmatch("[A-Z]", chapter.number)
        assert BOOK.sections_of(chapter.number)
    numbers = [section.number for section in BOOK.added_sections]
    assert numbers == [s.number for chapter in BOOK.added_chapters for s in BOOK.sections_of(chapter.number)]
    counted = Counter(section.chapter for section in BOOK.added_sections)
    assert numbers == [f"{letter}.{n}" for letter, count in counted.items() for n in range(1, count + 1)]
    folders = {chapter.number: chapter.folder for chapter in BOOK.added_chapters}
    for section in BOOK.added_sections:
        assert section.zh, section.number
        assert section.en, section.number
        assert section.page.startswith(f"{folders[section.chapter]}/"), section.number


def test_a_page_of_an_added_chapter_shows_code_of_its_packages():
    for section in BOOK.added_sections:
        text = (PROJECT_ROOT / section.page).read_text()
        shown = re.findall(r"^<!-- source ([\w.]+):", text, re.MULTILINE)
        assert section.home, section.number
        assert any(module.startswith(section.home) for module in shown), (section.number, section.home, shown)


def test_titles_are_in_simplified_chinese():
    traditional = set("數據內幕圖詳協調處過發讀寫與儲層級實現區費類連結構傳輸時間舊選擇請隊應")
    for section in BOOK.every_section:
        assert not traditional & set(section.zh), section.zh


@pytest.mark.parametrize("paths_of", [lambda s: s.pages, lambda s: [s.notebook], lambda s: s.labs])
def test_the_pages_notebooks_and_labs_of_a_section_exist(paths_of):
    paths = [path for section in BOOK.every_section for path in paths_of(section) if path]
    assert paths
    for path in paths:
        assert (PROJECT_ROOT / path).exists(), path


def test_every_page_notebook_and_lab_is_on_the_map():
    listed = {path for s in BOOK.every_section for path in (*s.pages, s.notebook, *s.labs) if path}
    labs = {str(p.parent.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("labs/*/lab.toml")}
    chapters = {str(p.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("chapters/*/*.md") if ".zh." not in p.name}
    notebooks = {str(p.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("chapters/*/*.py")}
    assert labs | chapters | notebooks <= listed


def test_topics_are_listed_under_an_existing_section():
    assert {topic.section for topic in BOOK.topics} <= NUMBERS
    assert max(Counter(topic.name for topic in BOOK.topics).values()) == 1


def test_every_module_names_existing_sections():
    unknown = [(ref.module, s) for ref in references() for s in ref.sections if s not in NUMBERS]
    assert unknown == []


def test_every_module_with_a_kafka_counterpart_names_its_section():
    assert [ref.module for ref in references() if ref.has_counterpart and not ref.sections and "." in ref.module] == []


def test_a_section_with_a_text_has_code_in_its_package():
    """A summary has no package: its page looks at the code of the other sections."""
    for section in BOOK.sections:
        if section.page and section.home:
            modules = [ref.module for ref in references() if section.number in ref.sections]
            assert any(module.startswith(section.home) for module in modules), (section.number, section.home, modules)


def test_a_chapter_whose_packages_do_not_exist_is_among_what_is_missing():
    """The home page and the README name what is not there yet: ``missing`` in kafka_learn/site/stated_facts.py."""
    modules = [ref.module for ref in references()]
    bare = {s.chapter for s in BOOK.sections if s.home and not any(module.startswith(s.home) for module in modules)}
    reasons = " ".join(reasons_not_yet())
    assert [chapter for chapter in sorted(bare) if f"chapter {chapter}, " not in reasons] == []


LATER: dict[str, str] = {}
"""Rows of the map without text, code or exercise, and what they wait for; a chapter stands for its sections."""
TYPED = ("1.4.1", "1.4.2", "1.4.3")
"""Quick starts are exercises themselves: their commands are typed, and run in CI (test_quickstart.py)."""
ROWS = [section for section in BOOK.sections if not any(n.startswith(f"{section.number}.") for n in NUMBERS)]


def waits(number: str) -> bool:
    """Whether a row is, or is below, one of LATER."""
    return any(number == later or number.startswith(f"{later}.") for later in LATER)


def lacking(section: Section) -> list[str]:
    """The parts of text, code and exercise that a row lacks.

    Its code is that of the modules that name it, or, for a summary, the code that its page shows.
    """
    page = (PROJECT_ROOT / section.page).read_text(encoding="utf-8") if section.page else ""
    has_code = "<!-- source " in page or any(section.number in ref.sections for ref in references())
    has_exercise = bool(section.notebook or section.labs)
    if section.number in TYPED:
        has_exercise = len(steps(page)) > 3
    found = {"text": bool(page), "code": has_code, "exercise": has_exercise}
    return [what for what, is_there in found.items() if not is_there]


@pytest.mark.parametrize("section", [pytest.param(row, id=row.number) for row in ROWS if not waits(row.number)])
def test_every_row_of_the_map_has_a_text_code_and_an_exercise(section: Section) -> None:
    assert lacking(section) == []


def test_every_row_that_is_left_for_later_still_lacks_something() -> None:
    for later in LATER:
        rows = [row for row in ROWS if row.number == later or row.number.startswith(f"{later}.")]
        assert rows, f"{later} is no row of the map"
        assert any(map(lacking, rows)), f"{later} has everything: it needs no exception any more"


def test_what_a_row_lacks_is_found() -> None:
    row = BOOK.section("6.4")
    assert lacking(row) == []
    assert lacking(replace(row, notebook="", labs=())) == ["exercise"]
    assert lacking(replace(row, page="", number="0")) == ["text", "code"]
    assert lacking(replace(BOOK.section("1.4.1"), page="chapters/ch06_storage/reading.md")) == ["exercise"]


def test_a_reference_is_read_from_the_last_lines_of_a_docstring():
    docstring = "What.\n\nKafka 0.10.2: core/.../log/LogSegment.scala · book 6.1.3, 10.2\n"
    ref = parse_reference("m", docstring)
    assert ref.has_counterpart
    assert ref.sections == ("6.1.3", "10.2")
    assert not parse_reference("m", "Kafka 0.10.2: somewhere, without a section.").sections


def test_every_module_says_what_it_is_for():
    assert [
        p for p in PROJECT_ROOT.glob("kafka_lite/**/*.py") if not re.match(r'\s*(#.*\n)*\s*r?"""', p.read_text())
    ] == []


def test_every_page_is_on_the_path_once_after_what_one_knows_before_it():
    path = reading_path()
    pages = [page for section in BOOK.every_section for page in section.pages]
    on_the_path = [stop.page for stop in path.stops]
    assert len(on_the_path) == len(set(on_the_path)) == len(set(pages))
    assert set(on_the_path) == set(pages)
    for stop in path.stops:
        for known in stop.before:
            assert path.number(known) < path.number(stop.page), f"{stop.page} needs {known}, which comes later"


def test_a_page_needs_nothing_only_at_the_beginning_of_the_path():
    path = reading_path()
    assert path.stops[0].before == ()
    assert [stop.page for stop in path.stops if not stop.before and stop.stage not in path.stages[:2]] == []


def test_every_section_belongs_to_one_stage_of_the_path():
    stages = reading_path().stages
    for section in BOOK.every_section:
        assert [stage.has(section.number) for stage in stages].count(True) == 1, section.number


def test_no_row_of_the_path_is_for_a_page_that_is_gone():
    rows = read_toml(PROJECT_ROOT / "chapters" / "path.toml")["pages"]
    assert set(rows) == {stop.page for stop in reading_path().stops}


def test_the_week_end_names_pages_and_labs_of_the_path():
    path = reading_path()
    known = {name for stop in path.stops for name in (stop.page, *stop.labs)}
    assert len(path.week_end) == 2
    for day in path.week_end:
        assert set(day.stops) <= known, day.en
