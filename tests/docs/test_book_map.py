"""The map of the book is complete, and every module's section exists."""

import re
from collections import Counter
from functools import cache

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_lite.book.contents import load_book
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


@pytest.mark.parametrize("paths_of", [lambda s: [s.page], lambda s: [s.notebook], lambda s: s.labs])
def test_the_pages_notebooks_and_labs_of_a_section_exist(paths_of):
    paths = [path for section in BOOK.every_section for path in paths_of(section) if path]
    assert paths
    for path in paths:
        assert (PROJECT_ROOT / path).exists(), path


def test_every_page_notebook_and_lab_is_on_the_map():
    listed = {path for s in BOOK.every_section for path in (s.page, s.notebook, *s.labs) if path}
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


def test_every_page_notebook_and_lab_is_in_the_menu_of_the_site():
    menu = (PROJECT_ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    texts = {path for section in BOOK.sections for path in (section.page, section.notebook)} - {""}
    pages = {re.sub("^chapters/", "book/", text).removeprefix("docs/").replace(".py", "_notebook.md") for text in texts}
    pages |= {f"labs/{lab.parent.name}.md" for lab in (PROJECT_ROOT / "labs").glob("*/lab.toml")}
    assert len(pages) > 80
    assert [page for page in sorted(pages) if f": {page}\n" not in menu] == []


def test_every_page_of_the_book_has_a_chinese_name_in_the_menu():
    menu = (PROJECT_ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    names = re.findall(r"^ +- ([^:\n]+): book/", menu, re.MULTILINE)
    assert len(names) > 60
    chinese = set(re.findall(r"^ +([^-:\n][^:\n]*): .*[\u4e00-\u9fff]", menu, re.MULTILINE))
    assert set(names) <= chinese
