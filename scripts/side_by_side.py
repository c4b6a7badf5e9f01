"""Processes of pytest side by side, each with files of its own.

pytest-xdist hands out single tests: each worker collects all of them, and a third process receives five messages per
test. For sixteen thousand short tests on two cores that is a third of the processor time.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

_RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def divided(paths: Sequence[str], parts: int) -> list[list[str]]:
    """The test files below these paths in at most so many lists of about the same number of bytes."""
    files = {file for path in map(Path, paths) for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
    lists: list[list[str]] = [[] for _ in range(parts)]
    sizes = [0] * parts
    for file in sorted(files, key=lambda file: (-file.stat().st_size, file)):
        smallest = sizes.index(min(sizes))
        lists[smallest].append(str(file))
        sizes[smallest] += file.stat().st_size
    return [sorted(files) for files in lists if files]


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
