"""The live view of ``kafka-lite mirror-maker --watch``: rates, and the lag of each partition.

Kafka's MirrorMaker has no such view; its users look at the lag of its group · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka_lite.common.time import Time
from kafka_lite.mirror.maker.mirror_progress import MirrorProgress, MirrorSnapshot, PartitionRow

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker

COLUMNS = ("topic", "partition", "position", "lag", "offsets/s")
MISSING = "-"


@contextmanager
def watching(mirror: MirrorMaker, time: Time, console: Console | None = None) -> Iterator[Callable[[], None]]:
    """Use the terminal's alternate screen; the function that this yields redraws it."""
    from rich.console import Console
    from rich.live import Live

    progress = MirrorProgress()
    with Live(console=console or Console(highlight=False), screen=True, auto_refresh=False) as live:

        def show() -> None:
            state = mirror.state
            snapshot = progress.look(
                time.hi_res_ms(), mirror.progress(), state.acknowledged, state.num_dropped_messages
            )
            live.update(live_view(snapshot), refresh=True)

        yield show


def live_view(snapshot: MirrorSnapshot) -> RenderableType:
    """Totals, then the partitions with the largest lag first, so that a small terminal shows them."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    heading = Text(no_wrap=True, overflow="ellipsis")
    heading.append("mirror-maker  ", "bold cyan").append(f"{snapshot.rate:,.0f} records/s", "bold")
    heading.append(f"  {snapshot.acknowledged:,} acknowledged · lag {_count(snapshot.lag)}", "dim")
    if snapshot.dropped:
        heading.append(f" · {snapshot.dropped:,} dropped", "bold red")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "topic" else "right", no_wrap=True)
    for row in sorted(snapshot.rows, key=_by_lag):
        table.add_row(*_cells(row), style="yellow" if row.lag else None)
    return Group(heading, table if snapshot.rows else Text("No partition has had records yet.", "dim"))


def _by_lag(row: PartitionRow) -> tuple[int, str, int]:
    return (-(row.lag or 0), *row.topic_partition)


def _cells(row: PartitionRow) -> tuple[str, ...]:
    topic, partition = row.topic_partition
    return topic, str(partition), f"{row.position:,}", _count(row.lag), f"{row.rate:,.0f}"


def _count(number: int | None) -> str:
    return MISSING if number is None else f"{number:,}"
