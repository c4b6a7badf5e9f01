"""A test's limit, from outside: a pytest of its own under a load that the test sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import patient_s

PROJECT = Path(__file__).parents[3]
SOURCE = """
import os, time
import pytest
from tests.support.patience import cores
from tests.support.time_limits import CutOff

# A busy machine for the first test, and a quiet one for the second.
os.getloadavg = lambda: (25.0 * cores(), 0.0, 0.0)

@pytest.mark.timeout(0.5)
def test_has_longer_on_a_busy_machine():
    time.sleep(0.8)
    os.getloadavg = lambda: (0.0, 0.0, 0.0)

@pytest.mark.timeout(0.5)
def test_is_cut_off_on_a_quiet_machine():
    while True:
        time.sleep(0.01)

def test_the_one_before_is_counted():
    assert CutOff.count == 1
"""


def test_a_limit_grows_with_the_load_and_still_ends_a_test_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "test_limits.py").write_text(SOURCE)
    options = ["-c", "/dev/null", f"--rootdir={tmp_path}", "--disable-plugin-autoload", "-p", "timeout"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options,
        "-p",
        "tests.support.time_limits",
        "-p",
        "no:cacheprovider",
        ".",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(PROJECT)},
        capture_output=True, text=True, timeout=patient_s(60), check=False,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "FAILED test_limits.py::test_is_cut_off_on_a_quiet_machine" in done.stdout
    assert "Failed: Timeout (>0.5s)" in done.stdout


def test_the_tests_of_this_project_have_these_limits(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.hasplugin("tests.support.time_limits")
