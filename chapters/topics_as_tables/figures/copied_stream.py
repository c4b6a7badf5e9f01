"""A stream that copies a topic to a table, as a program of its own, for the notebook that kills it; and its picture.

    python -m chapters.topics_as_tables.figures.copied_stream BOOTSTRAP_SERVERS FOLDER [--kill]

It ends after the last record of the topic. With ``--kill`` it kills itself (SIGKILL) after the first batch is in the
table, before Spark can enter the batch in the checkpoint's ``commits``.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.svg import PALETTE, Canvas, text_width
from kafka_learn.project import PROJECT_ROOT
from pipeline.events import FLIGHTS
from pipeline.queries import PipelineConfig
from pipeline.sinks import ParquetTable

NAME = "copy"
"""The query's name: of its table, and of its checkpoint."""

_CELL, _ROW, _LEFT = 70.0, 34.0, 10.0
_ROWS = {
    "en": ("offsets: the batch is planned", "table: its rows are there", "commits: the batch is over"),
    "zh": ("offsets：这一批已计划", "table：表里有这一批的行", "commits：这一批已结束"),
}
_BATCH = {"en": "batch {}", "zh": "批次 {}"}


def run(bootstrap_servers: str, folder: Path, *, kill: bool = False) -> int:
    """Run the stream in a process of its own and return its exit code: -9 if it was killed."""
    command = [sys.executable, "-m", "chapters.topics_as_tables.figures.copied_stream", bootstrap_servers, str(folder)]
    ended = subprocess.run([*command, *["--kill"] * kill], cwd=PROJECT_ROOT, capture_output=True, text=True)
    if ended.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the stream failed:\n{ended.stderr}")
    return ended.returncode


def checkpoint(folder: Path) -> Path:
    """Where the stream's checkpoint is."""
    return PipelineConfig("", folder).checkpoint(NAME)


def table(folder: Path) -> Path:
    """Where the stream's table is."""
    return PipelineConfig("", folder).table_folder(NAME)


def draw(folder: Path) -> InBothLanguages:
    """The steps, of a batch's three, that are in the files now: a column for each batch, a row for each step."""
    return InBothLanguages(lambda language: steps_figure(steps(folder), language))


def steps(folder: Path) -> list[set[int]]:
    """The numbers of the batches that were planned, that are in the table, and that are over."""
    return [
        {int(path.name) for path in (checkpoint(folder) / "offsets").glob("*") if path.name.isdigit()},
        {int(path.name.partition("=")[2]) for path in table(folder).glob("batch=*")},
        {int(path.name) for path in (checkpoint(folder) / "commits").glob("*") if path.name.isdigit()},
    ]


def steps_figure(found: Sequence[set[int]], language: str) -> str:
    """The drawing of ``draw`` for what ``steps`` returned, as SVG: a filled box is there, a dashed one is missing."""
    canvas = Canvas()
    heads = _ROWS[language]
    left = _LEFT + max(map(text_width, heads)) + 20
    batches = range(max(set().union(*found), default=-1) + 1)
    for number in batches:
        canvas.text((left + number * _CELL, 14), _BATCH[language].format(number), size=12)
    for row, (head, numbers) in enumerate(zip(heads, found, strict=True)):
        top = 24 + row * _ROW
        canvas.text((_LEFT, top + 16), head)
        for number in batches:
            is_there, colour = number in numbers, PALETTE[number % len(PALETTE)]
            fill, dash = (colour, "") if is_there else ("none", "3 3")
            at = (left + number * _CELL, top)
            canvas.box(at, (_CELL - 12, 24), fill=fill, opacity=0.35, stroke=colour, radius=3, dash=dash)
    said = "; ".join(f"{head}: {sorted(numbers)}" for head, numbers in zip(heads, found, strict=True))
    return canvas.svg(left + len(batches) * _CELL + 10, 24 + 3 * _ROW, said)


def main(arguments: Sequence[str] | None = None) -> None:
    """Copy what is in the topic, or die after the first batch."""
    parser = argparse.ArgumentParser(description="Copy the flights of a topic to a table, then end.")
    parser.add_argument("bootstrap_servers", metavar="BOOTSTRAP_SERVERS")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="for the table, the checkpoint and Spark's log")
    parser.add_argument("--kill", action="store_true", help="kill this process between a batch's table and its commit")
    options = parser.parse_args(arguments)
    _copy(options.bootstrap_servers, options.folder, kill=options.kill)


def _copy(bootstrap_servers: str, folder: Path, *, kill: bool) -> None:
    from pyspark.sql import DataFrame

    from pipeline.jobs.parsing import events_of
    from pipeline.queries import open_session, read_stream

    spark = open_session("local[1]", folder / "spark.log", **{"spark.sql.shuffle.partitions": "1"})
    config = PipelineConfig(bootstrap_servers, folder, available_now=True)
    parquet = ParquetTable(table(folder), checkpoint(folder))

    def write_batch(rows: DataFrame, batch_id: int) -> None:
        parquet.write_batch(rows, batch_id)
        if kill:
            os.kill(os.getpid(), signal.SIGKILL)

    flights = events_of(read_stream(spark, config, FLIGHTS)).select("event_id", "event_time")
    writer = flights.writeStream.foreachBatch(write_batch).option("checkpointLocation", str(checkpoint(folder)))
    writer.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
