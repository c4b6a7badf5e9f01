"""Files are taken by one process each, and run as pytest would run them all together."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.file_queue import files_to_take, write_queue

PROJECT = Path(__file__).parents[3]
FIXTURES = """
import pytest

def note(text):
    with open("steps", "a") as steps:
        steps.write(text + "\\n")

@pytest.fixture(scope="session")
def session():
    note("session")
    yield
    note("end of session")

@pytest.fixture(scope="module", autouse=True)
def module(session, request):
    note(request.path.stem)
    yield
    note("end of " + request.path.stem)

@pytest.fixture(scope="package")
def package():
    note("package")
    yield
    note("end of package")
"""


def run(folder: Path, files: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    write_queue(folder / "queue", files)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(PROJECT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "scripts.file_queue", "-p", "no:cacheprovider", "-q"]
    command += ["--rootdir=.", "--files-from=queue", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_file_is_taken_once_and_anybody_takes_the_next(tmp_path: Path) -> None:
    write_queue(tmp_path / "queue", ["a", "b", "c"])
    one, other = files_to_take(tmp_path / "queue"), files_to_take(tmp_path / "queue")
    assert [next(one), next(other), next(one)] == ["a", "b", "c"]
    assert [*one, *other] == []
    write_queue(tmp_path / "queue", ["a"])
    assert list(files_to_take(tmp_path / "queue")) == ["a"], "another run begins again"


def test_fixtures_live_as_long_as_in_one_run_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/__init__.py").touch()
    (tmp_path / "below/conftest.py").write_text(FIXTURES)
    for name in "ab":
        (tmp_path / f"below/test_{name}.py").write_text("def test_one(package): pass\n\ndef test_two(): pass\n")
    done = run(tmp_path, ["below/test_a.py", "below/test_b.py"])
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    steps = (tmp_path / "steps").read_text().splitlines()
    of_modules = [step for step in steps if "package" not in step]
    assert of_modules == ["session", "test_a", "end of test_a", "test_b", "end of test_b", "end of session"]
    assert (steps.count("package"), steps.count("end of package")) == (1, 1)


@pytest.mark.parametrize(
    ("first", "second", "code", "words"),
    [
        ("def test(): pass", "def test(): assert False", 1, "1 failed, 1 passed"),
        ("def test(): assert False", "def test(): pass", 1, "1 failed, 1 passed"),
        ("", "def test(): pass", 0, "1 passed"),
        ("def test(): pass", "", 0, "1 passed"),
        ("", "", 5, "no tests ran"),
        ("def test(): pass", "import nothing_of_that_name", 2, "test_b.py could not be collected"),
        ("import nothing_of_that_name", "def test(): pass", 2, "1 error"),
    ],
)
def test_the_exit_code_is_that_of_all_files(tmp_path: Path, first: str, second: str, code: int, words: str) -> None:
    (tmp_path / "test_a.py").write_text(first)
    (tmp_path / "test_b.py").write_text(second)
    done = run(tmp_path, ["test_a.py", "test_b.py"])
    assert done.returncode == code, done.stdout
    assert words in done.stdout


def test_a_run_that_is_to_stop_at_a_failure_stops(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test(): assert False\n")
    (tmp_path / "test_b.py").write_text("def test(): pass\n")
    done = run(tmp_path, ["test_a.py", "test_b.py"], "-x")
    assert "stopping after 1 failures" in done.stdout
    assert "passed" not in done.stdout


def test_tests_that_are_not_chosen_are_not_run(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text("def test_one(): pass\n\ndef test_two(): pass\n")
    done = run(tmp_path, ["test_a.py", "test_b.py"], "-k", "two")
    assert "2 passed" in done.stdout
