"""Runs seeds in another interpreter, where objects may have other addresses than in this one.

Not in Kafka. A seed is replayed in another process. Forks of one process would not tell whether the run is the same
there: they share the addresses of everything that existed before the fork. Up to Python 3.11 the hash of None is
one of these, so a set of tuples with None in them has one order in all forks, and another one elsewhere.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from kafka_lite.testing.simulation.runner import ModulePool, Outcome, Plan, Run, run_in_forks


class Work(NamedTuple):
    """The task of the other interpreter."""

    plan: Plan
    runs: Sequence[Run]
    packages: Sequence[str]
    switching: Sequence[str]
    workers: int


class OtherInterpreter:
    """Begins with the work at once, so that this process can import its own modules meanwhile."""

    def __init__(self, work: Work) -> None:
        self._expected = len(work.runs)
        self._process: subprocess.Popen[bytes] | None = None
        if work.runs:
            command = [sys.executable, "-m", __name__]
            environment = {**os.environ, "PYTHONHASHSEED": "0"}
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            assert self._process.stdin is not None
            with self._process.stdin as stdin:
                pickle.dump(work, stdin)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcome of each seed as it ends. Raises RuntimeError if the interpreter ends early."""
        if self._process is None:
            return
        assert self._process.stdout is not None
        with self._process as process, self._process.stdout as stdout:
            for done in range(self._expected):
                try:
                    outcome = pickle.load(stdout)
                except EOFError:
                    code = process.wait()
                    raise RuntimeError(
                        f"the other interpreter ended with exit code {code} after {done} of {self._expected} seeds"
                    ) from None
                assert isinstance(outcome, Outcome)
                yield outcome


def answer(source: IO[bytes], target: IO[bytes]) -> None:
    """Do the work that is read, and write each outcome."""
    work: Work = pickle.load(source)
    pool = ModulePool(packages=work.packages, switching=work.switching)
    for outcome in run_in_forks(work.plan, work.runs, pool, work.workers):
        pickle.dump(outcome, target)
        target.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as outcomes:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the output of programs is not part of the outcome
        answer(sys.stdin.buffer, outcomes)
