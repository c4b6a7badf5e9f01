"""The titles and messages of labs' tests in Chinese, from a file of words for each lab.

The tests speak English, in a process of their own that is graded and knows no languages. What they have said is
recognised here and said in Chinese. ``labs/ch02-sequence-check/zh.toml`` has three tables, and so has the file of the
folder ``labs``, which is for the messages that labs share::

    [titles]      the first line of a test's docstring
    [cases]       the name of a case, which follows the title
    [messages]    "the first is 14, not {first}" = "第一个是 14，不是 {first}"

``{first}`` stands for a value, named as in the f-string of the test; it is translated in turn if it is a known message.
A sentence that is in neither file stays English. ``python -m tests.support.lab_words LAB`` lists those.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.lab import Lab

FILE = "zh.toml"
_VALUE = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
_CASE = ": "


@dataclass(frozen=True)
class Sentence:
    """A message and its translation, both with ``{values}``."""

    english: str
    chinese: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the message with its values as groups."""
        parts, end = [], 0
        for found in _VALUE.finditer(self.english):
            parts.append(re.escape(self.english[end : found.start()]))
            parts.append("(.*?)" if found[1] else re.escape(found[0][0]))
            end = found.end()
        return re.compile("".join([*parts, re.escape(self.english[end:])]), re.DOTALL)

    @cached_property
    def weight(self) -> int:
        """How many characters are not values: of two messages that match, the longer one is meant."""
        return len(_VALUE.sub("", self.english))

    def said(self, values: Mapping[str, str]) -> str:
        """The translation with its values."""
        return _VALUE.sub(lambda found: values[found[1]] if found[1] else found[0][0], self.chinese)


def values_of(text: str) -> list[str]:
    """The names of the values in a message.

    >>> values_of("{first} of {count}, {{}}")
    ['first', 'count']
    """
    return [name for name in _VALUE.findall(text) if name]


class Chinese:
    """The Chinese words of a lab."""

    def __init__(self, tables: Iterable[Mapping[str, Mapping[str, str]]]) -> None:
        """``tables`` are those of the files; the first one counts most."""
        self._titles: dict[str, str] = {}
        self._cases: dict[str, str] = {}
        messages: dict[str, str] = {}
        for table in tables:
            for words, name in ((self._titles, "titles"), (self._cases, "cases"), (messages, "messages")):
                words.update({key: value for key, value in table.get(name, {}).items() if key not in words})
        found = [Sentence(english, chinese) for english, chinese in messages.items() if chinese]
        self._sentences = sorted(found, key=lambda sentence: -sentence.weight)

    def title(self, text: str) -> str:
        """The title of a test, with its case if it has one."""
        if text in self._titles:
            return self._titles[text]
        title, _, case = text.rpartition(_CASE)
        return (
            f"{self._titles[title]}：{self._cases.get(case) or self.message(case)}" if title in self._titles else text
        )

    def message(self, text: str) -> str:
        """A test's message, or two with a colon between them: a mistake, and an example of it."""
        told = self._told(text)
        if told is not None:
            return told
        for colon in re.finditer(_CASE, text):
            mistake = self._told(text[: colon.start()])
            if mistake is not None:
                return f"{mistake}：{self.message(text[colon.end() :])}"
        return text

    def _told(self, text: str) -> str | None:
        for sentence in self._sentences:
            if found := sentence.pattern.fullmatch(text):
                groups = (self._value(value) for value in found.groups())
                return sentence.said(dict(zip(values_of(sentence.english), groups, strict=True)))
        return None

    def _value(self, text: str) -> str:
        return self.title(text) if text in self._titles else self.message(text) if " " in text else text

    def mistake(self, text: str) -> str:
        """A title and a message with a colon between them, as in a grader's report."""
        title = max((each for each in self._titles if text.startswith(f"{each}{_CASE}")), key=len, default="")
        rest = text.removeprefix(f"{title}{_CASE}")
        if not title or (told := self.message(rest)) != rest:
            return f"{self._titles[title]}：{told}" if title else text
        case, colon, message = rest.partition(_CASE)
        return f"{self.title(f'{title}{_CASE}{case}')}：{self.message(message)}" if colon else text

    def outcome(self, outcome: TestOutcome) -> TestOutcome:
        """The outcome of a test in Chinese."""
        return replace(outcome, title=self.title(outcome.title), message=self.message(outcome.message))


@cache
def chinese_of(folder: Path) -> Chinese:
    """The words of the lab in this folder."""
    files = [folder / FILE, folder.parent / FILE]
    return Chinese([tomllib.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()])


def in_language(lab: Lab, result: CheckResult, language: str) -> CheckResult:
    """The result of a check in a language."""
    if language != "zh":
        return result
    words = chinese_of(lab.folder)
    return replace(result, outcomes=tuple(map(words.outcome, result.outcomes)), failure=words.message(result.failure))
