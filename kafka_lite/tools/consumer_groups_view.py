"""Shows consumer groups: Kafka's columns for scripts, tables for people, and a live picture of a group that rebalances.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala (printAssignment) · book 5.4.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.consumer_group_service import GroupDescription, GroupListing, Member, PartitionRow
from kafka_lite.tools.offset_reset import Plan
from kafka_lite.tools.terminal import on_terminal, print_table

if TYPE_CHECKING:
    from rich.console import RenderableType

MISSING = "-"
MIN_WIDTH = 15
STATE_STYLES = {"Stable": "green", "Empty": "dim", "Dead": "red"}
"""Other states are those of a rebalance."""

ROW_COLUMNS = (
    "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID",
)  # fmt: skip
NUMBERS = ("PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "#PARTITIONS", "#MEMBERS", "NEW-OFFSET")


def print_columns(columns: Sequence[str], rows: Sequence[Sequence[object]], widths: Sequence[int]) -> None:
    """Kafka's plain columns on a pipe (``widths``: the least of each, the last has none), a table on a terminal."""
    cells = [[_text(cell) for cell in row] for row in rows]
    if on_terminal():
        print_table(columns, cells, right=[column for column in columns if column in NUMBERS])
        return
    fitted = [
        max([width, *(len(row[index]) for row in cells)]) if width >= MIN_WIDTH else width
        for index, width in enumerate(widths)
    ]
    for line in (columns, *cells):
        print(" ".join(cell.ljust(width) for cell, width in zip(line, [*fitted, 0], strict=True)).rstrip())


def _text(cell: object) -> str:
    return MISSING if cell is None else str(cell)


def print_listings(listings: Sequence[GroupListing], with_type: bool, with_state: bool) -> None:
    """Names only, unless more was asked for."""
    if not with_type and not with_state:
        for each in listings:
            print(each.group)
        return
    keep = [0, *([1] if with_type else []), *([2] if with_state else [])]
    columns, widths = ("GROUP", "TYPE", "STATE"), (25, 20, 20)
    rows = [(each.group, each.type, each.state) for each in listings]
    print_columns([columns[i] for i in keep], [[row[i] for i in keep] for row in rows], [widths[i] for i in keep[:-1]])


def print_offsets(rows: Sequence[PartitionRow], with_host: bool = True) -> None:
    """Each partition of a group: how far it has come, how far there is to go, and who consumes it.

    Without ``with_host`` the last columns are left out: the ids of old consumers say as much.
    """
    widths = [15, 15, 10, 14, 14, 14, 15, 15]
    count = len(ROW_COLUMNS) if with_host else len(ROW_COLUMNS) - 2
    print_columns(ROW_COLUMNS[:count], [_row(each)[:count] for each in rows], widths[: count - 1])


def _row(row: PartitionRow) -> list[object]:
    member = row.member
    who = [member.member_id, member.host, member.client_id] if member else [None, None, None]
    return [row.group, row.topic, row.partition, row.offset, row.log_end_offset, row.lag, *who]


def print_members(description: GroupDescription, verbose: bool) -> None:
    """Each member of a group, and with ``verbose`` its partitions."""
    with_instance = any(member.instance_id for member in description.members)
    columns = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    widths = [15, 15, 17, 15, 15, 15, 0]
    keep = [0, 1, *([2] if with_instance else []), 3, 4, 5, *([6] if verbose else [])]
    rows = [_member_row(description.group, member) for member in description.members]
    print_columns([columns[i] for i in keep], [[row[i] for i in keep] for row in rows], [widths[i] for i in keep[:-1]])


def _member_row(group: str, member: Member) -> list[object]:
    count, partitions = len(member.assignment), assignment_text(member.assignment)
    return [group, member.member_id, member.instance_id, member.host, member.client_id, count, partitions]


def assignment_text(partitions: Collection[TopicPartition]) -> str:
    """``flights(0,1), weather(3)``; ``-`` for nothing."""
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        topics[topic].append(partition)
    return ", ".join(f"{topic}({','.join(map(str, numbers))})" for topic, numbers in topics.items()) or MISSING


def print_state(description: GroupDescription) -> None:
    """A group's coordinator, assignor, state and number of members."""
    at = description.coordinator
    coordinator = f"{at.host}:{at.port}  ({at.node_id})"
    columns = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    row = [description.group, coordinator, description.assignor, description.state, len(description.members)]
    print_columns(columns, [row], [25, 25, 20, 15])


def print_plan(plan: Plan) -> None:
    """Where the groups are put, or would be."""
    rows = [
        [group, topic, partition, offset]
        for group, offsets in sorted(plan.items())
        for (topic, partition), offset in sorted(offsets.items())
    ]
    if rows:
        print_columns(["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], rows, [30, 30, 10])


def print_deleted_offsets(outcome: dict[TopicPartition, Errors]) -> None:
    """What came of each partition."""
    rows = [
        [topic, partition if partition >= 0 else "Not Provided", _status(error)]
        for (topic, partition), error in sorted(outcome.items())
    ]
    print_columns(["TOPIC", "PARTITION", "STATUS"], rows, [30, 15])


def _status(error: Errors) -> str:
    return "Successful" if error is Errors.NONE else f"Error: {error.message}"


# ── The live view ─────────────────────────────────────────────────────────────────────────────────────────────────


def live_view(description: GroupDescription, rows: Sequence[PartitionRow], history: Sequence[str]) -> RenderableType:
    """A group as it is now: its members with their partitions as bars of progress, and how its state has changed."""
    from rich.console import Group
    from rich.text import Text

    state = description.state
    heading = Text(no_wrap=True, overflow="ellipsis")
    heading.append(description.group, "bold cyan").append("  ")
    heading.append(state, f"bold {STATE_STYLES.get(state, 'yellow')}")
    heading.append(f"  {description.assignor or 'no assignor'} · {len(description.members)} members", "dim")
    heading.append(f" · coordinator {description.coordinator.node_id}", "dim")
    changes = Text(" → ".join(history), "dim", no_wrap=True, overflow="ellipsis")
    return Group(heading, changes, _members_table(description, rows))


def _members_table(description: GroupDescription, rows: Sequence[PartitionRow]) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("member", "host", "partition", "committed", "end", "lag", ""):
        table.add_column(column, justify="right" if column in ("committed", "end", "lag") else "left", no_wrap=True)
    own = _rows_by_member(rows)
    for member in sorted(description.members, key=_name):
        _add_rows(table.add_row, _name(member), member.host, own.get(member.member_id, []))
    _add_rows(table.add_row, "nobody", "", own.get("", []))
    return table


def _name(member: Member) -> str:
    """What a person tells members apart by: the id is long, and begins with the client's name."""
    return member.instance_id or f"{member.client_id}…{member.member_id[-6:]}"


def _rows_by_member(rows: Sequence[PartitionRow]) -> dict[str, list[PartitionRow]]:
    own: dict[str, list[PartitionRow]] = defaultdict(list)
    for row in rows:
        own[row.member.member_id if row.member else ""].append(row)
    return own


def _add_rows(add: Callable[..., None], name: str, host: str, rows: Sequence[PartitionRow]) -> None:
    if not rows and name != "nobody":
        add(name, host, "[dim]nothing[/dim]", "", "", "", "")
    for index, row in enumerate(rows):
        who = (name, host) if index == 0 else ("", "")
        add(
            *who,
            f"{row.topic}-{row.partition}",
            _text(row.offset),
            _text(row.log_end_offset),
            _text(row.lag),
            _bar(row),
        )


def _bar(row: PartitionRow, width: int = 20) -> RenderableType:
    """How much of the partition has been consumed."""
    from rich.progress_bar import ProgressBar

    if row.log_end_offset is None or row.offset is None:
        return ""
    return ProgressBar(total=max(row.log_end_offset, 1), completed=row.offset, width=width)
