"""Records a run in a process of its own, so that the files it reads are those of this run and of no other.

It imports little itself, for the same reason. In a simulated world: ``simulated_run``.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording.recorded_run import RecordedRun

MODULE: Final = "kafka_learn.recording.recorded_apart"


def recorded_apart(reference: str, environment: Mapping[str, str] = os.environ) -> RecordedRun:
    """Execute ``module:function`` in another process; returns the run. Raises ValueError if it fails."""
    with tempfile.TemporaryDirectory(prefix="kafka-lite-run-") as folder:
        path = Path(folder, "run.jsonl")
        done = subprocess.run(
            [sys.executable, "-m", MODULE, reference, str(path)],
            cwd=PROJECT_ROOT, env=dict(environment), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ValueError(done.stderr.strip())
        return RecordedRun.load(path)


def main(reference: str, path: str) -> int:
    """Record a run for ``recorded_apart``; returns the exit code, 1 if there is none."""
    module, _, name = reference.partition(":")
    try:
        run = getattr(importlib.import_module(module), name)()
    except Exception as error:  # noqa: BLE001 - whatever the function that records it does wrong
        sys.stderr.write(f"{reference} has recorded nothing: {error!r}\n")
        return 1
    if not isinstance(run, RecordedRun):
        sys.stderr.write(f"{reference} returns no RecordedRun\n")
        return 1
    run.save(Path(path))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
