"""Turns of phrase that made a native reader stumble do not come back."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("kafka_lite", "pyspark_kafka_lite", "kafka_learn", "pipeline", "examples", "bench", "scripts", "chapters")

PHRASES = {
    r"\banew\b": "say 'again', or leave it out",
    r"\b(go|goes|going|went) on\b(?! with (a|the) lock)": "say 'continue', or what continues",
    r"^(?!# # Notebook: ).*\bat work\b": "say 'running', 'in progress' or 'in use'",
    r"\balso (if|of|those|while)\b": "say 'even if', 'including', 'even while'",
    r"\b(stand|stands|lie|lies|come|comes|came|put|puts|move|moves) behind\b": "say 'after'",
    r"\b(one|two|three) an? (call|request|record|batch|partition|broker|topic)\b": "say 'per call'",
    r"\bas good as\b": "say 'almost', or 'counts as'",
    r"\b(come|comes|came) to an end\b": "say 'end' or 'finish'",
    r"\bon and on\b": "say 'keeps' with the verb: 'keeps running'",
    r"\bas ever\b": "say 'as usual', or 'each time'",
    r"\bwithout a word\b": "say 'silently'",
    r"\bwhoever\b": "name the client, thread or reader",
}
"""A phrase, and the advice. They were counted in a reading of a hundred docstrings."""
HEADS = re.compile(r"(What|Which|Who|Whose|Whoever|Those)\b(?![^.]*\?)")
"""A docstring is headed by a noun: 'The partitions of …', not 'What has …' or 'Those that …'."""
ANY_PHRASE = re.compile("|".join(phrase.removeprefix("^(?!# # Notebook: ).*") for phrase in PHRASES), re.IGNORECASE)
ANY_HEAD = re.compile(rf"""["'](\\\n)?\s*({HEADS.pattern})""")
"""Few modules have a phrase or a head anywhere, code included. Only those are worth tokens and a tree."""


TEXT_TOKENS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The comments and strings of a module, each line with its number.

    Since Python 3.12 the text of an f-string is not in a STRING token, but in an FSTRING_MIDDLE between placeholders.
    """
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in TEXT_TOKENS:
            yield from enumerate(token.string.splitlines(), token.start[0])


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """The strings that stand as statements of their own: of modules, classes, functions and names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def stumbles(source: str) -> Iterator[tuple[int, str]]:
    """Lines with a phrase of the table, each with the advice."""
    for number, text in texts(source) if ANY_PHRASE.search(source) else ():
        for phrase, advice in PHRASES.items():
            if re.search(phrase, text, re.IGNORECASE):
                yield number, f"{advice}: {text.strip()}"
    for number, text in docstrings(source) if ANY_HEAD.search(source) else ():
        if HEADS.match(text.strip()):
            yield number, f"begin with a noun or a verb: {text.strip().splitlines()[0]}"


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_module_has_a_phrase_that_readers_stumble_over() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {advice}"
        for path in modules()
        for number, advice in stumbles(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "# the records behind it go on",
        '"""The list is made anew."""',
        'class A:\n    """Those of the topics that exist."""',
        'raise ValueError("a request is at work")',
        'raise ValueError(f"{count} requests are at work in {place}")',
        "x = 1\n'''What a group has.'''",
        '"""Which stores can be queried."""',
        '"""\\\nWhose leader is gone.\n"""',
        'class A:\n    """\n    Which of them is alive.\n    """',
        "def f():\n    r'Who has asked.'",
    ],
)
def test_a_phrase_is_found(source: str) -> None:
    assert len(list(stumbles(source + "\n"))) == 1


def test_a_question_may_begin_with_what() -> None:
    assert not list(stumbles('"""What is a segment? A file."""\n'))
