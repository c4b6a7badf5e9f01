"""Log files that roll once per period."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.tools.common.daily_rolling_file_handler import DailyRollingFileHandler

HOUR = 3600
NOON = time.mktime((2026, 11, 21, 12, 30, 0, 0, 0, -1))


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_DIR", str(tmp_path))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float, str], None]]:
    """Write a line at a given time."""
    handlers: list[DailyRollingFileHandler] = []

    def write(timestamp_s: float, text: str) -> None:
        monkeypatch.setattr(time, "time", lambda: timestamp_s)
        if not handlers:
            handlers.append(DailyRollingFileHandler("server.log"))
        record = logging.LogRecord("x", logging.INFO, __file__, 1, text, None, None)
        record.created = timestamp_s
        handlers[0].emit(record)

    yield write
    for handler in handlers:
        handler.close()


def contents(directory: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in directory.iterdir()}


def test_an_hours_file_is_renamed_in_the_next_hour(tmp_path: Path, at: Callable[[float, str], None]) -> None:
    at(NOON, "one")
    at(NOON + HOUR / 4, "two")
    at(NOON + HOUR, "three")
    assert contents(tmp_path) == {"server.log.2026-11-21-12": "one\ntwo\n", "server.log": "three\n"}


def test_a_repeated_hour_overwrites_nothing(tmp_path: Path, at: Callable[[float, str], None]) -> None:
    at(NOON, "one")
    at(NOON + HOUR, "two")
    at(NOON, "three")
    at(NOON + HOUR, "four")
    assert contents(tmp_path) == {
        "server.log.2026-11-21-12": "one\n",
        "server.log.2026-11-21-13": "two\n",
        "server.log.2026-11-21-12.1": "three\n",
        "server.log": "four\n",
    }


def test_the_file_of_an_earlier_process_is_rolled_by_its_age(tmp_path: Path, at: Callable[[float, str], None]) -> None:
    left = tmp_path / "server.log"
    left.write_text("old\n", encoding="utf-8")
    os.utime(left, (NOON - 24 * HOUR, NOON - 24 * HOUR))
    at(NOON, "new")
    assert contents(tmp_path) == {"server.log.2026-11-20-12": "old\n", "server.log": "new\n"}


def test_writing_continues_if_the_file_cannot_be_renamed(
    tmp_path: Path, at: Callable[[float, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Path, _target: Path) -> Path:
        raise PermissionError("read-only")

    at(NOON, "one")
    monkeypatch.setattr(Path, "rename", refuse)
    at(NOON + HOUR, "two")
    assert contents(tmp_path) == {"server.log": "one\ntwo\n"}


def test_a_full_disk_loses_lines_and_prints_one_message(
    tmp_path: Path,
    at: Callable[[float, str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "server.log"
    with monkeypatch.context() as patch:
        patch.setattr(DailyRollingFileHandler, "_open", lambda _: Path("/dev/full").open("a", encoding="utf-8"))  # noqa: SIM115
        for number in range(3):
            at(NOON, f"lost {number}")
    assert capsys.readouterr().err == f"Lines of {log} are lost: No space left on device\n"
    at(NOON + HOUR, "kept")  # the next file has space
    assert log.read_text() == "kept\n"
    assert capsys.readouterr().err == ""


def test_a_failed_open_is_retried_at_the_next_record(
    tmp_path: Path, at: Callable[[float, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: DailyRollingFileHandler) -> None:
        raise OSError(28, "No space left on device")

    at(NOON, "one")
    with monkeypatch.context() as patch:
        patch.setattr(DailyRollingFileHandler, "_open", refuse)
        at(NOON + HOUR, "lost")
    at(NOON + HOUR, "two")
    assert contents(tmp_path) == {"server.log.2026-11-21-12": "one\n", "server.log": "two\n"}
