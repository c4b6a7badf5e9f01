"""The folder of a run: what was begun in it, and what a killed run has left running.

Kafka 0.10.2: core/.../server/BrokerMetadataCheckpoint.scala · book 6.1.4

    run.json          what is replayed, the brokers, the processes that were started
    progress.jsonl    the progress of all queries        tables, checkpoints    of the queries
    samples.jsonl     the progress of the replay         kafka-logs, *.log      of broker and Spark
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from pipeline.processes import command_line, processes, runs
from pipeline.run.run_options import ReplayOptions

_POLL_MS = 20


class RunFolderError(KafkaError):
    """The folder is not one that this run may use; the text says what to do."""


class UnreadableRecordError(RunFolderError):
    """``run.json`` is not what a run has written."""


@dataclass(frozen=True)
class RunRecord:
    """``run.json``. ``starts`` is how often the run was started; ``bootstrap_servers`` None: a broker of its own."""

    replay: ReplayOptions
    bootstrap_servers: str | None
    starts: int = 1
    pid: int = 0
    children: tuple[int, ...] = ()


class RunFolder:
    """Creates, reads and writes the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.progress = self.path / "progress.jsonl"
        self.samples = self.path / "samples.jsonl"
        self.report = self.path / "report.html"
        self.spark_log = self.path / "spark.log"
        self._record = self.path / "run.json"

    def begin(self, replay: ReplayOptions, bootstrap_servers: str | None) -> RunRecord:
        """Make an empty folder. Raises ``RunFolderError`` if it is not a run's, or its run is still running."""
        if self.path.exists():
            if not self._record.is_file() and any(self.path.iterdir()):
                raise RunFolderError(f"{self.path} is there and is not of a run: move it, or choose another --folder")
            with suppress(UnreadableRecordError):
                self._end_leftovers(self.record())
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True)
        return self._written(RunRecord(replay, bootstrap_servers, pid=os.getpid()))

    def resume(self, bootstrap_servers: str | None) -> RunRecord:
        """Continue the folder's run; brokers that are given replace those it had.

        Raises ``RunFolderError`` if there is no run, or if it is still running.
        """
        if not self._record.is_file():
            raise RunFolderError(f"there is no run in {self.path} to resume: leave out --resume to begin one")
        record = self.record()
        self._end_leftovers(record)
        servers = bootstrap_servers or record.bootstrap_servers
        starts = record.starts + 1
        return self._written(replace(record, bootstrap_servers=servers, starts=starts, pid=os.getpid(), children=()))

    def record(self) -> RunRecord:
        """The record in ``run.json``. Raises ``UnreadableRecordError``."""
        try:
            values = json.loads(self._record.read_text(encoding="utf-8"))
            replay = values["replay"]
            replay["first_day"] = date.fromisoformat(replay["first_day"])
            return RunRecord(**{**values, "replay": ReplayOptions(**replay), "children": tuple(values["children"])})
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"{self._record} cannot be read ({error}): start a new run, without --resume"
            raise UnreadableRecordError(message) from error

    def remember_children(self, pids: Iterable[int]) -> None:
        """Write down the processes that a kill -9 of this one may leave running."""
        self._written(replace(self.record(), children=tuple(pids)))

    def append(self, file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append a line of JSON for each row. The line break comes first: it ends a line that a kill cut off."""
        if lines := ["\n" + json.dumps(row) for row in rows]:
            with file.open("a", encoding="utf-8") as out:
                out.writelines(lines)

    def rows(self, file: Path) -> Iterator[dict[str, Any]]:
        """The rows of such a file; a line that a kill cut off is left out."""
        if not file.exists():
            return
        for line in file.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):
                yield json.loads(line)

    def _written(self, record: RunRecord) -> RunRecord:
        """Replace ``run.json`` at once, so that a kill leaves the old or the new one."""
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps(asdict(record), default=str, indent=1), encoding="utf-8")
        draft.replace(self._record)
        return record

    def _end_leftovers(self, record: RunRecord) -> None:
        """Kill the broker and Spark of a killed run. Raises ``RunFolderError`` if the run is still running."""
        if record.pid != os.getpid() and "-m pipeline" in command_line(record.pid):
            raise RunFolderError(f"the run in {self.path} is still running, in process {record.pid}: stop it first")
        # All of them have the folder's path in their commands. The number alone may be another process's by now.
        children = {process for process, _ in processes() if process.pid in record.children}
        leftovers = {process for process in children if str(self.path) in command_line(process.pid)}
        for process in leftovers:
            with suppress(ProcessLookupError):
                _kill(process.pid)
        # Files stay locked and ports in use until the last thread has ended.
        while leftovers := {process for process, _ in processes() if process in leftovers and runs(process.pid)}:
            SYSTEM_TIME.sleep(_POLL_MS)


def _kill(pid: int) -> None:
    """Kill a process, with its group if it leads one: a Spark worker's has its executors."""
    if os.getpgid(pid) == pid:
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGKILL)
