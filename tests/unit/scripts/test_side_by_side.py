import os
import signal
import sys
from pathlib import Path

import pytest

from scripts.side_by_side import divided, exit_code, run_side_by_side

UNIT = Path(__file__).parents[1]


def test_every_file_is_in_one_part_and_the_parts_are_equal() -> None:
    parts = divided([str(UNIT)], 2)
    files = sorted(file for part in parts for file in part)
    assert files == sorted(map(str, UNIT.rglob("test_*.py")))
    first, second = (sum(os.path.getsize(file) for file in part) for part in parts)
    assert abs(first - second) < 1000


def test_files_and_folders_are_divided_together_each_file_once(tmp_path: Path) -> None:
    for name, size in (("test_a.py", 5), ("test_b.py", 3), ("test_c.py", 2), ("helper.py", 9)):
        (tmp_path / name).write_text("#" * size)
    a, b, c = (str(tmp_path / f"test_{name}.py") for name in "abc")
    assert divided([str(tmp_path), a], 2) == [[a], [b, c]]
    assert divided([a, b], 3) == [[a], [b]], "no process without files"


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
