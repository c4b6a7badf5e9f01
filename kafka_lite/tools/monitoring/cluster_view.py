"""Renders the snapshots of ``kafka-lite top --cluster`` with ``rich``.

Kafka has no such tool · book 6.2
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from kafka_lite.tools.monitoring.cluster_snapshot import BrokerRow, ClusterSnapshot, GroupRow, PartitionRow
from kafka_lite.tools.monitoring.fitting_table import Column, FittingTable
from kafka_lite.tools.monitoring.top_view import bytes_text, count_text

LINES_AROUND = 16
"""Lines of the screen other than brokers, partitions and groups: headings, notes, empty lines."""
MAX_GROUP_ROWS = 8
UNKNOWN = "–"


def cluster_view(snapshot: ClusterSnapshot, max_rows: int | None = None) -> RenderableType:
    """The whole view. ``max_rows``: how many lines of the tables fit on the screen; the others are only counted."""
    groups, partitions = snapshot.groups, snapshot.partitions
    if max_rows is not None:
        room = max(max_rows - len(snapshot.brokers), 2)
        groups = groups[: min(MAX_GROUP_ROWS, max(room // 2, room - len(partitions)))]
        partitions = partitions[: room - len(groups)]
    parts: list[RenderableType] = [_heading(snapshot), _brokers(snapshot.brokers), _partitions(partitions, snapshot)]
    if groups:
        parts.append(_groups(groups, len(snapshot.groups)))
    parts += [Text(problem, "red") for problem in snapshot.state.problems]
    return Group(*parts)


def _heading(snapshot: ClusterSnapshot) -> Text:
    state = snapshot.state
    text = Text()
    text.append(f"{len(state.brokers)} brokers", "bold cyan")
    down = len(snapshot.brokers) - len(state.brokers)
    text.append(f", {down} down" if down else "", "bold red")
    text.append("  controller ", "dim").append(f"broker {state.controller_id}" if state.controller_id >= 0 else "none")
    text.append("  partitions ", "dim").append(f"{len(state.partitions):,}")
    for what, count in (("under-replicated", snapshot.under_replicated), ("offline", snapshot.offline)):
        text.append(f"  {what} ", "dim").append(f"{count:,}", "bold red" if count else "green")
    return text.append(f"  cluster {state.cluster_id}", "dim")


BROKER_COLUMNS = (
    Column("id"),
    Column("address", "left", is_name=True),
    Column("role", "left", expendable=2),
    Column("leads", expendable=1),
    Column("preferred", expendable=5),
    Column("replicas", expendable=3),
    Column("out of sync"),
    Column("size", expendable=4),
)


def _brokers(rows: Sequence[BrokerRow]) -> RenderableType:
    table = FittingTable(BROKER_COLUMNS)
    for row in rows:
        alive = row.address is not None
        table.add_row(
            str(row.id),
            row.address or "down",
            "controller" if row.is_controller else "",
            str(row.leads),
            str(row.preferred),
            str(row.replicas),
            Text(str(row.out_of_sync), "bold red" if row.out_of_sync else ""),
            UNKNOWN if row.size_bytes is None else bytes_text(row.size_bytes),
            style="" if alive else "bold red",
        )
    return table


PARTITION_COLUMNS = (
    Column("topic", "left", "cyan", is_name=True),
    Column("partition"),
    Column("leader"),
    Column("replicas", "left", expendable=3),
    Column("ISR", "left", expendable=1),
    Column("out of sync", "left", expendable=2),
    Column("end offset", expendable=4),
    Column("records/s", expendable=5),
)
"""``replicas`` go before ``ISR`` and ``out of sync``, which say the same together."""


def _partitions(rows: Sequence[PartitionRow], snapshot: ClusterSnapshot) -> RenderableType:
    table = FittingTable(PARTITION_COLUMNS)
    for row in rows:
        state = row.state
        table.add_row(
            state.partition.topic,
            str(state.partition.partition),
            Text("none", "bold red") if state.is_offline else str(state.leader),
            _ids(state.replicas),
            _ids(state.isr),
            Text(_ids(state.out_of_sync), "bold red"),
            UNKNOWN if state.end_offset is None else f"{state.end_offset:,}",
            UNKNOWN if row.rate is None else count_text(row.rate),
        )
    return Group(table, Text(_left_out(len(snapshot.partitions) - len(rows), snapshot.hidden), "dim"))


def _left_out(not_shown: int, hidden: int) -> str:
    parts = [
        f"{not_shown:,} more" if not_shown else "",
        f"{hidden:,} healthy ones of internal topics" if hidden else "",
    ]
    text = " and ".join(filter(None, parts))
    return f"… and {text}" if text else ""


GROUP_COLUMNS = (
    Column("consumer group", "left", "cyan", is_name=True),
    Column("state", "left", expendable=2),
    Column("lag"),
    Column("records/s", expendable=1),
)


def _groups(rows: Sequence[GroupRow], total: int) -> RenderableType:
    table = FittingTable(GROUP_COLUMNS)
    for row in rows:
        table.add_row(
            row.name,
            row.state,
            UNKNOWN if row.lag is None else f"{row.lag:,}",
            UNKNOWN if row.rate is None else count_text(row.rate),
        )
    return Group(table, Text(f"… and {total - len(rows)} more", "dim")) if total > len(rows) else table


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
