"""The pipeline in a process of its own, which dies at a chosen point of a chosen batch.

    python -m tests.support.pipeline_process SETTINGS.json

It processes all that the topics have, then sends the clock events, processes these and ends. Points of a batch:

    reading     a task is at work on the batch: its state is computed, nothing is written
    written     the files are written, but not yet visible under the batch's number
    committed   the table has the batch, the topic does not
    published   the topic has the batch as well, and Spark's checkpoint does not know
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
from pyspark.sql import DataFrame, SparkSession

from pipeline.events import clock_events
from pipeline.queries import JOBS, PipelineConfig, has_failed, open_session, start_queries
from pipeline.run.supervised_queries import SupervisedQueries
from pipeline.sinks import ParquetTable, PublishedTable
from pipeline.topics import EventProducer

POLL_S = 0.05
FAILED = "failed-queries"


@dataclass(frozen=True)
class Death:
    """Who is killed at which point: ``driver`` (with its JVM), ``worker`` (Python's), ``executor`` (the JVM of a task).

    ``broker``: the process waits until a test has killed the broker. It happens once, even if the batch runs again.
    """

    victim: str
    job: str
    batch: int
    point: str


@dataclass(frozen=True)
class Settings:
    """What the process is to do."""

    bootstrap_servers: str
    folder: str
    clock: str
    jobs: Sequence[str] = JOBS
    master: str = "local[2]"
    lateness: str = "6 hours"
    max_offsets: int = 300
    state_partitions: int = 1
    exactly_once: bool = False
    source_options: Mapping[str, str] = field(default_factory=dict)
    death: Death | None = None


class PipelineProcess:
    """Starts it, and waits for its end or for what it says in files."""

    def __init__(self, settings: Settings) -> None:
        self.folder = Path(settings.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "settings.json"
        path.write_text(json.dumps(asdict(settings)))
        self.output = self.folder / "output"
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.pipeline_process", str(path)],
                env=os.environ | {"SPARK_WORKER_DIR": str(self.folder / "workers")},  # default: PySpark's own folder
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> int:
        """Its exit code."""
        return self._process.wait()

    def kill(self) -> None:
        """End it if it still runs, with its JVM."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def main(path: str) -> None:
    values = json.loads(Path(path).read_text())
    death = values.pop("death")
    settings = Settings(**values, death=Death(**death) if death else None)
    folder = Path(settings.folder)
    if settings.death is not None:
        arm(settings.death, folder)
    config = PipelineConfig(
        settings.bootstrap_servers, folder, lateness=settings.lateness, available_now=True,
        max_offsets_per_trigger=settings.max_offsets, source_options=settings.source_options,
        exactly_once=settings.exactly_once,
    )  # fmt: skip
    state = {"spark.sql.shuffle.partitions": str(settings.state_partitions)}
    spark = open_session(settings.master, folder / "spark.log", **state)
    run_to_end(spark, config, settings.jobs)
    with EventProducer(settings.bootstrap_servers) as producer:
        for event in clock_events(pd.Timestamp(settings.clock)):
            producer.send(event)
    run_to_end(spark, config, settings.jobs)
    spark.stop()


def run_to_end(spark: SparkSession, config: PipelineConfig, jobs: Sequence[str]) -> None:
    """Run the queries of the jobs to their end; ``FAILED`` in the folder says which failed and were started again."""
    queries = SupervisedQueries(jobs, lambda job: start_queries(spark, config, [job])[0])
    while any(query.isActive or has_failed(query) for query in queries.running):
        if failed := [query for query in queries.running if has_failed(query)]:
            (config.folder / FAILED).write_text("\n".join(f"{query.name}: {query.exception()}" for query in failed))
            queries.revive()
        time.sleep(POLL_S)


# ── dying ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def arm(death: Death, folder: Path) -> None:
    """Put the death in the way of the sinks."""
    mark = folder / f"died-{death.victim}-{death.point}"
    driver = os.getpid()

    def die() -> None:
        kill(death.victim, driver, mark)

    def is_due(table: ParquetTable, batch_id: int) -> bool:
        return (table.folder.name, batch_id) == (death.job, death.batch) and not mark.exists()

    write_batch, commit, publish = ParquetTable.write_batch, ParquetTable.commit, PublishedTable.write_batch

    def write(table: ParquetTable, rows: DataFrame, batch_id: int) -> None:
        if death.point == "reading" and is_due(table, batch_id):
            if death.victim == "broker":
                die()
            else:
                rows = rows.mapInArrow(lethal(death.victim, driver, str(mark)), rows.schema)
        write_batch(table, rows, batch_id)

    def commit_batch(table: ParquetTable, writing: Path, batch_id: int) -> None:
        if death.point == "written" and is_due(table, batch_id):
            die()
        commit(table, writing, batch_id)
        if death.point == "committed" and is_due(table, batch_id):
            die()

    def publish_batch(published: PublishedTable, rows: DataFrame, batch_id: int) -> None:
        publish(published, rows, batch_id)
        if death.point == "published" and is_due(published.table, batch_id):
            die()

    ParquetTable.write_batch, ParquetTable.commit = write, commit_batch  # type: ignore[method-assign]
    PublishedTable.write_batch = publish_batch  # type: ignore[method-assign]


def lethal(victim: str, driver: int, mark: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A step of a task that kills the victim at its first rows."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                kill(victim, driver, Path(mark))
            yield batch

    return step


def kill(victim: str, driver: int, mark: Path) -> None:
    """Kill it, once: ``mark`` says that it is done."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    match victim:
        case "driver":
            os.killpg(driver, signal.SIGKILL)
        case "worker":
            os.kill(os.getpid(), signal.SIGKILL)
        case "executor":
            java = next(each for each in psutil.Process().parents() if each.name() == "java")
            java.kill()
            time.sleep(60)  # this worker ends with it
        case "broker":
            while not mark.with_name("broker-is-dead").exists():
                time.sleep(POLL_S)


if __name__ == "__main__":
    main(sys.argv[1])
