"""The table of tries: what is kept, and what it shows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console, RenderableType

from kafka_learn.labs.measuring import tries as module
from kafka_learn.labs.measuring.measuring import Comparison, Figures
from kafka_learn.labs.measuring.tries import BAR, Try, bar, remember, tries, try_table

AT_S = 1_700_000_000


def shown(what: RenderableType, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(what)
    return cast(io.StringIO, console.file).getvalue()


def test_a_try_is_kept_and_found(tmp_path: Path) -> None:
    first = Try.of(Comparison(Figures(3.0, 900.0), Figures(2.0, 1000.0)), AT_S)
    assert (first.time_ratio, first.instructions_ratio, first.ratio) == (1.5, 0.9, 0.9)
    assert remember(tmp_path, first) == [first]
    second = Try.of(Comparison(Figures(3.0), Figures(2.0)), AT_S + 60)
    assert second.ratio == 1.5, "without counts the time decides"
    assert remember(tmp_path, second) == [first, second] == tries(tmp_path)


def test_a_damaged_file_is_no_tries(tmp_path: Path) -> None:
    assert tries(tmp_path) == []
    (tmp_path / module.FILE).write_text('[{"at_s": 1}]')
    assert tries(tmp_path) == []


def test_old_tries_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    for number in range(5):
        remember(tmp_path, Try(AT_S + number, 1.0, 1.0))
    assert [each.at_s - AT_S for each in tries(tmp_path)] == [2, 3, 4]


def test_a_bar_ends_before_or_behind_the_line_of_the_shipped_code() -> None:
    half, more, beyond = (bar(Try(AT_S, 1.0, ratio)) for ratio in (0.5, 1.5, 40.0))
    assert half.plain == "█" * (BAR // 4) + " " * (BAR // 4) + "│" + " " * (BAR // 2)
    assert more.plain == "█" * (BAR // 2) + "│" + "█" * (BAR // 4) + " " * (BAR // 4)
    assert beyond.plain == "█" * (BAR // 2) + "│" + "█" * (BAR // 2)
    assert [str(each.spans[0].style) for each in (half, more)] == ["green", "red"]
    assert [Try(AT_S, 1.0, 1.0, 1.0, ratio).compared for ratio in (0.996, 0.999, 1.004)] == [-1, 0, 1]
    assert [Try(AT_S, 1.0, ratio).compared for ratio in (0.96, 0.99, 1.02, 1.04)] == [-1, 0, 0, 1], "times vary"


def test_the_table_marks_the_best_try_and_says_what_the_last_one_is() -> None:
    every = [Try(AT_S, 2.0, 1.1, 40_000, 1.2), Try(AT_S + 60, 1.5, 0.9, 30_000, 0.8)]
    text = shown(try_table(every, "en"))
    assert "★ 2" in text
    assert "★ 1" not in text
    assert "1.500" in text
    assert "0.800" in text
    assert "│ reference" in text
    assert "Faster than the reference: 20.0 % less instructions." in text
    assert "…" not in text, "it fits into 80 columns"
    assert "20.0 % more instructions than the reference." in shown(try_table(every[:1], "en"))
    assert "As fast as the reference, by processor time." in shown(try_table([Try(AT_S, 1.0, 1.0)], "en"))
    assert "比项目代码快：指令少 20.0%。" in shown(try_table(every, "zh"))


def test_only_the_last_tries_are_shown_under_their_numbers() -> None:
    every = [Try(AT_S + number, 1.0, 1.5 if number else 0.5) for number in range(module.SHOWN + 3)]
    lines = shown(try_table(every, "en")).splitlines()
    assert len(lines) == module.SHOWN + 2
    assert lines[1].split()[0] == "4"
    assert lines[-2].split()[0] == str(module.SHOWN + 3)
