"""What is printed on a terminal and what in a pipe."""

from __future__ import annotations

import io
import os
import pty
import re
import sys

import pytest

from kafka_lite.tools.common import terminal

TITLE = "[files] in /a/folder/with/a/long/name"  # wider than the table


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_gets_no_colour() -> None:
    assert terminal.styled("text", "bold red", io.StringIO()) == "text"


def test_a_terminal_gets_colour() -> None:
    assert terminal.styled("text", "bold red", Terminal()) == "\x1b[1;31mtext\x1b[0m"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_color_and_a_dumb_terminal_disable_colour(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert terminal.styled("text", "green", Terminal()) == "text"


def test_a_real_terminal_is_recognised() -> None:
    controller, terminal_fd = pty.openpty()
    with os.fdopen(controller), os.fdopen(terminal_fd, "w") as stream:
        assert terminal.on_terminal(stream)


def test_an_error_is_printed_as_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_error("several\n   lines\nof text")
    captured = capsys.readouterr()
    assert captured.err == "several lines of text\n"
    assert captured.out == ""


def test_cells_of_a_table_are_printed_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "80")
    terminal.print_table(["name", "size"], [("[bold]", 7), ("b", 1234)], title=TITLE, right=["size"])
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    assert lines[0] == TITLE
    assert [line.split() for line in lines if "7" in line or "1234" in line] == [["[bold]", "7"], ["b", "1234"]]
    assert len(lines[-1]) == len(lines[-2])  # right-aligned


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii", b"\xca \\u6570 \\x80 \\U0001f600"),
        ("utf-8", "\N{REPLACEMENT CHARACTER} 数 \x80 \N{GRINNING FACE}".encode().replace(b"\xef\xbf\xbd", b"\xca")),
    ],
)
def test_unencodable_characters_are_escaped(encoding: str, written: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", out)
    terminal.accept_all_characters()
    print("\udcca 数 \x80 \N{GRINNING FACE}", end="", flush=True)
    assert out.buffer.getvalue() == written  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("on_the_path", "typed", "shown"),
    [
        (True, ".venv/bin/kafka-lite", "kafka-lite"),
        (False, ".venv/bin/kafka-lite", ".venv/bin/kafka-lite"),
        (False, "/somewhere/main.py", "kafka-lite"),
    ],
)
def test_commands_are_shown_as_they_are_typed(on_the_path, typed, shown, monkeypatch, tmp_path):
    if on_the_path:
        (tmp_path / "kafka-lite").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [typed, "labs"])
    assert terminal.own_command() == shown
