"""Every Chinese page has the structure of its English one: sections, fences, programs, tables, lists and links."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ENGLISH_ONLY = {"docs/design/architecture.md", "docs/design/performance.md"}
ENGLISH_ONLY |= {str(page.relative_to(ROOT)) for page in (ROOT / "docs" / "contributing").glob("*.md")}
PAGES = sorted(
    path
    for folder in ("chapters", "docs", "labs")
    for path in (ROOT / folder).rglob("*.md")
    if not path.name.endswith(".zh.md") and str(path.relative_to(ROOT)) not in ENGLISH_ONLY
)
_BLOCK = re.compile(r"^( *)(`{3,})([^\n]*)\n(.*?)^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^ *<!-- (.*) -->$", re.MULTILINE)
_TITLE = re.compile(r' title="[^"]*"')
_HEADING = re.compile(r'^(#+) (.*?)(?: <a id="[\w-]+"></a>)?$', re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#]*)(?:#[^)]*)?\)")
_ENGLISH_PAGES = {Path(page).name for page in ENGLISH_ONLY}
STANDARD_HEADINGS = {
    "What you will be able to do": "学完之后，你能够",
    "Invariants to keep in mind": "需要记住的不变式",
    "Predict": "先预测",
    "How Kafka's Scala differs": "与 Kafka 的 Scala 代码有何不同",
    "How Kafka's Java differs": "与 Kafka 的 Java 代码有何不同",
    "Experiment": "动手试验",
    "Checkpoint": "自测",
    "Test your understanding": "检验理解",
    "Questions": "检验理解",
    "Bonus": "更进一步",
    "Further": "更进一步",
    "Answers to the predictions": "预测的答案",
}


def twin_of(page: Path) -> Path:
    return page.with_name(f"{page.stem}.zh.md")


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(params=PAGES, ids=name_of)
def both(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The English and the Chinese text of a page."""
    assert twin_of(request.param).exists(), f"no {twin_of(request.param).name}"
    return read(request.param), read(twin_of(request.param))


def blocks(text: str) -> list[tuple[str, str]]:
    """The info string of each fenced block, without its title, and its content."""
    return [(_TITLE.sub("", info), body) for _, _, info, body in _BLOCK.findall(text)]


def prose(text: str) -> str:
    return _BLOCK.sub("", text)


def table_shapes(text: str) -> list[int]:
    """The number of columns in each row of each table."""
    rows = (line for line in prose(text).splitlines() if line.lstrip().startswith("|"))
    return [len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row))) for row in rows]


class _WithoutWords(ast.NodeTransformer):
    """Removes from a program what it prints: its strings, and the width of its output."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        values = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
        return ast.Tuple([self.visit(each) for each in values], ast.Load())

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            node.args = [each for each in node.args if not isinstance(each, ast.Constant)]
        return self.generic_visit(node)


def program(source: str) -> str:
    return ast.dump(_WithoutWords().visit(ast.parse(source)))


def test_there_are_pages() -> None:
    assert len(PAGES) > 60


def test_the_sections_are_the_same(both: tuple[str, str]) -> None:
    english, chinese = ([len(mark) for mark, _ in _HEADING.findall(prose(text))] for text in both)
    assert chinese == english


def test_a_standard_section_has_one_name(both: tuple[str, str]) -> None:
    english, chinese = ([title for _, title in _HEADING.findall(prose(text))] for text in both)
    found = {ours: theirs for ours, theirs in zip(english, chinese, strict=True) if ours in STANDARD_HEADINGS}
    assert found == {ours: STANDARD_HEADINGS[ours] for ours in found}


def test_the_same_code_figures_and_runs_are_shown_in_the_same_order(both: tuple[str, str]) -> None:
    english, chinese = ([info for info, _ in blocks(text)] for text in both)
    assert chinese == english
    ours, theirs = (_DIRECTIVE.findall(prose(text)) for text in both)
    assert theirs == ours


def test_programs_differ_in_their_words_only(both: tuple[str, str]) -> None:
    for (info, ours), (_, theirs) in zip(*map(blocks, both), strict=True):
        if info.strip() == "python run":
            assert program(theirs) == program(ours)


def test_tables_questions_and_lists_have_the_same_length(both: tuple[str, str]) -> None:
    english, chinese = both
    assert table_shapes(chinese) == table_shapes(english)
    for pattern in (r"^<details", r"^- \[ \] ", r"^ *- ", r"^ *\d+\. "):
        english_count, chinese_count = (len(re.findall(pattern, prose(text), re.MULTILINE)) for text in both)
        assert chinese_count == english_count, pattern


def test_links_lead_to_the_same_pages(both: tuple[str, str]) -> None:
    english, chinese = (_LINK.findall(prose(text)) for text in both)
    english_of = {"docs.python.org/zh-cn/": "docs.python.org/", ".zh.md": ".md"}
    for ours, theirs in english_of.items():
        chinese = [link.replace(ours, theirs) for link in chinese]
    assert sorted(chinese) == sorted(english)


def test_a_chinese_page_links_to_chinese_pages(both: tuple[str, str]) -> None:
    pages = [link for link in _LINK.findall(prose(both[1])) if link.endswith(".md") and "://" not in link]
    assert [link for link in pages if not link.endswith(".zh.md") and Path(link).name not in _ENGLISH_PAGES] == []


def test_a_program_is_compared_without_what_it_prints() -> None:
    ours = program('for n in range(3):\n    print(f"{n:2} of {n}", "messages")')
    assert program('for n in range(3):\n    print("共", f"{n:2}，{n}")') == ours
    assert program('for n in range(4):\n    print(f"{n:2} of {n}", "messages")') != ours
