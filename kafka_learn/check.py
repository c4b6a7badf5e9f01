"""Predictions in notebooks: a reader writes an answer down, and is told whether it is right, and why.

::

    answer = None
    IDLE.check(answer)

A ``Prediction`` computes the right answer from the shipped code, so it cannot be older than that. The reasons for it,
and for the answers that readers give instead, are kept beside the chapter: in the notebook they would spoil it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_learn.both_languages import InBothLanguages


class Words(NamedTuple):
    """A sentence in both languages."""

    en: str
    zh: str

    def of(self, language: str) -> str:
        """The sentence in one of them."""
        return self.zh if language == "zh" else self.en


_UNANSWERED = Words(
    "No answer yet: write it in the place of `None`, and run the cell again.",
    "还没有答案：请用它替换 `None`，再运行一次单元格。",
)
_RIGHT = Words("**Right.**", "**正确。**")
_WRONG = Words("**Not {answer}.**", "**不是 {answer}。**")
_TRY_AGAIN = Words("Try the code above with other values, and answer again.", "请用别的值试试上面的代码，再答一次。")


@dataclass(frozen=True)
class Prediction:
    """A question's answer, its reason, and the reasons against answers that are known mistakes."""

    right: Callable[[], object]
    because: Words
    mistakes: Mapping[object, Words] = field(default_factory=dict)

    def check(self, answer: object) -> InBothLanguages:
        """The verdict on an answer, as the value of a cell; a request to give one if it is None."""
        return InBothLanguages(lambda language: self.verdict(answer, language))

    def verdict(self, answer: object, language: str = "en") -> str:
        """The verdict as Markdown. The right answer is never given away."""
        if answer is None:
            return _UNANSWERED.of(language)
        if answer == self.right():
            return f"{_RIGHT.of(language)} {self.because.of(language)}"
        reason = self.mistakes.get(answer, _TRY_AGAIN) if isinstance(answer, str | int) else _TRY_AGAIN
        return f"{_WRONG.of(language).format(answer=answer)} {reason.of(language)}"
