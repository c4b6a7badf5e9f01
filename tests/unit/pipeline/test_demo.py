"""The end of every demo: an exit code, and in case of a failure a line that says what to do."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kafka_lite.common.errors import KafkaError
from pipeline import demo
from pipeline.demo import run_demo


@pytest.mark.parametrize(
    ("raised", "extra", "said"),
    [
        (None, "spark", ""),
        (KafkaError("no broker"), "spark", "The demo failed: no broker\n"),
        (ModuleNotFoundError(name="pyspark"), "spark",
         "The demo needs pyspark: make setup installs it (or: pip install 'kafka-lite[spark]')\n"),
        (ModuleNotFoundError(name="rich"), None, "The demo needs rich: make setup installs it\n"),
    ],
)  # fmt: skip
def test_a_failure_is_said_and_ends_with_1(
    raised: Exception | None, extra: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(demo, "end_children", lambda: ended.append(True))

    def run() -> None:
        if raised is not None:
            raise raised

    shown = io.StringIO()
    assert run_demo(Console(file=shown, width=100), run, extra) == (0 if raised is None else 1)
    assert shown.getvalue() == said
    assert ended == [True]


def test_another_error_is_a_bug_and_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(demo, "end_children", lambda: ended.append(True))
    with pytest.raises(ZeroDivisionError):
        run_demo(Console(file=io.StringIO()), lambda: 1 // 0, None)
    assert ended == [True]
