"""``python -m pipeline`` in a process of its own, and what it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from pipeline.processes import command_line
from pipeline.run.run_folder import RunFolder
from tests.support.eventually import eventually

PROJECT_ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300


class PipelineCommand:
    """Starts the command in a folder, where its results are in ``pipeline-run``; ends it if a test does not."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder / "pipeline-run"
        environment = os.environ | {"PYTHONPATH": str(PROJECT_ROOT), "COLUMNS": "80"}
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "pipeline", *arguments],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def __enter__(self) -> PipelineCommand:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for its end: exit code, and all that it printed."""
        shown, _ = self._process.communicate()
        return self._process.returncode, shown

    def wait_for_batch(self, query: str, batch_id: int) -> None:
        """Wait until a query has finished a batch."""
        folder = RunFolder(self.folder)

        def has_run() -> bool:
            assert self._process.poll() is None, self._process.communicate()[0]
            batches = folder.rows(folder.progress)  # without a row that is being written
            return any(batch["name"] == query and batch["batchId"] >= batch_id for batch in batches)

        eventually(has_run, f"batch {batch_id} of {query}", TIMEOUT_S)


def processes_of(folder: Path) -> dict[int, str]:
    """The processes with a folder in their command lines, or in whose directory they work."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        pid = int(process.name)
        try:
            works_in = (process / "cwd").resolve()
        except OSError:
            continue
        if str(folder) in command_line(pid) or works_in.is_relative_to(folder):
            found[pid] = command_line(pid)
    return found
