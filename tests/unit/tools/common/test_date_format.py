"""The format of a tool's times."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_lite.tools.common.date_format import date_format
from kafka_lite.tools.common.tool_errors import ToolError


@pytest.fixture
def newfoundland(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock is three hours and a half behind UTC."""
    monkeypatch.setenv("TZ", "NST3:30")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("newfoundland")
def test_times_are_those_of_the_machines_clock() -> None:
    written = date_format("yyyy-MM-dd'T'HH:mm:ss:SSS z Z X XXX")(1795281906604.9)
    assert written == "2026-11-21T13:55:06:604 NST -0330 -03 -03:30"


def test_every_field_of_java_is_written() -> None:
    assert date_format("EEEE d MMMM, D 'days'")(1795281906604.9) in (
        "Saturday 21 November, 325 days",
        "Sunday 22 November, 326 days",
    )


@pytest.mark.parametrize("pattern", ["HH:bb", "'at HH"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ToolError, match=r"--date-format .*: (Illegal pattern character 'b'|Unterminated quote)"):
        date_format(pattern)
