"""Processes of pytest side by side, which take their files from a queue.

Each worker of pytest-xdist collects all tests, and a third process receives five messages per test. For eighteen
thousand short tests on two cores that is a third of the processor time.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from scripts.longest_first import place_of

_RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def files_below(paths: Sequence[str], left_out: Sequence[str] = ()) -> list[str]:
    """The test files below these paths, those that take longest first."""
    found = {file for path in map(Path, paths) for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
    folders = [Path(path) for path in left_out]
    return sorted((str(file) for file in found if not _is_below(file, folders)), key=place_of)


def _is_below(file: Path, folders: Sequence[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)


def run_side_by_side(commands: Sequence[Sequence[str | Path]], environment: Mapping[str, str]) -> int:
    """Run the commands at the same time; returns the exit code of all together.

    The first one writes to the terminal. What the others have written follows when all have ended.
    """
    with ExitStack() as files:
        outputs = [files.enter_context(tempfile.TemporaryFile()) for _ in commands[1:]]
        running: list[subprocess.Popen[bytes]] = []
        try:
            for command, output in zip(commands, [None, *outputs], strict=True):
                running.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output))
            codes = [process.wait() for process in running]
        finally:
            for process in running:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            for output in outputs:
                output.seek(0)
                print(output.read().decode(errors="replace"), end="", flush=True)
    return exit_code(codes)


def exit_code(codes: Sequence[int]) -> int:
    """The code of pytest for all runs: the first that no second try can mend, else whether tests failed.

    That a run has collected no test is no news if another one has: its options may have chosen tests of the other's.
    """
    for code in codes:
        if code not in (*_RAN, pytest.ExitCode.NO_TESTS_COLLECTED):
            return code
    return max((code for code in codes if code in _RAN), default=int(pytest.ExitCode.NO_TESTS_COLLECTED))
