"""Runs checks of labs in forks of one process, which makes each a few times cheaper; see ``lab_forker``."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafka_learn.labs.grader import environment
from kafka_learn.labs.lab import Lab


class LabForks:
    """``check(lab, files, run=forks.run)``: a check in a fork, with the result of a check in a new process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, command: list[str], limit_s: float) -> tuple[int | None, str]:
        """As ``kafka_learn.labs.grader.run_bounded``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.TemporaryDirectory(prefix="kafka-lite-lab-fork-") as folder:
            output = Path(folder) / "output"
            arguments = command[command.index("kafka_learn.labs.overlay") + 1 :]
            request = {"arguments": arguments, "output": str(output), "limit_s": limit_s}
            print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
            assert answer, "the process that forks has ended: its last words are above"
            return json.loads(answer), output.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def lab_forks(labs: Iterable[Lab]) -> Iterator[LabForks]:
    """Within the block, checks of these labs can be forked."""
    replaced = {module for lab in labs for module in lab.modules}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.lab_forker", *sorted(replaced)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    with process:  # which closes its input at the end, and waits
        yield LabForks(process)
