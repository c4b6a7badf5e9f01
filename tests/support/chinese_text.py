"""The Chinese text of the project, without code, and the line of each passage.

A page wraps its lines anywhere, even within a word. So a text is a sequence of paragraphs, each joined into one
string, which knows the line of each of its characters. Fences and inline code are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
HAN = re.compile(r"[\u3400-\u9fff]")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_CODE = re.compile(r"(`+).+?\1")
_CODE_MARK = "`"
_LINK_TARGET = re.compile(r"<code>.*?</code>|\]\([^)]*\)|\{ #[\w-]+ \}|<[^<>]+>")
_CELL = re.compile(r"^# %%(.*)$")
_CHINESE_FIELD = re.compile(r"^\s*\w+_zh\s*=")
_ANY_FIELD = re.compile(r"^\s*\w+\s*=")


@dataclass
class Paragraph:
    """Lines joined into one string; ``lines[i]`` is the number of the line that character ``i`` comes from."""

    path: str
    text: str = ""
    lines: list[int] = field(default_factory=list)

    def add(self, number: int, line: str) -> None:
        """Append a line, with a space before it unless both sides are Chinese."""
        line = line.strip()
        if self.text and line and not (ord(self.text[-1]) > 0x2E80 and ord(line[0]) > 0x2E80):
            line = " " + line
        self.text += line
        self.lines += [number] * len(line)


def without_code(text: str) -> str:
    """``text`` with a bare backquote in place of inline code, and without link targets, anchors and HTML tags."""
    return _LINK_TARGET.sub("", _CODE.sub(_CODE_MARK, text))


def paragraphs(path: str, lines: list[tuple[int, str]]) -> Iterator[Paragraph]:
    """The paragraphs of numbered lines of Markdown."""
    paragraph, fence = Paragraph(path), ""
    for number, line in [*lines, (0, "")]:
        mark = _FENCE.match(line)
        if not (mark or fence or not line.strip() or line.lstrip().startswith(("#", "|", "- ", "<"))):
            paragraph.add(number, line)
            continue
        yield from _whole(paragraph)
        paragraph = Paragraph(path)
        if mark and not fence:
            fence = mark[1]
        elif fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif line.strip():
            paragraph.add(number, line)


def _whole(paragraph: Paragraph) -> Iterator[Paragraph]:
    """The paragraph without its code, if it is Chinese."""
    if not HAN.search(paragraph.text):
        return
    whole, end = Paragraph(paragraph.path), 0
    for code in _CODE.finditer(paragraph.text):
        whole.text += paragraph.text[end : code.start()] + _CODE_MARK
        whole.lines += paragraph.lines[end : code.start() + 1]
        end = code.end()
    whole.text += paragraph.text[end:]
    whole.lines += paragraph.lines[end:]
    for target in reversed(list(_LINK_TARGET.finditer(whole.text))):
        whole.text = whole.text[: target.start()] + whole.text[target.end() :]
        del whole.lines[target.start() : target.end()]
    yield whole


def chinese_of_page(path: str, text: str) -> Iterator[Paragraph]:
    """The text of a page ``*.zh.md``."""
    return paragraphs(path, list(enumerate(text.splitlines(), 1)))


def chinese_of_readme(path: str, text: str) -> Iterator[Paragraph]:
    """The text under the heading 简体中文, up to the licence."""
    lines = list(enumerate(text.splitlines(), 1))
    start = next(n for n, line in lines if line == "## 简体中文")
    end = next(n for n, line in lines if line == "## License")
    return paragraphs(path, lines[start:end])


def chinese_of_python(path: str, text: str) -> Iterator[Paragraph]:
    """The Chinese cells of a notebook, and every string with Chinese in it except docstrings."""
    if not HAN.search(text):  # most modules
        return
    cell: list[tuple[int, str]] | None = None
    for number, line in [*enumerate(text.splitlines(), 1), (0, "# %%")]:
        if mark := _CELL.match(line):
            yield from paragraphs(path, cell or [])
            cell = [] if 'lang="zh"' in mark[1] else None
        elif cell is not None and line.startswith("#"):
            cell.append((number, line[1:].removeprefix(" ")))
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HAN.search(node.value):
            lines = node.value.splitlines()
            step = (node.end_lineno or node.lineno) > node.lineno
            yield from paragraphs(path, [(node.lineno + n * step, line) for n, line in enumerate(lines)])


def chinese_of_lab(path: str, text: str) -> Iterator[Paragraph]:
    """The fields of a ``lab.toml`` whose name ends in ``_zh``, item by item."""
    chinese = False
    for number, line in enumerate(text.splitlines(), 1):
        if _ANY_FIELD.match(line):
            chinese = bool(_CHINESE_FIELD.match(line))
        if chinese:
            yield from paragraphs(path, [(number, line)])


_READERS = {
    "README.md": chinese_of_readme,
    "chapters/**/*.zh.md": chinese_of_page,
    "docs/**/*.zh.md": chinese_of_page,
    "labs/*/*.zh.md": chinese_of_page,
    "chapters/**/*.py": chinese_of_python,
    "kafka_learn/**/*.py": chinese_of_python,
    "kafka_lite/**/*.py": chinese_of_python,
    "labs/*/lab.toml": chinese_of_lab,
}


def chinese_paragraphs() -> Iterator[Paragraph]:
    """All Chinese text of the project."""
    for pattern, read in _READERS.items():
        for path in sorted(ROOT.glob(pattern)):
            yield from read(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
