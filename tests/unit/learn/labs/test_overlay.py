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
