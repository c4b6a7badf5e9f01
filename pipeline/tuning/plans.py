"""Physical plans and the Spark UI: what a query will do, read from its plan, and what it did, read from the UI.

A plan is a tree of operators, written with the root first. Rows go from the leaves to the root. The part between two
exchanges runs without moving a row to another task: it is a stage, and has one task for each partition::

    *(5) SortMergeJoin [airline#6], [airline#11], Inner                              depth 0   ┐ the last stage
    :- *(2) Sort [airline#6 ASC NULLS FIRST], false, 0                                     1   │ 2 tasks
    :  +- Exchange hashpartitioning(airline#6, 2), ENSURE_REQUIREMENTS, [plan_id=188]      2   ┘┐
    :     +- *(1) Filter isnotnull(airline#6)                                              3    │ a stage
    :        +- FileScan parquet [airline#6,…] …, PushedFilters: [IsNotNull(airline)], …   4    ┘
    +- *(4) Sort [airline#11 ASC NULLS FIRST], false, 0                                    1
       +- Exchange hashpartitioning(airline#11, 2), ENSURE_REQUIREMENTS, [plan_id=194]     2   ┐ another stage
          +- …                                                                             3   ┘

What the text says of an exchange, a join and a scan is all that the functions below read. They take the plan of a
query that has not run: with ``spark.sql.adaptive.enabled`` Spark may change it between stages.

Spark 4.2: sql/catalyst/.../trees/TreeNode.scala (generateTreeString), sql/core/.../execution/exchange · book 2.1.1
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import date, timedelta
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

UI_TIMEOUT_S = 30
METADATA_LENGTH = "spark.sql.maxMetadataStringLength"
PARTITIONINGS = {
    "hashpartitioning": "hash",
    "rangepartitioning": "range",
    "RoundRobinPartitioning": "round robin",
    "SinglePartition": "single",
}
"""How an exchange spreads rows: the plan's words, and ours."""
JOINS = {
    "BroadcastHashJoin": "broadcast",
    "SortMergeJoin": "sort-merge",
    "ShuffledHashJoin": "shuffled hash",
    "BroadcastNestedLoopJoin": "nested loop",
    "CartesianProduct": "product",
}
"""The operators that join two children, and our words for them."""


class Operator(NamedTuple):
    """A line of a plan: how deep in the tree (the root is at 0), the operator's name, and what stands after it."""

    depth: int
    name: str
    text: str


class Exchange(NamedTuple):
    """A shuffle: how rows are spread (a value of ``PARTITIONINGS``), and over how many partitions."""

    how: str
    partitions: int


class FileRead(NamedTuple):
    """A scan of files: its columns, filters that the file reader has, filters that choose folders."""

    columns: list[str]
    pushed: list[str]
    folders: list[str]


class JoinStep(NamedTuple):
    """A join: a value of ``JOINS``, and the side that is held in memory whole: "left", "right" or None."""

    kind: str
    built: str | None


class StageFigures(NamedTuple):
    """A stage that ran: tasks, records that it read (from a source or a shuffle), bytes that it wrote for others."""

    stage: int
    tasks: int
    records: int
    shuffle_bytes: int


def plan_text(frame: DataFrame) -> str:
    """The physical plan of a query, as ``explain()`` prints it, but with long lists whole."""
    conf = frame.sparkSession.conf
    before = conf.get(METADATA_LENGTH)
    conf.set(METADATA_LENGTH, "100000")
    try:
        return str(frame._jdf.queryExecution().executedPlan().toString())
    finally:
        conf.set(METADATA_LENGTH, before or "100")


def operators(plan: str) -> list[Operator]:
    """The operators of a plan, in the order of its lines.

    Each level of the tree takes three characters: ``:- `` or ``+- `` before an operator, ``:  `` or three blanks
    further left. ``*(5) ``, the number of the generated class, belongs to neither name nor depth. The name is a word
    that ends before a blank, a bracket or a parenthesis; ``text`` is the rest of the line, blanks at its ends left out.
    Lines without an operator are left out.
    """
    line = re.compile(r"(?P<tree>(?:[: ]  )*(?:[:+]- )?)(?:\*\(\d+\) )?(?P<name>\w+)(?P<text>.*)")
    found = filter(None, map(line.fullmatch, plan.splitlines()))
    return [Operator(len(each["tree"]) // 3, each["name"], each["text"].strip()) for each in found]


def exchanges(plan: str) -> list[Exchange]:
    """The shuffles of a plan, in the order of its lines.

    Operators named ``Exchange``: neither ``BroadcastExchange``, which gives every task all rows, nor
    ``ReusedExchange``, which reads once more what another exchange has written. ``text`` begins with a key of
    ``PARTITIONINGS``. The number of partitions is the last one in its parentheses: keys may have parentheses and
    numbers too, as in ``hashpartitioning(pmod(a#1, 7), 4)``. ``SinglePartition`` has none, and is one partition.
    """
    words = r"(\w+)(?:\((?:.*, )?(\d+)\))?, [A-Z_]+"
    texts = [operator.text for operator in operators(plan) if operator.name == "Exchange"]
    found = [each for text in texts if (each := re.match(words, text))]
    return [Exchange(PARTITIONINGS[each[1]], int(each[2] or 1)) for each in found]


def stages(plan: str) -> int:
    """How many stages the query's own job has: one more than shuffles. A broadcast is a job of its own."""
    return len(exchanges(plan)) + 1


def items(text: str) -> list[str]:
    """Divide a list of a plan at the commas that are in no parentheses or brackets.

    ``"IsNotNull(a), In(a, [1,2])"`` has two items. Blanks around an item are left out; ``""`` has no items.
    """
    found, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [item.strip() for item in found if item.strip()]


def file_reads(plan: str) -> list[FileRead]:
    """Tell what each ``FileScan`` of a plan reads, in the order of its lines; columns have simple types.

    Its text ends with ``PartitionFilters: […], PushedFilters: […], ReadSchema: struct<name:type,…>``. ``items``
    divides each of them. A column that the names of folders give, as in ``origin=JFK``, is not in ``ReadSchema``.
    """
    words = r"PartitionFilters: \[(.*)\], PushedFilters: \[(.*)\], ReadSchema: struct<(.*)>"
    scans = [operator.text for operator in operators(plan) if operator.name == "FileScan"]
    return [
        FileRead([column.partition(":")[0] for column in items(schema)], items(pushed), items(folders))
        for scan in scans
        for folders, pushed, schema in re.findall(words, scan)
    ]


def flights_of_day(flights: DataFrame, origin: str, day: date) -> DataFrame:
    """``flight``, ``time``, ``delay`` of the flights that leave ``origin`` on that day, in the session's time zone.

    ``flights`` are files in folders ``origin=…``, with the column ``time`` (timestamp) and others. The reader gets
    all conditions: it opens only the folder, skips blocks of rows by the smallest and the largest ``time`` in them,
    and reads three columns. A function of ``time`` would hide it: the condition is a range of ``time`` itself.
    """
    on_day = (F.col("time") >= F.lit(day)) & (F.col("time") < F.lit(day + timedelta(days=1)))
    return flights.where((F.col("origin") == origin) & on_day).select("flight", "time", "delay")


def joins(plan: str) -> list[JoinStep]:
    """The joins of a plan, in the order of its lines.

    ``built`` is "left" or "right" where the text has "BuildLeft" or "BuildRight": every task has that
    side whole, as a table to look up in. It is None for a join that sorts both sides, or pairs all rows.
    """
    found = []
    for operator in operators(plan):
        if operator.name in JOINS:
            side = re.search(r"\bBuild(Left|Right)\b", operator.text)
            found.append(JoinStep(JOINS[operator.name], side[1].lower() if side else None))
    return found


def with_airlines(flights: DataFrame, airlines: DataFrame) -> DataFrame:
    """All flights, with the columns of their airline beside theirs; null for an airline that is not in ``airlines``.

    Both have ``airline``. The 16 airlines go to every task, and no flight moves: whatever Spark believes of the size
    of ``airlines``, and whatever ``spark.sql.autoBroadcastJoinThreshold`` says.
    """
    return flights.join(F.broadcast(airlines), "airline", "left")


def delays_in_context(flights: DataFrame) -> DataFrame:
    """``flight``, ``airline``, ``tailnum``, ``time``, ``delay`` of all flights, with ``mean`` and ``previous``.

    ``mean`` is the mean delay of its airline, without the nulls of cancelled flights; ``previous`` the delay of the
    flight before, by ``time``, of the same aircraft, null for its first. An aircraft (``tailnum``) belongs to one
    airline. The files are read once, and rows move once: an exchange by airline brings those of an aircraft together
    too, if Spark is told that it is one aircraft *of an airline*.
    """
    of_airline, of_aircraft = Window.partitionBy("airline"), Window.partitionBy("airline", "tailnum").orderBy("time")
    mean, previous = F.avg("delay").over(of_airline), F.lag("delay").over(of_aircraft)
    return flights.select(
        "flight", "airline", "tailnum", "time", "delay", mean.alias("mean"), previous.alias("previous")
    )


def from_ui(spark: SparkSession, path: str) -> Any:
    """Ask the session's UI for a path of its REST API, such as ``jobs`` or ``stages``; returns what its JSON says.

    The pages of the UI show the same numbers. Raises ValueError if the session has no UI.
    """
    address = spark.sparkContext.uiWebUrl
    if address is None:
        raise ValueError("the session has no UI: spark.ui.enabled is false")
    url = urlsplit(address)
    connection = HTTPConnection(url.hostname or "", url.port, timeout=UI_TIMEOUT_S)
    with closing(connection):
        connection.request("GET", f"/api/v1/applications/{spark.sparkContext.applicationId}/{path}")
        return json.load(connection.getresponse())


def stages_of_job(job: Mapping[str, Any], stages: Iterable[Mapping[str, Any]]) -> list[StageFigures]:
    """The stages of a job that ran to their end, by number, from the UI's ``jobs`` and ``stages``.

    A job names its stages in ``stageIds``. A stage has ``stageId``, ``status``, ``numTasks``, ``inputRecords``,
    ``shuffleReadRecords`` and ``shuffleWriteBytes``, and others. ``status`` is ``SKIPPED`` if what the stage would
    have written was there from an earlier job, and ``FAILED`` for an attempt that another one followed: only those
    that are ``COMPLETE`` did the job's work.
    """
    own = [each for each in stages if each["stageId"] in job["stageIds"] and each["status"] == "COMPLETE"]
    return sorted(
        StageFigures(
            each["stageId"],
            each["numTasks"],
            each["inputRecords"] + each["shuffleReadRecords"],
            each["shuffleWriteBytes"],
        )
        for each in own
    )
