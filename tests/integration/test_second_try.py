"""The second try, from outside: small real test folders, real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.soak  # many runs of pytest, of which only CI's second try depends

# A test that fails in its first process, and records every process that runs it.
FIRST_TIME = """
import os
import pathlib

def first_time(name):
    runs = pathlib.Path(__file__).with_name(name + ".runs")
    first = not runs.exists()
    with runs.open("a") as file:
        file.write(f"{os.getpid()}\\n")
    return first
"""


@dataclass
class Run:
    """A finished run of the script."""

    code: int
    output: str
    folder: Path

    @property
    def last_line(self) -> str:
        """The line that CI reads."""
        return self.output.rstrip().splitlines()[-1]

    def lane(self, name: str = "lane") -> dict[str, Any]:
        """The files that the lane wrote."""
        return json.loads((self.folder / "build/tests" / f"{name}.json").read_text())

    def names(self, key: str) -> list[str]:
        """The node ids of the lane's failed or flaky tests."""
        return [outcome["node_id"] for outcome in self.lane()[key]]

    def processes(self, name: str) -> list[str]:
        """The processes in which a test that called ``first_time(name)`` ran."""
        return (self.folder / f"{name}.runs").read_text().split()


def run(folder: Path, *arguments: str) -> Run:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "KAFKA_LITE_"))}
    # Only the necessary plugins, which halves the start of pytest.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PYTEST_ADDOPTS"] = "-p xdist.plugin -p pytest_reportlog.plugin -p no:cacheprovider"
    command = [sys.executable, "-m", "scripts.run_tests", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, folder)


def run_lane(folder: Path, *options: str, **modules: str) -> Run:
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(FIRST_TIME + source)
    return run(folder, "lane", ".", "--", "-q", *options)


def test_failed_test_that_passes_alone_in_a_fresh_process_is_flaky_and_green(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        test_a="""
def test_flaky():
    print("captured words")
    assert not first_time("flaky"), "bad luck"

def test_ok():
    first_time("ok")
""",
    )
    assert done.code == 0, done.output
    assert done.names("flaky") == ["test_a.py::test_flaky"]
    first, second = done.processes("flaky")
    assert first != second
    assert done.processes("ok") == [first]
    assert "flaky:\n  test_a.py::test_flaky\n      call: AssertionError: bad luck" in done.output
    assert done.last_line.startswith("=== 1 passed, 1 flaky in ")
    report = (tmp_path / "build/tests/flaky-lane.txt").read_text()
    assert "bad luck" in report
    assert "captured words" in report
    assert "test_a.py:14: AssertionError" in report


def test_test_that_fails_twice_is_red(tmp_path: Path) -> None:
    done = run_lane(tmp_path, test_a="def test_broken(): assert 1 == 2\n\ndef test_ok(): pass\n")
    assert done.code == 1
    assert done.names("failed") == ["test_a.py::test_broken"]
    assert "failed:\n  test_a.py::test_broken\n      call: assert 1 == 2" in done.output
    assert done.last_line.startswith("=== 1 failed, 1 passed in ")


def test_failures_in_two_workers_are_retried_in_every_phase_and_with_parameters(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        "-n",
        "2",
        "--dist",
        "loadfile",
        test_setup="""
import pytest

@pytest.fixture(scope="module")
def server():
    assert not first_time("setup"), "no server"

@pytest.mark.parametrize("value", ["a b", "x::y[é]", "$HOME"])
def test_with_server(server, value): pass
""",
        test_teardown="""
import pytest

@pytest.fixture
def cleaned():
    yield
    assert not first_time("teardown"), "not clean"

def test_cleaned(cleaned): pass
""",
    )
    # The fixture failed once, for several tests: with the other failure that makes two.
    assert done.code == 0, done.output
    assert len(done.names("flaky")) == 4
    assert "test_setup.py::test_with_server[x::y[\\xe9]]" in done.names("flaky")
    assert "teardown: AssertionError: not clean" in done.output
    assert "no tests ran" not in done.last_line


def test_fixture_that_fails_twice_is_not_retried_for_every_test_that_shares_it(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        test_a="""
import pytest

@pytest.fixture(scope="module")
def server():
    first_time("server")
    raise OSError("no server")

@pytest.mark.parametrize("value", range(5))
def test_with_server(server, value): pass

def test_ok(): pass
""",
    )
    assert done.code == 1
    assert len(done.names("failed")) == 5
    assert len(done.processes("server")) == 2


def test_three_failed_tests_are_red_without_a_second_try(tmp_path: Path) -> None:
    tests = "".join(f"def test_{name}(): assert not first_time('{name}')\n\n" for name in "abc")
    done = run_lane(tmp_path, test_a=tests + "def test_ok(): pass\n")
    assert done.code == 1
    assert done.names("flaky") == []
    assert len(done.names("failed")) == 3
    assert [len(done.processes(name)) for name in "abc"] == [1, 1, 1]
    assert "second try:" not in done.output
    assert "red: 3 failed; no second try, for 3 flaky tests would be red as well" in done.output
    assert done.last_line.startswith("=== 3 failed, 1 passed in ")


def test_a_test_that_fails_twice_is_not_said_to_lack_a_second_try(tmp_path: Path) -> None:
    done = run_lane(tmp_path, test_a="def test_broken(): assert 1 == 2\n\ndef test_ok(): pass\n")
    assert "red: 1 failed\n" in done.output


def test_worker_that_crashes_once_makes_its_test_flaky(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        "-n",
        "1",
        test_a="""
def test_killed():
    if first_time("killed"):
        os._exit(9)

def test_ok(): pass
""",
    )
    assert done.code == 0, done.output
    assert done.names("flaky") == ["test_a.py::test_killed"]
    assert "crash: worker 'gw" in done.output


def test_worker_that_crashes_repeatedly_is_red_without_a_second_try(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        "-n",
        "1",
        "--dist",
        "loadfile",
        "--max-worker-restart",
        "1",
        test_a="def test_deadly(): os._exit(9)\n",
    )
    assert done.code == 1
    assert done.names("flaky") == []
    assert "second try" not in done.output


def test_module_that_cannot_be_collected_is_red_without_a_second_try(tmp_path: Path) -> None:
    done = run_lane(tmp_path, test_a="import no_such_module\n", test_b="def test_ok(): pass\n")
    assert done.code == 1
    assert "red: lane: pytest was interrupted, or a module could not be collected" in done.output
    assert "second try" not in done.output


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "no test was collected"),
        ("import pytest\n\ndef test_skipped(): pytest.skip('not here')\n", "no test passed"),
        ("def test_exits():\n    os._exit(0)\n", "no test passed"),
        ("def test_exits():\n    os._exit(7)\n", "pytest ended with exit code 7"),
    ],
)
def test_run_without_a_passed_test_is_red(tmp_path: Path, source: str, reason: str) -> None:
    done = run_lane(tmp_path, test_a=source)
    assert done.code == 1
    assert f"red: lane: {reason}" in done.output


def test_second_try_that_is_skipped_or_finds_no_test_does_not_pass(tmp_path: Path) -> None:
    done = run_lane(
        tmp_path,
        test_a="""
import pytest

def test_skipped():
    assert not first_time("skipped")
    pytest.skip("not again")

@pytest.mark.parametrize("number", [os.getpid()])
def test_has_another_name_each_time(number): assert False
""",
    )
    assert done.code == 1
    assert len(done.names("failed")) == 2


def test_sum_of_lanes_counts_all_flaky_tests(tmp_path: Path) -> None:
    results = []
    for lane, names in (("one", "a"), ("two", "bc")):
        (tmp_path / f"test_{lane}.py").write_text(
            FIRST_TIME
            + "".join(f"def test_{name}(): assert not first_time('{name}')\n\n" for name in names)
            + "def test_ok(): pass\n"
        )
        results.append(run(tmp_path, lane, f"test_{lane}.py", "--", "-q").code)
    assert results == [0, 0]
    done = run(tmp_path, "--sum-up")
    assert done.code == 1
    assert "  test_one.py::test_a [one]\n" in done.output
    assert "  test_two.py::test_c [two]\n" in done.output
    assert "red: 3 flaky tests are too many for a green run" in done.output
    assert done.last_line.startswith("=== 2 passed, 3 flaky in ")


def test_sum_without_a_lane_is_red(tmp_path: Path) -> None:
    assert run(tmp_path, "--sum-up").code == 1
