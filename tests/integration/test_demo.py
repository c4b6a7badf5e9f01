"""`make demo` from beginning to end, and interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]


def start(folder: Path) -> subprocess.Popen[str]:
    # A shell that runs this in the background ignores SIGINT, and children would inherit that.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "pipeline.demo"],
            cwd=folder,
            env=os.environ | {"COLUMNS": "110"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, handler)


def processes_in(folder: Path) -> list[str]:
    """The command lines of all processes that were started in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder:
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.soak  # what `make demo` does
def test_the_demo_verifies_its_results_and_leaves_only_the_announced_files(tmp_path: Path) -> None:
    with start(tmp_path) as demo:
        assert demo.stdout is not None
        shown = demo.stdout.read()
    assert demo.returncode == 0, shown
    assert "all 45 counts are equal, all means to 1e-9" in shown
    assert [what for what in ("make pipeline", "make notebook", "labs list") if what not in shown] == []
    assert (tmp_path / "demo" / "departure-delays.png").stat().st_size > 20_000
    assert (tmp_path / "demo" / "server.properties").is_file()
    assert processes_in(tmp_path) == []


@pytest.mark.soak
def test_ctrl_c_leaves_no_process_running_and_the_next_run_starts_over(tmp_path: Path) -> None:
    for _ in range(2):
        with start(tmp_path) as demo:
            assert demo.stdout is not None
            for line in demo.stdout:
                if "Publish" in line:
                    break
            demo.send_signal(signal.SIGINT)
            rest = demo.stdout.read()
        assert demo.returncode == 130, rest
        assert rest.strip().splitlines()[-1] == "Stopped. Nothing is left running; the next run starts from scratch."
        assert "Traceback" not in rest
        assert processes_in(tmp_path) == []
