"""Every command of every page runs in CI: with its page, or in a test that tests/data/commands-of-pages.toml names."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.page_commands import shown_commands
from kafka_learn.site.staging import pages
from kafka_lite.tools.main import PROGRAM, build_parser

ROWS = tomllib.loads((PROJECT_ROOT / "tests/data/commands-of-pages.toml").read_text(encoding="utf-8"))["row"]
SHELL = {"|", "&", ">", "…"}
"""Words that end the arguments of a command, or stand for some."""


@cache
def commands() -> dict[str, str]:
    """Each command that is only shown, and the first line of a page that shows it."""
    found: dict[str, str] = {}
    for file in pages():
        if file.target.suffix == ".md":
            for command in shown_commands(file.origin.read_text(encoding="utf-8")):
                place = f"{file.origin.relative_to(PROJECT_ROOT)}:{command.line}"
                found.setdefault(command.text, place)
    return found


def arguments_of(command: str) -> list[str] | None:
    """The arguments of kafka-lite in a command; None if it runs something else."""
    found = re.search(rf"(?:^|\| )(?:\w+=\S* )*{PROGRAM} (?P<arguments>.*)", command)
    if found is None:
        return None
    words = shlex.split(found["arguments"])
    return words[: min((words.index(word) for word in SHELL if word in words), default=len(words))]


def test_every_command_is_run_by_a_test() -> None:
    without = [
        f"{place}: {command}"
        for command, place in commands().items()
        if not any(re.fullmatch(row["commands"], command) for row in ROWS)
    ]
    assert without == [], "mark the block as `console run`, or name the test in tests/data/commands-of-pages.toml"


def test_every_row_has_commands_and_tests() -> None:
    unused = [row["commands"] for row in ROWS if not any(re.fullmatch(row["commands"], each) for each in commands())]
    assert unused == []
    assert [test for row in ROWS for test in row["tests"] if not _exists(test)] == []


def _exists(test: str) -> bool:
    path, separator, name = test.partition("::") if "::" in test else test.partition(": ")
    file = Path(PROJECT_ROOT, path)
    wanted = f"def {name}(" if separator == "::" else name
    return bool(name) and file.is_file() and wanted in file.read_text(encoding="utf-8")


def test_the_programs_take_the_arguments_that_pages_give_them() -> None:
    """Those of kafka-lite; a page that shows an option which is gone is found before anybody types it."""
    parser, refused = build_parser(), []
    for command, place in commands().items():
        arguments = arguments_of(command)
        if arguments:
            said = io.StringIO()
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                try:
                    parser.parse_args(arguments)
                except SystemExit as end:
                    refused += [f"{place}: {command}: {said.getvalue()}"] if end.code else []
    assert refused == []


def test_the_arguments_of_a_command_end_where_another_program_begins() -> None:
    assert arguments_of("echo a | kafka-lite console-producer --topic t") == ["console-producer", "--topic", "t"]
    assert arguments_of("PYTHONPATH=. kafka-lite mirror-maker --x 1 …") == ["mirror-maker", "--x", "1"]
    assert arguments_of("make broker") is None
    assert arguments_of("docker build --tag kafka-lite .") is None
