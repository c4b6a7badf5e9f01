import os
import signal
import sys
from pathlib import Path

import pytest

from scripts.longest_first import place_of
from scripts.side_by_side import exit_code, files_below, run_side_by_side


def test_files_and_folders_are_found_each_file_once(tmp_path: Path) -> None:
    for name in ("test_a.py", "below/test_b.py", "left/test_c.py", "helper.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    a, b = (str(tmp_path / name) for name in ("test_a.py", "below/test_b.py"))
    assert files_below([str(tmp_path), a], [str(tmp_path / "left")]) == [b, a]
    assert files_below([a]) == [a]


def test_files_that_take_long_start_first() -> None:
    files = [
        "tests/a/test_b.py",
        "tests/docs/test_names.py",
        "tests/chaos/test_chaos_run.py",
        "tests/docs/test_labs.py",
    ]
    assert sorted(files, key=place_of) == [files[3], files[2], *files[:2]]


@pytest.mark.parametrize(
    ("codes", "together"),
    [
        ([0, 0], 0),
        ([0, 1], 1),
        ([1, 5], 1),
        ([5, 0], 0),
        ([5, 5], 5),
        ([1, 2], 2),
        ([0, -11], -11),
        ([4, 0], 4),
    ],
)
def test_the_exit_code_of_all_is_the_worst_that_says_something(codes: list[int], together: int) -> None:
    assert exit_code(codes) == together


def command(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_processes_run_at_the_same_time_and_the_output_of_each_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each opens one end of a pipe, which waits for the other."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    first = f"print('one', open({str(fifo)!r}).read())"
    second = f"open({str(fifo)!r}, 'w').write('met'); print('two'); raise SystemExit(1)"
    assert run_side_by_side([command(first), command(second)], os.environ) == 1
    assert capfd.readouterr().out == "one met\ntwo\n"


def test_a_process_that_a_signal_ends_makes_the_run_broken(capfd: pytest.CaptureFixture[str]) -> None:
    killed = "import os, signal; print('before', flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
    assert run_side_by_side([command("pass"), command(killed)], os.environ) == -signal.SIGSEGV
    assert "before" in capfd.readouterr().out
