"""`make demo` from beginning to end, and interrupted.

In CI a user has run it: KAFKA_LITE_DEMO is the folder in which that was, and its output is in KAFKA_LITE_DEMO_SHOWN.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
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


def processes_in(folder: Path, started_before: float) -> list[str]:
    """The command lines of all processes that were started in a folder, before a time in seconds since the epoch."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if Path(process.cwd()).resolve() == folder.resolve() and process.create_time() < started_before:
                found.append(" ".join(process.cmdline()))
    return found


@dataclass(frozen=True)
class Demo:
    """A demo that has ended: where, what it has shown, and when, in seconds since the epoch."""

    folder: Path
    shown: str
    ended: float


@pytest.fixture
def ended_demo(tmp_path: Path) -> Demo:
    if file := os.environ.get("KAFKA_LITE_DEMO_SHOWN"):  # its exit code was judged there
        return Demo(Path(os.environ["KAFKA_LITE_DEMO"]), Path(file).read_text(), Path(file).stat().st_mtime)
    with start(tmp_path) as demo:
        assert demo.stdout is not None
        shown = demo.stdout.read()
    assert demo.returncode == 0, shown
    return Demo(tmp_path, shown, time.time())


@pytest.mark.soak  # what `make demo` does
def test_the_demo_verifies_its_results_and_leaves_only_the_announced_files(ended_demo: Demo) -> None:
    shown, folder = ended_demo.shown, ended_demo.folder
    assert "all 45 counts are equal, all means to 1e-9" in shown
    assert [what for what in ("make pipeline", "make notebook", "labs list") if what not in shown] == []
    assert (folder / "demo" / "departure-delays.png").stat().st_size > 20_000
    assert (folder / "demo" / "server.properties").is_file()
    assert processes_in(folder, ended_demo.ended) == []


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
        assert processes_in(tmp_path, time.time()) == []
