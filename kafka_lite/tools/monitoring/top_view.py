"""Renders the snapshots of ``kafka-lite top`` with ``rich``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from kafka_lite.tools.monitoring.fitting_table import Column, FittingTable
from kafka_lite.tools.monitoring.top_snapshot import PHASES, PartitionRow, RequestRow, TopicRow, TopSnapshot

WIDE = 104
"""Minimum terminal width for showing two percentiles of every phase."""
LINES_AROUND = 17
"""Lines of the screen other than topics and requests: headings, totals, empty lines."""
MAX_REQUEST_ROWS = 8
_UNITS = ("kB", "MB", "GB", "TB")


def view(
    snapshot: TopSnapshot, console: Console, *, partitions: bool, url: str = "", max_rows: int | None = None
) -> RenderableType:
    """The whole view. ``max_rows``: how many lines of topics and requests fit; the others are only counted."""
    requests, topics = snapshot.requests, snapshot.topics
    if max_rows is not None:
        requests = requests[: min(MAX_REQUEST_ROWS, max(max_rows // 2, 1))]
        max_rows = max(max_rows - len(requests), 1)
    parts: list[RenderableType] = [
        _heading(snapshot, url),
        _health(snapshot),
        _topics(topics, snapshot, partitions, max_rows),
        _requests(requests, snapshot, console.width >= WIDE),
    ]
    return Group(*parts)


def _heading(snapshot: TopSnapshot, url: str) -> Text:
    text = Text()
    text.append(f"broker {snapshot.broker_id}", "bold cyan")
    text.append(f" {snapshot.state}", "green" if snapshot.state == "running" else "bold yellow")
    text.append(", controller" if snapshot.is_controller else "")
    text.append(f" · kafka_lite {snapshot.version} · cluster {snapshot.cluster_id}", "dim")
    text.append(f" · {url}" if url else "", "dim")
    return text


def _health(snapshot: TopSnapshot) -> Text:
    waiting = ", ".join(f"{name} {count}" for name, count in sorted(snapshot.purgatories.items()))
    text = Text()
    text.append("idle ", "dim").append(f"network {_percent(snapshot.network_idle)}", _idle_style(snapshot.network_idle))
    text.append(", ").append(f"handlers {_percent(snapshot.handlers_idle)}", _idle_style(snapshot.handlers_idle))
    text.append("  queued ", "dim").append(f"{snapshot.request_queue} requests, {snapshot.response_queue} responses")
    text.append("  waiting ", "dim").append(waiting)
    text.append("  connections ", "dim").append(f"{snapshot.connections}")
    for what, count in (("under-replicated", snapshot.under_replicated), ("offline", snapshot.offline)):
        text.append(f"  {what} ", "dim").append(str(count), "bold red" if count else "")
    return text


def _idle_style(idle: float) -> str:
    return "bold red" if idle < 0.1 else "yellow" if idle < 0.3 else ""


TOPIC_COLUMNS = (
    Column("topic", "left", "cyan", is_name=True),
    Column("parts", expendable=3),
    Column("log start", expendable=4),
    Column("log end", expendable=1),
    Column("size", expendable=2),
    Column("msgs in/s"),
    Column("in/s"),
    Column("out/s"),
)


def _topics(
    topics: Sequence[TopicRow], snapshot: TopSnapshot, partitions: bool, max_rows: int | None
) -> RenderableType:
    table = FittingTable(TOPIC_COLUMNS)
    rows: list[tuple[list[str], str]] = []
    for topic in topics:
        rows.append((_topic_cells(topic), "" if topic.bytes_in + topic.bytes_out else "dim"))
        if partitions:
            rows.extend((_partition_cells(partition), "dim") for partition in topic.partitions)
    shown = rows if max_rows is None else rows[:max_rows]
    for cells, style in shown:
        table.add_row(*cells, style=style)
    table.add_section()
    table.add_row(*_total_cells(topics, snapshot.totals), style="bold")
    if not topics:
        return Group(table, Text("no topics yet", "dim"))
    hidden = len(rows) - len(shown)
    return Group(table, Text(f"… and {hidden} more", "dim")) if hidden else table


def _topic_cells(topic: TopicRow) -> list[str]:
    offsets = [f"{topic.log_start:,}", f"{topic.log_end:,}", bytes_text(topic.size_bytes)]
    return [topic.name, str(len(topic.partitions)), *offsets, *_rates(topic)]


def _partition_cells(partition: PartitionRow) -> list[str]:
    numbers = [f"{partition.log_start:,}", f"{partition.log_end:,}", bytes_text(partition.size_bytes)]
    return [f"  partition {partition.partition}", "", *numbers, "", "", ""]


def _total_cells(topics: Sequence[TopicRow], totals: TopicRow) -> list[str]:
    count = sum(len(topic.partitions) for topic in topics)
    size = sum(topic.size_bytes for topic in topics)
    return [f"{len(topics)} topics", f"{count:,}", "", "", bytes_text(size), *_rates(totals)]


def _rates(topic: TopicRow) -> list[str]:
    return [count_text(topic.messages_in), bytes_text(topic.bytes_in), bytes_text(topic.bytes_out)]


def _requests(requests: Sequence[RequestRow], snapshot: TopSnapshot, wide: bool) -> RenderableType:
    if not requests:
        return Text("no requests yet", "dim")
    # Omit phases in which no request has spent time.
    phases = [p for p in PHASES if p == "total" or any(row.phases[p][1] > 0 for row in snapshot.requests)]
    # Phases follow a request's path through the broker: the last ones are seldom long, and are left out first.
    columns = [Column(phase, expendable=number) for number, phase in enumerate(phases)]
    table = FittingTable([Column("request", "left", "cyan", is_name=True), Column("per second"), *columns])
    for row in requests:
        cells = [_quantiles(row.phases[phase], wide) for phase in phases]
        table.add_row(row.name, count_text(row.rate), *cells, style="" if row.rate else "dim")
    hidden = len(snapshot.requests) - len(requests)
    shown = "median / 99th percentile" if wide else "99th percentile"
    over = "about the last minute" if snapshot.over_s is None else f"the last {snapshot.over_s:.1f} s"
    note = f"times: ms, {shown} · rates: over {over}" + (f" · … and {hidden} more requests" if hidden else "")
    return Group(table, Text(note, "dim"))


def _quantiles(values: tuple[float, float], wide: bool) -> str:
    median, p99 = values
    if p99 == 0:
        return "–"
    return f"{_ms(median)} / {_ms(p99)}" if wide else _ms(p99)


def _ms(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def count_text(value: float) -> str:
    """``0``, ``0.4``, ``1,234``."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def bytes_text(value: float) -> str:
    """``0``, ``850 B``, ``12.3 kB``, ``123 MB``: powers of 1000."""
    if value < 1000:
        return f"{value:.0f} B" if value >= 1 else "0"
    exponent = min(int(math.log10(value)) // 3, len(_UNITS))
    scaled = value / 1000**exponent
    return f"{scaled:.0f} {_UNITS[exponent - 1]}" if scaled >= 100 else f"{scaled:.1f} {_UNITS[exponent - 1]}"
