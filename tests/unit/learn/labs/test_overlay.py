"""An overlay replaces modules for one process, before they are imported."""

import os
import subprocess
import sys

import pytest

from kafka_learn.labs import overlay
from kafka_learn.source import module_path


def test_an_overlay_replaces_a_module_for_one_process(tmp_path):
    text = module_path("kafka_lite.log.index_entry").read_text() + "\nMARK = 'mine'\n"
    (tmp_path / "mine.py").write_text(text)
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nfrom kafka_lite.log import index_entry\nfrom kafka_lite.log.offset_index import OffsetPosition\n"
        "print(index_entry.MARK, OffsetPosition is index_entry.OffsetPosition, sys.argv[1:], __name__)\n"
    )
    command = overlay.command({"kafka_lite.log.index_entry": tmp_path / "mine.py"}, "program", "-m", "x")
    result = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{module_path('kafka_lite').parents[1]}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.stdout == "mine True ['-m', 'x'] __main__\n", result.stderr


def test_a_file_that_is_saved_twice_in_a_second_is_read_again(tmp_path):
    """Python would take bytecode of the first: the file has the same size and time."""
    mine, program = tmp_path / "mine.py", tmp_path / "program.py"
    program.write_text("from kafka_lite.log import index_entry\nprint(index_entry.MARK)\n")
    command = overlay.command({"kafka_lite.log.index_entry": mine}, "program")
    path = f"{tmp_path}:{module_path('kafka_lite').parents[1]}"
    for mark in ("1", "2"):
        mine.write_text(f"MARK = {mark}\n")
        os.utime(mine, (1_700_000_000, 1_700_000_000))
        result = subprocess.run(
            command, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        assert result.stdout == f"{mark}\n", result.stderr


def test_an_overlay_after_the_import_is_rejected(tmp_path):
    assert "kafka_learn.labs.overlay" in sys.modules
    with pytest.raises(RuntimeError, match="too late"):
        overlay.install({"kafka_learn.labs.overlay": tmp_path / "x.py"})


@pytest.fixture
def guard(tmp_path):
    """The hook of a process in which this module is replaced."""
    return overlay.ShippedCode({"kafka_lite.log.index_entry": tmp_path / "index_entry.py"})


SHIPPED = module_path("kafka_lite.log.index_entry")


@pytest.mark.parametrize(
    ("event", "argument"),
    [
        ("open", str(SHIPPED)),
        ("open", os.fsencode(SHIPPED)),
        ("open", str(SHIPPED.parent / ".." / "log" / SHIPPED.name)),
        ("open", str(SHIPPED.parent / "__pycache__" / "index_entry.cpython-311.pyc")),
        ("subprocess.Popen", "git"),
        ("subprocess.Popen", ["/usr/bin/git", "show"]),
        ("subprocess.Popen", ["cat", str(SHIPPED)]),
        ("os.system", b"git show HEAD:a"),
    ],
)
def test_shipped_code_cannot_be_read_where_it_is_replaced(guard, event, argument):
    with pytest.raises(PermissionError, match="an answer must be your own"):
        guard(event, (argument, "r"))


@pytest.mark.parametrize(
    ("event", "argument"),
    [
        ("open", str(SHIPPED.with_name("offset_index.py"))),
        ("open", 3),
        ("open", "/nowhere/index_entry.py"),
        ("subprocess.Popen", [sys.executable, "-m", "kafka_lite"]),
        ("import", str(SHIPPED)),
    ],
)
def test_all_else_can_be_read(guard, event, argument):
    guard(event, (argument, "r"))


def test_the_graders_key_cannot_be_read(guard):
    with pytest.raises(PermissionError, match="the grader's key"):
        guard("open", (f"/home/me/{overlay.KEY_FILE}", "r"))


def test_the_shipped_file_itself_may_be_checked():
    overlay.ShippedCode({"kafka_lite.log.index_entry": SHIPPED})("open", (str(SHIPPED), "r"))
