"""The kafka-lite command: its table of tools, its help, its exit codes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafka_lite import __version__
from kafka_lite.tools import main as command
from kafka_lite.tools.main import TOOLS, Tool, build_parser, main

PROJECT = Path(__file__).resolve().parents[3]
BROKEN_PIPE = """
import sys
from kafka_lite.tools import main

class Module:
    SUMMARY = "print without end"
    add_arguments = staticmethod(lambda parser: None)
    @staticmethod
    def run(options):
        while True:
            print("a line")

main.TOOLS = (main.Tool("yes", "yes", Module.SUMMARY),)
main.Tool.load = lambda tool: Module
sys.exit(main.main(["yes"]))
"""


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_table_has_the_same_descriptions_as_the_tools(tool: Tool) -> None:
    module = tool.load()
    assert (tool.name, tool.summary) == (module.NAME, module.SUMMARY)


def test_the_complete_parser_has_every_tool(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["--help"])
    listed = capsys.readouterr().out
    assert all(tool.name in listed for tool in TOOLS)


def test_help_in_a_pipe_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    lines = out.splitlines()
    for tool in TOOLS:
        assert any(line.split() == [tool.name, *tool.summary.split()] for line in lines)


def test_without_a_tool_the_help_is_printed_and_the_exit_code_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "server-start" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"kafka-lite {__version__} (")


def test_the_version_is_defined_in_one_place() -> None:
    pyproject = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in pyproject["project"]
    place = PROJECT / pyproject["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{__version__}"' in place.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("topic", "kafka-lite topics"),
        ("kafka-topics.sh", "kafka-lite topics"),
        ("sever-start", "kafka-lite server-start"),
        ("kafka-dump-log", "kafka-lite dump-log"),
    ],
)
def test_an_unknown_tool_is_rejected_with_a_suggestion(
    asked: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([asked]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert asked in captured.err
    assert f"Did you mean `{meant}`?" in captured.err
    assert captured.err.count("\n") == 1


def test_nothing_is_suggested_if_no_name_is_close(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xyzzy"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["server-start", "--overide", "a=b"], "kafka-lite server-start: unrecognized arguments: --overide"),
        (
            ["console-producer", "--topic", "t"],
            "kafka-lite console-producer: the following arguments are required: --b",
        ),
        (["topics", "--bootstrap-server", "b:1"], "kafka-lite topics: one of the arguments --create --list --describe"),
        (["labs", "check"], "kafka-lite labs check: the following arguments are required: "),
        (  # argparse would say that --bootstrap-server is missing
            ["topics", "--bootstrap-servers", "b:1", "--list"],
            "kafka-lite topics: unrecognized arguments: --bootstrap-servers. Did you mean --bootstrap-server?",
        ),
        (
            ["transactions", "find-hanging", "--bootstrap-server", "b:1", "--tpic=t"],
            "kafka-lite transactions: unrecognized arguments: --tpic. Did you mean --topic?",
        ),
        (  # not --max-block-ms, which has more letters in common
            ["console-producer", "--acks", "all", "--topic", "t", "--bootstrap-server", "b:1"],
            "kafka-lite console-producer: unrecognized arguments: --acks. Did you mean --request-required-acks?",
        ),
    ],
)
def test_wrong_arguments_give_one_line_and_a_hint(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith(message)
    assert hint == f"Try `{message.partition(':')[0]} --help`."


def test_help_imports_no_tool_and_no_broker() -> None:
    program = (
        "import sys\nfrom kafka_lite.tools.main import main\nmain(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('kazoo', 'rich', 'kafka_lite.server', 'logging'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_ends_a_tool_with_the_exit_code_of_the_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        SUMMARY = "be interrupted"

        @staticmethod
        def add_arguments(parser: object) -> None: ...

        @staticmethod
        def run(options: object) -> int:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "TOOLS", (Tool("wait", "wait", Module.SUMMARY),))
    monkeypatch.setattr(Tool, "load", lambda tool: Module)
    assert main(["wait"]) == 130


def test_a_broken_pipe_ends_a_tool_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BROKEN_PIPE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "a line\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
