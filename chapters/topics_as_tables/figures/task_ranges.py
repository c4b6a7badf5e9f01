"""The offsets that each task of a query reads, drawn for the notebook from the rows that the tasks returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.svg import PALETTE, Canvas

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LEFT, _WIDTH, _ROW = 90.0, 560.0, 40.0
_WORDS = {
    "en": ("partition {}", "task {}", "{} tasks"),
    "zh": ("分区 {}", "任务 {}", "{} 个任务"),
}


class TaskRange(NamedTuple):
    """The rows that one task returned of one partition; ``last`` is inclusive."""

    task: int
    partition: int
    first: int
    last: int


def task_ranges(topic: DataFrame) -> list[TaskRange]:
    """Run the query and return what its tasks read, by partition and offset."""
    from pyspark.sql.functions import expr

    rows = topic.selectExpr("spark_partition_id() AS task", "partition", "offset")
    tasks = rows.groupBy("task", "partition").agg(expr("min(offset)"), expr("max(offset)"))
    return sorted((TaskRange(*row) for row in tasks.collect()), key=lambda found: (found.partition, found.first))


def draw(topic: DataFrame) -> InBothLanguages:
    """A row for each partition, a box for each task that read from it."""
    found = task_ranges(topic)
    return InBothLanguages(lambda language: ranges_figure(found, language))


def ranges_figure(found: Sequence[TaskRange], language: str) -> str:
    """The drawing of ``draw`` as SVG; boxes are as wide as their ranges."""
    canvas = Canvas()
    partition_words, task_words, count_words = _WORDS[language]
    per_offset = _WIDTH / (max((each.last for each in found), default=0) + 1)
    partitions = sorted({each.partition for each in found})
    for row, partition in enumerate(partitions):
        canvas.text((0, row * _ROW + 22), partition_words.format(partition))
    for number, each in enumerate(found):
        top = partitions.index(each.partition) * _ROW
        colour = PALETTE[number % len(PALETTE)]
        at, width = _LEFT + each.first * per_offset, (each.last + 1 - each.first) * per_offset
        with canvas.group(f"{task_words.format(each.task)}: {each.first} – {each.last}"):
            canvas.box((at + 1, top + 2), (width - 2, 30), fill=colour, opacity=0.25, stroke=colour, radius=3)
            words = f"{each.first}–{each.last}"
            canvas.text((at + width / 2, top + 21), words, anchor="middle")
    said = "; ".join(
        f"{partition_words.format(each.partition)}: {each.first}–{each.last}, {task_words.format(each.task)}"
        for each in found
    )
    height = len(partitions) * _ROW
    return canvas.svg(_LEFT + _WIDTH + 4, height, f"{count_words.format(len({each.task for each in found}))}; {said}")
