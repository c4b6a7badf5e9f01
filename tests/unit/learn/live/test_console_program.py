"""Cells of the console: values, tracebacks of the cell only, lines that run a tool."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from kafka_learn.live.console_program import Cell, cell_traceback, run, with_address, with_tools
from kafka_lite.testing.simulation.system.switching import SWITCH


class Names(dict[str, Any]):
    """Names of cells that count how often another thread may run, and the lines of tools."""

    def __init__(self) -> None:
        self.switches = 0
        self.tools: list[str] = []
        super().__init__({"__builtins__": {**vars(builtins), SWITCH: self._switch}, "run_tool": self.tools.append})

    def _switch(self) -> None:
        self.switches += 1


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("1 + 1", "2\n"),
        ("value = 3\nvalue", "3\n"),
        ("None", ""),
        ("value = 3", ""),
        ("for number in range(2):\n    print(number)", "0\n1\n"),
        ("", ""),
        ("# a comment", ""),
    ],
)
def test_a_cell_prints_the_value_of_its_last_expression(
    source: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Cell(1, source), Names()) == ""
    assert capsys.readouterr().out == printed


def test_cells_share_their_names() -> None:
    names = Names()
    assert run(Cell(1, "def double(x):\n    return 2 * x"), names) == ""
    assert run(Cell(2, "value = double(4)"), names) == ""
    assert names["value"] == 8


def test_another_thread_may_run_before_each_statement_of_a_cell() -> None:
    names = Names()
    assert run(Cell(1, "for number in range(10):\n    number += 1"), names) == ""
    assert names.switches == 11


def test_a_traceback_has_the_frames_of_cells_only() -> None:
    failure = run(Cell(7, "def share(x):\n    return 1 / x\nshare(0)"), Names())
    assert [line for line in failure.splitlines() if line.lstrip().startswith("File")] == [
        '  File "<cell 7>", line 3, in <module>',
        '  File "<cell 7>", line 2, in share',
    ]
    assert "    return 1 / x\n" in failure
    assert failure.endswith("ZeroDivisionError: division by zero\n")


def test_an_error_in_a_called_function_is_shown_at_the_line_that_called_it() -> None:
    failure = run(Cell(1, "import json\njson.loads('{')"), Names())
    assert '  File "<cell 1>", line 2, in <module>' in failure
    assert "json/decoder" not in failure
    assert "JSONDecodeError" in failure


def test_the_cause_of_an_error_is_left_out_with_its_frames() -> None:
    error = ValueError("the second")
    error.__context__ = KeyError("the first")
    assert cell_traceback(error, "<cell 1>") == "ValueError: the second\n"


def test_a_syntax_error_names_the_line_of_the_cell() -> None:
    failure = run(Cell(3, "value = 1\nvalue = ("), Names())
    assert failure.startswith('  File "<cell 3>", line 2\n')
    assert "SyntaxError" in failure


@pytest.mark.parametrize(("source", "failure"), [("raise SystemExit", ""), ("raise SystemExit(2)", "exit code 2\n")])
def test_a_tool_that_exits_ends_only_its_cell(source: str, failure: str) -> None:
    assert run(Cell(1, source), Names()) == failure


def test_lines_that_begin_with_kafka_lite_run_the_tool() -> None:
    names = Names()
    source = "kafka-lite topics --describe\nif True:\n    !kafka-lite topics --list\nkafka_lite = 1\nkafka-lite"
    assert with_tools(source).count("\n") == source.count("\n")
    assert run(Cell(1, source), names) == ""
    assert names.tools == ["topics --describe", "topics --list", ""]


@pytest.mark.parametrize(
    ("words", "is_added"),
    [
        (["topics", "--list"], True),
        (["topics", "--list", "--bootstrap-server", "10.0.0.9:9092"], False),
        (["topics", "--list", "--zookeeper=10.0.0.1:2181"], False),
        (["topics", "--help"], False),
        (["where", "Log"], False),
        ([], False),
    ],
)
def test_a_tool_gets_the_address_of_the_cluster_unless_the_line_has_one(words: list[str], is_added: bool) -> None:
    assert with_address(words, "10.0.0.2:9092") == [*words, *(["--bootstrap-server", "10.0.0.2:9092"] * is_added)]
