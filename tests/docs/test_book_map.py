"""The map of the book is complete, and every module's place in it exists."""

import re
from collections import Counter

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_lite.book.contents import load_book
from kafka_lite.book.module_reference import module_references, parse_reference

# The printed table of contents: for each chapter, how many x.y.z each x.y has (0: the section has no parts).
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
REFERENCES = module_references()


def test_every_section_of_the_printed_contents_is_there_and_no_other():
    printed = []
    for chapter, parts in SHAPE.items():
        for y, count in enumerate(parts, 1):
            printed.append(f"{chapter}.{y}")
            printed.extend(f"{chapter}.{y}.{z}" for z in range(1, count + 1))
    assert [section.number for section in BOOK.sections] == printed
    assert [chapter.number for chapter in BOOK.chapters] == list(SHAPE)


def test_every_section_has_both_titles_and_a_home_unless_it_only_groups_or_sums_up():
    for section in BOOK.sections:
        assert section.zh, section.number
        assert section.en, section.number
        groups = any(n.startswith(section.number + ".") for n in NUMBERS)
        if not groups and section.zh != "小结" and section.number != "1.1":
            assert section.home, f"{section.number} names no package"


def test_titles_are_in_simplified_chinese():
    traditional = set("數據內幕圖詳協調處過發讀寫與儲層級實現區費類連結構傳輸時間舊選擇請隊應")
    for section in BOOK.sections:
        assert not traditional & set(section.zh), section.zh


@pytest.mark.parametrize("paths_of", [lambda s: [s.page], lambda s: [s.notebook], lambda s: s.labs])
def test_what_a_section_says_it_has_exists(paths_of):
    paths = [path for section in BOOK.sections for path in paths_of(section) if path]
    assert paths
    for path in paths:
        assert (PROJECT_ROOT / path).exists(), path


def test_every_page_notebook_and_lab_is_on_the_map():
    listed = {path for s in BOOK.sections for path in (s.page, s.notebook, *s.labs) if path}
    labs = {str(p.parent.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("labs/*/lab.toml")}
    chapters = {str(p.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("chapters/*/*.md") if ".zh." not in p.name}
    notebooks = {str(p.relative_to(PROJECT_ROOT)) for p in PROJECT_ROOT.glob("chapters/*/*.py")}
    assert labs | chapters | notebooks <= listed


def test_topics_stand_beside_a_section_that_exists():
    assert {topic.section for topic in BOOK.topics} <= NUMBERS
    assert max(Counter(topic.name for topic in BOOK.topics).values()) == 1


def test_every_module_names_sections_that_exist():
    unknown = [(ref.module, s) for ref in REFERENCES for s in ref.sections if s not in NUMBERS]
    assert unknown == []


def test_every_module_with_a_kafka_counterpart_names_its_section():
    assert [ref.module for ref in REFERENCES if ref.has_counterpart and not ref.sections and "." in ref.module] == []


def test_a_section_that_has_a_text_has_code_in_its_home():
    for section in BOOK.sections:
        if section.page:
            modules = [ref.module for ref in REFERENCES if section.number in ref.sections]
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
