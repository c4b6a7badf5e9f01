"""The live view of ``make ureplicator``: a column for each worker, a row for each topic.

uReplicator has no such view; its REST interface has the numbers · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kafka_lite.common.topic_partition import TopicPartition

Owners = Mapping[TopicPartition, str | None]
STYLES = ("cyan", "green", "magenta", "yellow", "blue")
ALONE = "nobody"


def live_view(
    owners: Owners, workers: Sequence[str], alive: set[str], counts: tuple[int, int], news: Sequence[str]
) -> RenderableType:
    """``counts``: records published, and those that have arrived; ``news``: what happened, latest last."""
    published, arrived = counts
    heading = Text(no_wrap=True, overflow="ellipsis")
    heading.append("uReplicator  ", "bold cyan").append(f"{published:,} published", "bold")
    heading.append(f" · {arrived:,} records in the target", "dim")
    table = Table(pad_edge=False, padding=(0, 1, 0, 0), box=None)
    table.add_column("topic", no_wrap=True)
    for worker in workers:
        table.add_column(Text(worker if worker in alive else f"{worker} (dead)", "bold" if worker in alive else "red"))
    table.add_column(Text(ALONE, "bold red"))
    for number, topic in enumerate(sorted({partition.topic for partition in owners})):
        style = STYLES[number % len(STYLES)]
        cells = [_partitions(owners, topic, worker) for worker in (*workers, None)]
        table.add_row(Text(topic, style), *(Text(cell, style) for cell in cells))
    return Group(heading, table, *(Text(f"· {line}", "dim") for line in news))


def _partitions(owners: Owners, topic: str, worker: str | None) -> str:
    numbers = sorted(each.partition for each, owner in owners.items() if each.topic == topic and owner == worker)
    return " ".join(map(str, numbers))
