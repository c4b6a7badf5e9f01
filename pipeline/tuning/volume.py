"""Volume: how large the batches of a stream are, what they cost, and how many tasks share one.

A batch costs something before it reads a record: a plan, a checkpoint, tasks to start. Small batches pay that often;
large ones let results wait, and need room. ``maxOffsetsPerTrigger`` decides how large a batch is, ``minPartitions``
how many tasks read it. Both can be computed, from the progress that a stream reports of each batch::

    seconds │                        ·  ╱          fixed_s: what a batch without records would take
            │                ·    ╱                per_record_s: the slope
            │        ·  ╱  ·
            │  ·  ╱                                limit_for: where the line is as high as the time that a batch may
            │╱ fixed_s                             take; beyond it, results are later than promised
            └───────────────────────────── records

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala (rateLimit), KafkaOffsetRangeCalculator.scala
· book 4.1.1
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import linear_regression
from typing import Any, NamedTuple

from pyspark.sql import DataFrame

from kafka_lite.spark.progress_metrics import offsets_behind_latest


class Batch(NamedTuple):
    """A batch that read records: its number, how many, its seconds, how many offsets it left for the next ones."""

    number: int
    records: int
    seconds: float
    behind: int


class Cost(NamedTuple):
    """The seconds of a batch are ``fixed_s + records * per_record_s``."""

    fixed_s: float
    per_record_s: float

    def of(self, records: float) -> float:
        """The seconds of a batch with so many records."""
        return self.fixed_s + records * self.per_record_s


class CatchUp(NamedTuple):
    """How many batches a stream needs until one reads all that is there, and how many seconds they take."""

    batches: int
    seconds: float


def batches(progress: Iterable[Any]) -> list[Batch]:
    """The batches of a query that read something, from its progress reports in JSON, as ``json.loads`` gives them.

    A report has ``batchId``, ``numInputRows``, ``durationMs`` (of which ``triggerExecution`` is the whole batch, in
    ms), and a list ``sources``. A query that waits reports every ten seconds, with no rows: such a report is no batch.
    ``offsets_behind_latest(report, n)`` has the lag of each partition of source n; ``behind`` is the sum for all
    partitions of all sources.
    """
    return [
        Batch(
            report["batchId"],
            report["numInputRows"],
            report["durationMs"]["triggerExecution"] / 1000,
            sum(sum(offsets_behind_latest(report, n).values()) for n in range(len(report["sources"]))),
        )
        for report in progress
        if report["numInputRows"] > 0
    ]


def cost_of(measured: Sequence[Batch]) -> Cost:
    """The cost of batches, from those measured: the straight line with the least squares through their seconds.

    The first batch is left out if there are others: it starts Python's workers and warms Java up. If all that is left
    have one size, or the line says that a record or a batch costs less than nothing, there is no line to trust: then
    nothing is fixed, and a record costs all the seconds divided by all the records. Raises ValueError without batches.
    """
    if not measured:
        raise ValueError("no batch was measured")
    warm = measured[1:] or measured
    records, seconds = [batch.records for batch in warm], [batch.seconds for batch in warm]
    if len(set(records)) > 1:
        per_record_s, fixed_s = linear_regression(records, seconds)
        if per_record_s > 0 and fixed_s >= 0:
            return Cost(fixed_s, per_record_s)
    return Cost(0.0, sum(seconds) / sum(records))


def limit_for(cost: Cost, seconds: float) -> int:
    """The largest ``maxOffsetsPerTrigger`` with which a batch takes no more than these seconds.

    Raises ValueError if even a batch of one record takes longer.
    """
    limit = math.floor((seconds - cost.fixed_s) / cost.per_record_s)
    if limit < 1:
        raise ValueError(f"a batch of one record takes {cost.of(1)} s: no limit makes it {seconds} s")
    return limit


def catch_up(cost: Cost, limit: int, behind: int, arriving_per_s: float) -> CatchUp | None:
    """How a stream catches up that is ``behind`` by so many offsets, reads ``limit`` a batch, while others arrive.

    Batches are full until what waits is no more than the limit; one more batch then reads all of it, and with that the
    stream has caught up. While a batch runs, ``arriving_per_s`` offsets a second are added to what waits. None if full
    batches read no more than what arrives meanwhile: the stream never catches up. No batches if nothing waits.
    """
    if behind == 0:
        return CatchUp(0, 0.0)
    if behind <= limit:
        return CatchUp(1, cost.of(behind))
    gained = limit - arriving_per_s * cost.of(limit)
    if gained <= 0:
        return None
    full = math.ceil((behind - limit) / gained)
    return CatchUp(full + 1, full * cost.of(limit) + cost.of(behind - full * gained))


def tasks_for(records: int, partitions: int, cores: int, per_task: int) -> int:
    """How many tasks should read a batch: enough that each has at most ``per_task`` records, in full rounds.

    One for each partition at least: tasks are cut from partitions, and never put together. Tasks run ``cores`` at a
    time; a round with fewer takes as long as a full one, so their number is a multiple of ``cores``.
    """
    needed = max(partitions, math.ceil(records / per_task))
    return math.ceil(needed / cores) * cores


def read_options(limit: int, tasks: int, partitions: int) -> dict[str, str]:
    """The source's options, whose values are strings: ``maxOffsetsPerTrigger`` and ``minPartitions``.

    ``minPartitions`` only if there are more tasks than partitions: without it, each partition is one task.
    """
    options = {"maxOffsetsPerTrigger": str(limit)}
    return options | {"minPartitions": str(tasks)} if tasks > partitions else options


def into_files(frame: DataFrame, files: int) -> DataFrame:
    """The rows in so many partitions, each of which is a file when it is written, of about equal size.

    All work before runs in as many tasks as it did: so rows move once. ``coalesce`` moves none, and therefore lets its
    few tasks do all the work of the stage: with one file, a topic of a hundred partitions is read in one task.
    """
    return frame.repartition(files)
