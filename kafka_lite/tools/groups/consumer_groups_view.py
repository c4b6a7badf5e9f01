"""Prints consumer groups: Kafka's columns for scripts, tables for people, and a live view of a rebalancing group.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala (printAssignment) · book 5.4.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.groups.consumer_group_service import (
    GroupDescription,
    GroupListing,
    Member,
    ModernMember,
    PartitionRow,
)
from kafka_lite.tools.groups.offset_reset import Plan

if TYPE_CHECKING:
    from rich.console import RenderableType

MISSING = "-"
MIN_WIDTH = 15
STATE_STYLES = {"Stable": "green", "Empty": "dim", "Dead": "red"}
"""All other states belong to a rebalance."""

ROW_COLUMNS = (
    "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID",
)  # fmt: skip
NUMBERS = ("PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "#PARTITIONS", "#MEMBERS", "NEW-OFFSET")


def print_columns(columns: Sequence[str], rows: Sequence[Sequence[object]], widths: Sequence[int]) -> None:
    """Print Kafka's plain columns to a pipe (``widths``: minimum widths of all but the last), a table on a terminal."""
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
    """Print groups: names only, unless types or states were requested."""
    if not with_type and not with_state:
        for each in listings:
            print(each.group)
        return
    keep = [0, *([1] if with_type else []), *([2] if with_state else [])]
    columns, widths = ("GROUP", "TYPE", "STATE"), (25, 20, 20)
    rows = [(each.group, each.type, each.state) for each in listings]
    print_columns([columns[i] for i in keep], [[row[i] for i in keep] for row in rows], [widths[i] for i in keep[:-1]])


def print_offsets(rows: Sequence[PartitionRow], with_host: bool = True) -> None:
    """Print each partition of a group: its progress, its lag and its consumer.

    Without ``with_host`` the last two columns are omitted: the ids of old consumers already contain the host.
    """
    widths = [15, 15, 10, 14, 14, 14, 15, 15]
    count = len(ROW_COLUMNS) if with_host else len(ROW_COLUMNS) - 2
    print_columns(ROW_COLUMNS[:count], [_row(each)[:count] for each in rows], widths[: count - 1])


def _row(row: PartitionRow) -> list[object]:
    member = row.member
    who = [member.member_id, member.host, member.client_id] if member else [None, None, None]
    return [row.group, row.topic, row.partition, row.offset, row.log_end_offset, row.lag, *who]


def print_members(description: GroupDescription, verbose: bool) -> None:
    """Print the members of a group, with their partitions if ``verbose``; those of KIP-848 with their epochs, too."""
    with_instance = any(member.instance_id for member in description.members)
    columns = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    widths = [15, 15, 17, 15, 15, 15]
    modern = any(isinstance(member, ModernMember) for member in description.members)
    more = ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"] if modern else ["ASSIGNMENT"]
    columns, widths = [*columns, *more], [*widths, *([15, 20, 15, 0] if modern else [0])]
    keep = [0, 1, *([2] if with_instance else []), 3, 4, 5, *(range(6, len(columns)) if verbose else [])]
    rows = [_member_row(description.group, member) for member in description.members]
    print_columns([columns[i] for i in keep], [[row[i] for i in keep] for row in rows], [widths[i] for i in keep[:-1]])


def _member_row(group: str, member: Member) -> list[object]:
    count, partitions = len(member.assignment), assignment_text(member.assignment)
    row = [group, member.member_id, member.instance_id, member.host, member.client_id, count]
    if isinstance(member, ModernMember):
        return [*row, member.epoch, partitions, member.target_epoch, assignment_text(member.target)]
    return [*row, partitions]


def assignment_text(partitions: Collection[TopicPartition]) -> str:
    """``flights(0,1), weather(3)``; ``-`` if there are none."""
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        topics[topic].append(partition)
    return ", ".join(f"{topic}({','.join(map(str, numbers))})" for topic, numbers in topics.items()) or MISSING


def print_state(description: GroupDescription) -> None:
    """Print a group's coordinator, assignor, state and number of members."""
    at = description.coordinator
    coordinator = f"{at.host}:{at.port}  ({at.node_id})"
    columns = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    row = [description.group, coordinator, description.assignor, description.state, len(description.members)]
    print_columns(columns, [row], [25, 25, 20, 15])


def print_plan(plan: Plan) -> None:
    """Print the new offsets of the groups, applied or planned."""
    rows = [
        [group, topic, partition, offset]
        for group, offsets in sorted(plan.items())
        for (topic, partition), offset in sorted(offsets.items())
    ]
    if rows:
        print_columns(["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], rows, [30, 30, 10])


def print_deleted_offsets(outcome: dict[TopicPartition, Errors]) -> None:
    """Print the result for each partition."""
    rows = [
        [topic, partition if partition >= 0 else "Not Provided", _status(error)]
        for (topic, partition), error in sorted(outcome.items())
    ]
    print_columns(["TOPIC", "PARTITION", "STATUS"], rows, [30, 15])


def _status(error: Errors) -> str:
    return "Successful" if error is Errors.NONE else f"Error: {error.message}"


# ── The live view ─────────────────────────────────────────────────────────────────────────────────────────────────


def live_view(description: GroupDescription, rows: Sequence[PartitionRow], history: Sequence[str]) -> RenderableType:
    """The group's current state: members with progress bars for their partitions, and its recent states."""
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
    """A short name that tells members apart; the member id itself is long and begins with the client id."""
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
    """Progress bar: the consumed share of the partition."""
    from rich.progress_bar import ProgressBar

    if row.log_end_offset is None or row.offset is None:
        return ""
    return ProgressBar(total=max(row.log_end_offset, 1), completed=row.offset, width=width)
