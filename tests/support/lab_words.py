"""What the tests of a lab say: titles, cases and messages, found in their source.

    python -m tests.support.lab_words LAB          # those that labs/<lab>/zh.toml lacks, numbered
    python -m tests.support.lab_words LAB FILE     # writes labs/<lab>/zh.toml, with the lines of FILE as theirs;
                                                   # FILE -: without what the tests no longer say

A message is an f-string or a string of several words. The key of a value is its expression, or a number if the
expression is long or has braces of its own. A string of several words that is no message, such as a record's value, is
translated by an empty string.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kafka_learn.labs.lab import LABS
from kafka_learn.labs.way.in_chinese import FILE, values_of

KINDS = ("titles", "cases", "messages")
_LONGEST = 40
_WORDS = re.compile(r"[A-Za-z]{2,}[,:;.)]? [\w({]|[\w)}][,:;.)]? [A-Za-z]{2,}")


def words_of(files: Iterable[Path]) -> dict[str, dict[str, None]]:
    """The titles, cases and messages in files, in their order."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found["titles"][(ast.get_docstring(node) or node.name).splitlines()[0]] = None
        found["cases"] |= dict.fromkeys(case.replace("-", " ") for case in _cases(tree))
        found["messages"] |= dict.fromkeys(_messages(tree, must=False))
    return found


def _cases(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("id", "ids"):
            for each in ast.walk(node.value):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def _messages(node: ast.AST, *, must: bool) -> Iterator[str]:
    """``must``: the node is what a test says if it fails, however short."""
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and (text := _template(node)):
        if _WORDS.search(text) or must:
            yield text
        inner = [each.value for each in ast.walk(node) if isinstance(each, ast.FormattedValue)]
        for each in inner:
            yield from _messages(each, must=False)
        return
    for child in _told(node):
        failing = isinstance(node, ast.Assert) and child is node.msg
        failing |= isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.fail" and child in node.args
        yield from _messages(child, must=failing)


def _told(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node without docstrings and the ids of cases."""
    for child in ast.iter_child_nodes(node):
        is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        is_case = isinstance(child, ast.keyword) and child.arg in ("id", "ids", "match")
        if not (is_docstring or is_case):
            yield child


def _template(node: ast.AST) -> str:
    """The text with its values in braces; empty if it is no text."""
    names: list[str] = []
    parts = list(_parts(node))
    if not any(isinstance(part, str) for part in parts):
        return ""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part.replace("{", "{{").replace("}", "}}")
        else:
            names.append(_name(part, len(names) + 1))
            text += f"{{{names[-1]}}}"
    return text


def _parts(node: ast.AST) -> Iterator[str | ast.AST]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
        else:
            yield node
    elif isinstance(node, ast.JoinedStr):
        for each in node.values:
            yield from _parts(each)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    else:
        yield node


def _name(node: ast.AST, number: int) -> str:
    name = ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node)
    return name if len(name) <= _LONGEST and not set(name) & set("{}\"'\n") else str(number)


def words_of_lab(folder: Path) -> dict[str, dict[str, None]]:
    """Those of a lab's tests."""
    return words_of(sorted((folder / "tests").glob("*.py")))


def translated(folder: Path) -> dict[str, dict[str, str]]:
    """The Chinese words of a lab; empty if it has none."""
    file = folder / FILE
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def missing(words: Mapping[str, Iterable[str]], chinese: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    """The kind and the text of what is not translated."""
    return [(kind, text) for kind in KINDS for text in words[kind] if text not in chinese.get(kind, {})]


def to_toml(words: Mapping[str, Iterable[str]], chinese: Mapping[str, Mapping[str, str]]) -> str:
    """The file of a lab, in the order of its tests, without what they no longer say."""
    blocks = []
    for kind in KINDS:
        rows = [(text, chinese[kind][text]) for text in words[kind] if text in chinese.get(kind, {})]
        lines = [f"{_quoted(english)} = {_quoted(text)}" for english, text in rows]
        blocks += ["\n".join([f"[{kind}]", *lines])] if lines else []
    return "\n\n".join(blocks) + "\n"


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def main(arguments: list[str]) -> None:
    """List what is missing, or write what a file of lines says."""
    folder = LABS / arguments[0]
    words, chinese = words_of_lab(folder), translated(folder)
    open_words = missing(words, chinese)
    if len(arguments) == 1:
        for number, (kind, text) in enumerate(open_words, 1):
            sys.stdout.write(f"{number}\t{kind}\t{_quoted(text)[1:-1]}\n")
        return
    lines = [] if arguments[1] == "-" else Path(arguments[1]).read_text(encoding="utf-8").splitlines()
    for line in lines:
        number, _, text = line.partition(" ")
        kind, english = open_words[int(number) - 1]
        if text and set(values_of(text)) != set(values_of(english)):
            raise ValueError(f"{folder.name} {number}: the values are {values_of(english)}, not {values_of(text)}")
        chinese.setdefault(kind, {})[english] = text.replace("\\n", "\n")
    (folder / FILE).write_text(to_toml(words, chinese), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
